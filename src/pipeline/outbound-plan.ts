import type { TrafficPolicy } from '#generated/config/specs.ts';
import { sameItems } from '../base/equal.ts';
import { isWildcardHost } from '../base/host.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { namesItsHost } from '../envoy/clusters/dynamic-dns.ts';
import { type Discovery, discoveryOf } from '../envoy/clusters/outbound.ts';
import { clusterName } from '../envoy/names.ts';
import type { ConsolidatedDestinationRule } from '../model/destination-rule.ts';
import type { Service, ServicePort } from '../model/service.ts';
import { portTrafficPolicy, subsetTrafficPolicy } from '../model/traffic-policy.ts';
import type { Mesh } from './mesh.ts';
import type { OutboundScope } from './outbound-scope.ts';

/** One cluster to be: a port of a service, or a subset of it, under the rule that applies. Interned, so it can be shared. */
export interface OutboundEntry {
  readonly id: string;
  readonly name: string;
  /** Its content is read by this, so that it is read only where it counts. */
  readonly serviceId: string;
  readonly port: ServicePort;
  /** Empty: the whole service. */
  readonly subset: string;
  readonly rule: ConsolidatedDestinationRule | undefined;
  readonly discovery: Discovery | 'DYNAMIC_DNS';
}

/** By cluster name. */
export type OutboundPlan = ReadonlyMap<string, OutboundEntry>;

/** @see istio/istio pilot/pkg/networking/core/cluster.go `buildOutboundClusters` */
export function deriveOutboundPlan(graph: Graph, mesh: Mesh): Derived<OutboundScope, OutboundPlan> {
  const entries = new WeakInterner<OutboundEntry>();
  const rules = new ObjectNumbers();

  const services = graph.derived<OutboundScope, readonly Service[]>(
    'outboundServices',
    ({ namespace, sidecar }) => mesh.sidecarScope.get({ namespace, sidecar }).services,
    { equals: sameItems },
  );

  const entry = (parts: Omit<OutboundEntry, 'id' | 'name'>, service: Service): OutboundEntry => {
    const { port, subset, rule, discovery, serviceId } = parts;
    const id = `${serviceId}|${port.port}|${port.name}|${port.protocol}|${subset}|${rules.of(rule)}|${discovery}`;
    return entries.intern(id, () => ({
      id,
      name: clusterName('outbound', port.port, subset, service.hostname),
      ...parts,
    }));
  };

  return graph.derived('outboundPlan', (scope) => {
    const plan = new Map<string, OutboundEntry>();
    for (const service of services.get(scope)) {
      const ports = service.ports.filter((port) => isCluster(service, port));
      if (ports.length === 0) continue;
      const rule = mesh.destinationRule(scope, service, 'outbound');
      const dynamic = isDynamic(service);
      for (const port of ports) {
        const main = dynamic ? 'DYNAMIC_DNS' : discoveryOf(service, scope.view.type);
        for (const { subset, discovery } of subsets(rule, port, main)) {
          const made = entry({ serviceId: service.id, port, subset, rule, discovery }, service);
          if (!plan.has(made.name)) plan.set(made.name, made);
        }
      }
    }
    return plan;
  });
}

function isDynamic({ hostname, resolution }: Service): boolean {
  return resolution === 'DynamicDNS' && isWildcardHost(hostname);
}

function isCluster(service: Service, { protocol }: ServicePort): boolean {
  if (service.resolution === 'Alias' || protocol === 'UDP') return false;
  return !isDynamic(service) || namesItsHost(protocol);
}

interface PlannedSubset {
  readonly subset: string;
  readonly discovery: OutboundEntry['discovery'];
}

/** The whole service, then its subsets. Traffic that is passed through on the whole is passed through in every subset. */
function subsets(
  rule: ConsolidatedDestinationRule | undefined,
  { port }: ServicePort,
  discovery: OutboundEntry['discovery'],
): readonly PlannedSubset[] {
  if (rule === undefined || discovery === 'DYNAMIC_DNS') return [{ subset: '', discovery }];
  const { trafficPolicy, subsets: named = [] } = rule.rule.spec;
  const passed = isPassthrough(portTrafficPolicy(trafficPolicy, port));
  return [
    { subset: '', discovery: passed && discovery === 'EDS' ? 'ORIGINAL_DST' : discovery },
    ...named.map(({ name, trafficPolicy: own }): PlannedSubset => {
      const alone = isPassthrough(own);
      const merged = discovery === 'EDS' && isPassthrough(subsetTrafficPolicy(trafficPolicy, own, port));
      return { subset: name, discovery: passed || alone || merged ? 'ORIGINAL_DST' : discovery };
    }),
  ];
}

function isPassthrough(policy: TrafficPolicy | undefined): boolean {
  return policy?.loadBalancer?.simple === 'PASSTHROUGH';
}
