import type { VirtualService } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import { type Hostname, hostsOverlap, isWildcardHost } from '../base/host.ts';
import { compareStrings } from '../base/order.ts';
import { type Config, type ConfigKey, configKey } from '../config/config.ts';
import type { Derived, Graph, Index } from '../derive/graph.ts';
import type { HostClaim, HostRivals, MeshFacts, RuleCondition, TriedRules } from '../model/analysis/facts.ts';
import { objectName } from '../model/analysis/names.ts';
import { ruleConditions } from '../model/analysis/rule-conditions.ts';
import { isDelegate } from '../model/delegate.ts';
import { fullHostname, gatewayKey, MESH_GATEWAY, routeSemantics } from '../model/virtual-service.ts';
import { areSeenTogether, isVisible, type Visibility, visibilityOf } from '../model/visibility.ts';
import type { Mesh } from './mesh.ts';

export type VirtualServiceFacts = Pick<
  MeshFacts,
  | 'virtualService'
  | 'hasGateway'
  | 'gatewaysOf'
  | 'rivals'
  | 'rulesTriedBefore'
  | 'isDelegatedTo'
  | 'serverNameTakenBefore'
>;

interface Claim extends HostClaim {
  readonly creationTime: number;
  readonly forSidecars: boolean;
  readonly hosts: readonly Hostname[];
  readonly visibility: Visibility;
}

const NETWORKING = 'networking.istio.io';
const ALONE: HostRivals = { same: [], overlapping: [] };
/** Not a hostname. */
const WILDCARDS = ' ';

/** What analyzers ask about VirtualServices, and what they refer to. */
export function deriveVirtualServiceFacts(graph: Graph, mesh: Mesh): VirtualServiceFacts {
  const { configs } = mesh;
  const { domainSuffix } = mesh.options;
  const hostsOf = ({ spec, namespace }: Config<VirtualService>): readonly Hostname[] =>
    (spec.hosts ?? []).map((host) => fullHostname(host, namespace, domainSuffix));
  const gatewaysOf = ({ spec, namespace }: Config<VirtualService>): readonly string[] =>
    spec.gateways?.length ? spec.gateways.map((name) => gatewayKey(name, namespace)) : [MESH_GATEWAY];

  /** Hosts that sidecars have from VirtualServices, and all wildcards. */
  const bySidecarHost = configs.index<Hostname>('sidecarHost', (c) => {
    if (c.kind !== 'VirtualService' || routeSemantics(c) === 'gateway') return [];
    const config = c as Config<VirtualService>;
    if (!gatewaysOf(config).includes(MESH_GATEWAY)) return [];
    const hosts = hostsOf(config);
    return hosts.some(isWildcardHost) ? [...hosts, WILDCARDS] : hosts;
  });
  /** `gateway|host`. */
  const byGatewayHost = configs.index<string>('gatewayHost', (c) => {
    if (c.kind !== 'VirtualService' || routeSemantics(c) === 'gateway') return [];
    const config = c as Config<VirtualService>;
    const gateways = gatewaysOf(config).filter((gateway) => gateway !== MESH_GATEWAY);
    return gateways.flatMap((gateway) => hostsOf(config).map((host) => `${gateway}|${host}`));
  });
  const claims = graph.derived<ConfigKey, Claim | undefined>(
    'hostClaim',
    (key) => {
      const config = mesh.config<VirtualService>(key);
      if (config === undefined) return undefined;
      const fallback = mesh.facet('defaultVirtualServiceExportTo') ?? ['*'];
      return {
        key,
        name: objectName(config),
        creationTime: config.creationTime,
        forSidecars: gatewaysOf(config).includes(MESH_GATEWAY),
        hosts: hostsOf(config),
        visibility: visibilityOf(config.spec.exportTo, fallback, config.namespace),
      };
    },
    { equals: deepEqual },
  );
  /** Key `configKey host`. */
  const rivals = graph.derived<string, HostRivals>(
    'hostRivals',
    (id) => {
      const [key = '', host = ''] = id.split(' ');
      const own = claims.get(key);
      if (own === undefined) return ALONE;
      const near = new Set(bySidecarHost.get(host));
      const wide = isWildcardHost(host) ? mesh.byKind.get('VirtualService') : bySidecarHost.get(WILDCARDS);
      for (const other of wide) near.add(other);
      near.delete(key);
      const others = [...near].flatMap((other) => claims.get(other) ?? []).filter(({ forSidecars }) => forSidecars);
      const same = others.filter(
        (other) => other.hosts.includes(host) && areSeenTogether(own.visibility, other.visibility),
      );
      const overlapping = others.filter((other) => !other.hosts.includes(host) && overlaps(own, host, other));
      const inOrder = (list: readonly Claim[]) => [...list].sort(compareClaims).map(hostClaim);
      return { same: same.length === 0 ? [] : inOrder([own, ...same]), overlapping: inOrder(overlapping) };
    },
    { equals: deepEqual },
  );
  /** Key `configKey gateway`. */
  const conditions = graph.derived<string, readonly (readonly RuleCondition[])[]>(
    'ruleConditions',
    (id) => {
      const [key = '', gateway = ''] = id.split(' ');
      const config = mesh.virtualService.get(key);
      return config === undefined ? [] : ruleConditions(config.spec, gateway, config.namespace);
    },
    { equals: deepEqual },
  );
  /** Key `configKey client`. */
  const roles = graph.derived<string, ReturnType<MeshFacts['virtualService']>>('virtualServiceRole', (id) => {
    const [key = '', client = ''] = id.split(' ');
    const config = mesh.config<VirtualService>(key);
    if (config === undefined) return undefined;
    if (!isDelegate(config)) return 'root';
    const fallback = mesh.facet('defaultVirtualServiceExportTo') ?? ['*'];
    const isSeen = isVisible(visibilityOf(config.spec.exportTo, fallback, config.namespace), client);
    return isSeen ? 'delegate' : 'hidden';
  });
  const delegatedTo = configs.index<string>('delegatedTo', (c) => {
    if (c.kind !== 'VirtualService') return [];
    return new Set(
      ((c.spec as VirtualService).http ?? []).flatMap(({ delegate }) =>
        delegate === undefined ? [] : [`${delegate.namespace || c.namespace}/${delegate.name}`],
      ),
    );
  });
  /** `gateway|name in TLS handshakes`. */
  const byServerName = configs.index<string>('gatewayServerName', (c) => {
    if (c.kind !== 'VirtualService' || routeSemantics(c) === 'gateway') return [];
    const config = c as Config<VirtualService>;
    const names = (config.spec.tls ?? []).flatMap(({ match }) => match.flatMap(({ sniHosts }) => sniHosts));
    if (names.length === 0) return [];
    const gateways = gatewaysOf(config).filter((gateway) => gateway !== MESH_GATEWAY);
    return new Set(gateways.flatMap((gateway) => names.map((name) => `${gateway}|${name}`)));
  });
  /** Those in a bucket, in order of precedence. */
  const inOrder = (name: string, index: Index<string, ConfigKey>): Derived<string, readonly Claim[]> =>
    graph.derived(
      name,
      (bucket) =>
        index
          .get(bucket)
          .flatMap((key) => claims.get(key) ?? [])
          .sort(compareClaims),
      { equals: sameItems },
    );
  const claimants = inOrder('gatewayHostClaims', byGatewayHost);
  const nameClaimants = inOrder('serverNameClaims', byServerName);
  /** Key `gateway|host`. */
  const tried = graph.derived<string, readonly TriedRules[]>('triedRules', (id) => {
    const gateway = id.slice(0, id.indexOf('|'));
    return claimants
      .get(id)
      .map((claim) => ({ claim: hostClaim(claim), conditions: conditions.get(`${claim.key} ${gateway}`).flat() }));
  });
  /** Key `group namespace/name`. */
  const gateways = graph.derived<string, boolean>('hasGateway', (id) => {
    const [group = '', name = ''] = id.split(' ');
    const slash = name.indexOf('/');
    return mesh.config(configKey(group, 'Gateway', name.slice(0, slash), name.slice(slash + 1))) !== undefined;
  });
  return {
    virtualService: (namespace, name, client) =>
      roles.get(`${configKey(NETWORKING, 'VirtualService', namespace, name)} ${client}`),
    isDelegatedTo: (name) => delegatedTo.get(name).some((key) => claims.get(key) !== undefined),
    serverNameTakenBefore: (key, gateway, serverName) =>
      before(nameClaimants.get(`${gateway}|${serverName}`), (claim) => claim.key === key).map(({ name }) => name),
    hasGateway: (name) => gateways.get(`${NETWORKING} ${name}`) || gateways.get(`gateway.networking.k8s.io ${name}`),
    gatewaysOf: (namespace) =>
      ['Gateway', 'KubernetesGateway']
        .flatMap((kind) => mesh.byKindNamespace.get(`${kind}/${namespace}`))
        .flatMap((key) => mesh.config(key) ?? [])
        .map(objectName)
        .sort(compareStrings),
    rivals: (key, host) => rivals.get(`${key} ${host}`),
    rulesTriedBefore: (key, gateway, host) => before(tried.get(`${gateway}|${host}`), ({ claim }) => claim.key === key),
  };
}

/** What stands before one; nothing where that is not there. */
function before<T>(list: readonly T[], isOne: (item: T) => boolean): readonly T[] {
  return list.slice(0, Math.max(0, list.findIndex(isOne)));
}

/** Of two that everybody sees, the more specific host counts, and that is what is meant; else it may be a surprise. */
function overlaps(own: Claim, host: Hostname, other: Claim): boolean {
  if ((own.visibility === 'public') === (other.visibility === 'public')) return false;
  return areSeenTogether(own.visibility, other.visibility) && other.hosts.some((theirs) => hostsOverlap(theirs, host));
}

/** Oldest first, then by name and namespace. */
function compareClaims(a: Claim, b: Claim): number {
  const [[left, nameLeft], [right, nameRight]] = [a.name.split('/'), b.name.split('/')];
  return (
    a.creationTime - b.creationTime ||
    compareStrings(nameLeft ?? '', nameRight ?? '') ||
    compareStrings(left ?? '', right ?? '')
  );
}

function hostClaim({ key, name }: Claim): HostClaim {
  return { key, name };
}
