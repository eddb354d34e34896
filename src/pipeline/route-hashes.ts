import type { DestinationRule, TrafficPolicy } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { type Hostname, isSubsetOfHost } from '../base/host.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { fullHostname } from '../model/virtual-service.ts';
import { type Mesh, ONE } from './mesh.ts';
import type { RouteView } from './route-view.ts';

/** The DestinationRules with consistent hashes that apply to what a proxy sends, by host; of the rules only the hashes. */
export type HashRules = ReadonlyMap<Hostname, DestinationRule>;

const NONE: HashRules = new Map();

/** Hosts of DestinationRules with consistent hashes, which may be wildcards. */
export type HashedHosts = Derived<'', readonly Hostname[]>;

export function deriveHashedHosts(graph: Graph, mesh: Mesh): HashedHosts {
  const hashedHost = graph.derived<ConfigKey, Hostname | undefined>('hashedHost', (key) => {
    const rule = mesh.config<DestinationRule>(key);
    if (rule === undefined || hashesOf(rule.spec) === undefined) return undefined;
    return fullHostname(rule.spec.host, rule.namespace, mesh.options.domainSuffix);
  });
  return graph.derived<'', readonly Hostname[]>(
    'hashedHosts',
    () => [...new Set(mesh.byKind.get('DestinationRule').flatMap((key) => hashedHost.get(key) ?? []))],
    { equals: deepEqual },
  );
}

/** What of a proxy decides which rules apply to what it sends. Interned. */
export type HashClient = Pick<RouteView, 'namespace' | 'sidecar' | 'labels'>;

/** Few rules have a hash, so that most services are not looked up at all, and most changes to rules touch no route. */
export function deriveHashRules(graph: Graph, mesh: Mesh, hashedHosts: HashedHosts): Derived<HashClient, HashRules> {
  return graph.derived<HashClient, HashRules>(
    'routeHashRules',
    (view) => {
      const hosts = hashedHosts.get(ONE);
      if (hosts.length === 0) return NONE;
      const rules = new Map<Hostname, DestinationRule>();
      for (const service of mesh.sidecarScope.get(view).services) {
        if (!hosts.some((host) => isSubsetOfHost(service.hostname, host))) continue;
        const applying = mesh.destinationRule(view, service, 'outbound');
        const hashes = applying && hashesOf(applying.rule.spec);
        if (hashes !== undefined) rules.set(service.hostname, hashes);
      }
      return rules.size === 0 ? NONE : rules;
    },
    { equals: deepEqual },
  );
}

/** The rule reduced to its consistent hashes; undefined when it has none. */
function hashesOf({ host, trafficPolicy, subsets = [] }: DestinationRule): DestinationRule | undefined {
  const own = policyHashes(trafficPolicy);
  const reduced = subsets.map((subset) => ({ name: subset.name, hashes: policyHashes(subset.trafficPolicy) }));
  if (own === undefined && reduced.every(({ hashes }) => hashes === undefined)) return undefined;
  return {
    host,
    ...(own && { trafficPolicy: own }),
    subsets: reduced.map(({ name, hashes }) => ({ name, ...(hashes && { trafficPolicy: hashes }) })),
  };
}

function policyHashes(policy: TrafficPolicy | undefined): TrafficPolicy | undefined {
  const hash = policy?.loadBalancer?.consistentHash;
  const ports = (policy?.portLevelSettings ?? []).flatMap(({ port, loadBalancer }) =>
    port && loadBalancer?.consistentHash ? { port, loadBalancer: { consistentHash: loadBalancer.consistentHash } } : [],
  );
  if (hash === undefined && ports.length === 0) return undefined;
  return {
    ...(hash && { loadBalancer: { consistentHash: hash } }),
    ...(ports.length > 0 && { portLevelSettings: ports }),
  };
}
