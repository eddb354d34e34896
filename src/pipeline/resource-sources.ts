import type { Config, ConfigKey } from '../config/config.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Pipeline } from './pipeline.ts';

/** Kinds by how often one object of them decides what is in a resource: those that only lend a fact to many come last. */
const KINDS: readonly string[] = [
  'EnvoyFilter',
  'VirtualService',
  'DestinationRule',
  'Gateway',
  'Sidecar',
  'AuthorizationPolicy',
  'RequestAuthentication',
  'PeerAuthentication',
  'Telemetry',
  'ServiceEntry',
  'Service',
  'WorkloadEntry',
];

function rank({ kind }: Config): number {
  const at = KINDS.indexOf(kind);
  return at < 0 ? KINDS.length : at;
}

/**
 * The objects that a resource of a scope is made of, those first that say most about it. Route configurations hold the
 * services of a whole port, so all of these are among theirs.
 */
export function sourcesOf(
  { mesh, resources }: Pipeline,
  scope: ProxyScope,
  typeUrl: string,
  name: string,
): readonly Config[] {
  const keys = new Set<ConfigKey>(rulesOf({ mesh }, scope, name));
  for (const { input, key } of resources.get(typeUrl)?.get(scope).inputsOf(name) ?? []) {
    if (input === mesh.configs.name) keys.add(key);
  }
  return [...keys].flatMap((key) => mesh.configs.get(key) ?? []).sort((a, b) => rank(a) - rank(b));
}

/** Resources of one type that a client refused, and its words about them. */
export interface RefusedResources {
  readonly typeUrl: string;
  readonly names: readonly string[];
  readonly message: string;
}

/**
 * Of the objects below refused resources those that the words are about, then those that changed last, for a refusal follows
 * an edit. When that is true of any, the others are left out.
 *
 * @param changedAt when an object changed; undefined for one that has not
 */
export function likeliestSources(
  pipeline: Pipeline,
  scope: ProxyScope,
  { typeUrl, names, message }: RefusedResources,
  changedAt: (key: ConfigKey) => number | undefined,
): readonly Config[] {
  const text = `${names.join(' ')} ${message}`;
  const found = new Set(names.flatMap((name) => sourcesOf(pipeline, scope, typeUrl, name)));
  const suspects = [...found].map((config) => ({
    config,
    // A patch is below the resources alone that it has changed.
    mentioned: Number(config.kind === 'EnvoyFilter' || hostsOf(config).some((host) => isMentioned(host, text))),
    changed: changedAt(config.key) ?? 0,
  }));
  const marked = suspects.filter(({ mentioned, changed }) => mentioned + changed > 0);
  return (marked.length > 0 ? marked : suspects)
    .sort((a, b) => b.mentioned - a.mentioned || b.changed - a.changed)
    .map(({ config }) => config);
}

function hostsOf({ spec }: Config): readonly string[] {
  const { hosts, host } = spec as { readonly hosts?: unknown; readonly host?: unknown };
  return [...(Array.isArray(hosts) ? hosts : []), host].filter((name) => typeof name === 'string');
}

function isMentioned(host: string, text: string): boolean {
  const at = text.indexOf(host);
  return at >= 0 && !/[\w-]/.test(text.charAt(at - 1)) && !/[\w-]/.test(text.charAt(at + host.length));
}

/** DestinationRules of an outbound cluster: they are a part of what it is named by in the graph, not of what it reads. */
function rulesOf({ mesh }: Pick<Pipeline, 'mesh'>, scope: ProxyScope, name: string): readonly ConfigKey[] {
  const [direction, , , host] = name.split('|');
  const service =
    direction === 'outbound' && host !== undefined
      ? mesh.sidecarScope.get(scope).servicesByHostname.get(host)
      : undefined;
  return (service && mesh.destinationRule(scope, service, 'outbound')?.from) ?? [];
}
