import type { JWTRule, RequestAuthentication } from '#generated/config/specs.ts';
import { parseDuration } from '../base/duration.ts';
import { deepEqual } from '../base/equal.ts';
import { usableKeySet } from '../base/json-web-keys.ts';
import { compareStrings } from '../base/order.ts';
import type { KeySet, KeySetId, KeySetSource, WantedKeySet } from '../config/key-sets.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { JWKS_TIMEOUT, type JwtKeys } from '../envoy/filters/jwt-authn.ts';
import type { Configuration } from './configuration.ts';
import { ONE } from './mesh.ts';
import type { FindCluster, MeshCluster } from './mesh-cluster.ts';

/** Who fetches the keys of a rule that names a URL. `PILOT_JWT_ENABLE_REMOTE_JWKS`. */
export type JwksFetchMode =
  /** The control plane. */
  | 'istiod'
  /** The proxy where the URL is that of a service of the mesh, else the control plane. */
  | 'hybrid'
  /** The proxy. */
  | 'envoy';

/** The keys that tokens are checked with. */
export interface KeySets {
  /** Those of a rule, as far as they are known. */
  keysOf(rule: JWTRule): JwtKeys;
  /** Why the keys of a rule are not known, or not the newest; undefined when nothing is wrong. */
  problemOf(rule: JWTRule): KeySet | undefined;
  /**
   * Has the keys of policies that will be there in a moment fetched before.
   *
   * @returns resolves when each was asked for once; undefined when each was before
   */
  ask(policies: readonly RequestAuthentication[]): Promise<void> | undefined;
  /**
   * Has sets that are wanted fetched from now on.
   *
   * @returns ends it
   */
  follow(source: KeySetSource): () => void;
}

function unusable({ jwksUri = '', issuer = '' }: JWTRule): string {
  return `${jwksUri || issuer} has no key that Envoy can use`;
}

function idOf({ jwksUri = '', issuer = '' }: JWTRule): KeySetId {
  return jwksUri === '' ? `issuer ${issuer}` : `keys ${jwksUri}`;
}

function wantedSet(rule: JWTRule): WantedKeySet {
  const { jwksUri = '', issuer = '', timeout = JWKS_TIMEOUT } = rule;
  const isIssuer = jwksUri === '';
  return { id: idOf(rule), url: isIssuer ? issuer : jwksUri, isIssuer, timeoutMs: parseDuration(timeout) ?? 0 };
}

/** One for each set, with the most patient rule's time. */
function distinct(sets: readonly WantedKeySet[]): readonly WantedKeySet[] {
  const byId = new Map<KeySetId, WantedKeySet>();
  for (const set of sets) {
    const known = byId.get(set.id);
    if (known === undefined || known.timeoutMs < set.timeoutMs) byId.set(set.id, set);
  }
  return [...byId.values()].sort((a, b) => compareStrings(a.id, b.id));
}

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

function clusterOf(uri: string, findCluster: FindCluster): MeshCluster | undefined {
  const url = URL.parse(uri);
  if (url === null) return undefined;
  const found = findCluster(url.hostname, Number(url.port) || (DEFAULT_PORTS[url.protocol] ?? 0));
  return 'problem' in found ? undefined : found;
}

/** Sets of keys are an input, so that a proxy is sent new ones when they come, and nobody else is. */
export function deriveKeySets(
  graph: Graph,
  configuration: Configuration,
  findCluster: FindCluster,
  mode: JwksFetchMode,
): KeySets {
  const sets = graph.input<KeySetId, KeySet>('keySet', { equals: deepEqual });
  const usable = graph.derived<string, string | undefined>('usableKeys', usableKeySet);
  const keys = graph.derived<KeySetId, string | undefined>('keys', (id) => {
    const text = sets.get(id)?.keys;
    return text === undefined ? undefined : usable.get(text);
  });
  const remote = ({ jwksUri = '', jwks = '' }: JWTRule): JwtKeys | undefined => {
    if (mode === 'istiod' || jwksUri === '' || jwks !== '') return undefined;
    const found = clusterOf(jwksUri, findCluster);
    // What no cluster leads to is asked for in vain, so that no token is accepted.
    return found === undefined && mode === 'hybrid' ? undefined : { uri: jwksUri, cluster: found?.cluster ?? '_' };
  };
  const isFetched = (rule: JWTRule): boolean => (rule.jwks ?? '') === '' && remote(rule) === undefined;
  const fetchedFor = ({ jwtRules = [] }: RequestAuthentication) => jwtRules.filter(isFetched).map(wantedSet);
  let followed: KeySetSource | undefined;
  const wanted: Derived<'', readonly WantedKeySet[]> = graph.derived(
    'wantedKeySets',
    () =>
      distinct(
        configuration.ofKind<RequestAuthentication>('RequestAuthentication').flatMap(({ spec }) => fetchedFor(spec)),
      ),
    { equals: deepEqual },
  );
  return {
    keysOf: (rule) =>
      rule.jwks ? { inline: usable.get(rule.jwks) } : (remote(rule) ?? { inline: keys.get(idOf(rule)) }),
    problemOf: (rule) => {
      const set = isFetched(rule) ? sets.get(idOf(rule)) : undefined;
      if (set?.keys !== undefined && usable.get(set.keys) === undefined) return { problem: unusable(rule) };
      return set?.problem === undefined ? undefined : set;
    },
    ask: (policies) => followed?.ask(distinct(policies.flatMap(fetchedFor))),
    follow: (source) => {
      followed = source;
      const tell = (id: KeySetId, set: KeySet | undefined) => graph.batch(() => sets.set(id, set));
      const watch = graph.watch(wanted, ONE, (now) => source.want(now, tell));
      source.want(watch.value, tell);
      return () => {
        watch.stop();
        followed = undefined;
        source.want([], () => undefined);
      };
    },
  };
}
