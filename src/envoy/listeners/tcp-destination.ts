import type { DestinationRule, RouteDestination, Subset } from '#generated/config/specs.ts';
import type { Config } from '../../config/config.ts';
import type { Service, ServicePort } from '../../model/service.ts';
import { clusterName, sniClusterName, statName } from '../names.ts';
import { type DestinationFacts, destinationCluster } from '../routes/destination.ts';
import { hostAndPort } from '../routes/domains.ts';

/** Where connections of a filter chain go, and how: all that a TCP proxy depends on beside the proxy. */
export interface TcpDestination {
  readonly statPrefix: string;
  /** One cluster, or several with their weights, which are above 0. */
  readonly clusters: string | readonly { readonly name: string; readonly weight: number }[];
  /** In Go's notation. */
  readonly idleTimeout?: string;
  readonly maxConnectionDuration?: string;
  /** Connections of one source address go to one server. */
  readonly hashesSource?: boolean;
  /** Connections are tunnelled through the cluster to this `host:port`. */
  readonly tunnel?: { readonly target: string; readonly post: boolean };
}

type RuleFields = Pick<TcpDestination, 'idleTimeout' | 'maxConnectionDuration' | 'hashesSource' | 'tunnel'>;

function subsetOf(rule: DestinationRule, name: string): Subset | undefined {
  return rule.subsets?.find((subset) => subset.name === name);
}

/** A subset with a load balancer of its own does not share the destination's hash. */
function hashesSource(rule: DestinationRule, subset: string): boolean {
  const balancer = subsetOf(rule, subset)?.trafficPolicy?.loadBalancer ?? rule.trafficPolicy?.loadBalancer;
  return balancer?.consistentHash?.useSourceIp === true;
}

/**
 * What a DestinationRule says about connections as such: of the whole destination, but hash and tunnel of the subset.
 * @see istio/istio pilot/pkg/networking/core/networkfilter.go
 */
function fieldsOfRule(rule: DestinationRule | undefined, subset: string): RuleFields {
  if (rule === undefined) return {};
  const { idleTimeout, maxConnectionDuration } = rule.trafficPolicy?.connectionPool?.tcp ?? {};
  const tunnel = subset === '' ? rule.trafficPolicy?.tunnel : subsetOf(rule, subset)?.trafficPolicy?.tunnel;
  return {
    ...(idleTimeout === undefined ? {} : { idleTimeout }),
    ...(maxConnectionDuration === undefined ? {} : { maxConnectionDuration }),
    ...(hashesSource(rule, subset) ? { hashesSource: true } : {}),
    ...(tunnel === undefined
      ? {}
      : { tunnel: { target: hostAndPort(tunnel.targetHost, tunnel.targetPort), post: tunnel.protocol === 'POST' } }),
  };
}

function kubernetesName(service: Service): {
  readonly kubernetes?: { readonly name: string; readonly namespace: string };
} {
  const { registry, name, namespace } = service;
  return registry === 'Kubernetes' ? { kubernetes: { name, namespace } } : {};
}

export interface ServiceDestinationInput {
  readonly service: Service;
  readonly port: number;
  /** The rule that holds for the service. */
  readonly rule: DestinationRule | undefined;
  /** MeshConfig `outboundClusterStatName`; empty: the cluster's name. */
  readonly statPattern: string;
}

/** A port of a service that no VirtualService governs. */
export function serviceDestination({ service, port, rule, statPattern }: ServiceDestinationInput): TcpDestination {
  const { hostname } = service;
  const cluster = clusterName('outbound', port, '', hostname);
  const parts = { hostname, subset: '', port: { name: '', port }, targetPort: 0, ...kubernetesName(service) };
  return {
    statPrefix: statPattern === '' ? cluster : statName(statPattern, parts),
    clusters: cluster,
    ...fieldsOfRule(rule, ''),
  };
}

export interface PassedDestinationInput extends ServiceDestinationInput {
  /** Empty: the whole service. */
  readonly subset: string;
}

/** A port of a service, or a subset of it, to which a gateway passes mutual TLS on unopened: nothing is tunnelled. */
export function passedDestination({
  service,
  port,
  subset,
  rule,
  statPattern,
}: PassedDestinationInput): TcpDestination {
  const { hostname } = service;
  const cluster = sniClusterName(port, subset, hostname);
  const parts = { hostname, subset, port: { name: portName(service, port), port }, targetPort: 0 };
  const { tunnel: _tunnel, ...fields } = fieldsOfRule(rule, subset);
  return {
    statPrefix: statPattern === '' ? cluster : statName(statPattern, { ...parts, ...kubernetesName(service) }),
    clusters: cluster,
    ...fields,
  };
}

function portName({ ports }: Service, number: number): string {
  return ports.find(({ port }) => port === number)?.name ?? '';
}

export interface RouteDestinationInput {
  /** At least one. */
  readonly route: readonly RouteDestination[];
  readonly virtualService: Pick<Config, 'name' | 'namespace'>;
  /** Of the listener. */
  readonly port: ServicePort;
  /** The service of a host that the proxy knows; undefined for others. */
  readonly serviceOf: (host: string) => Service | undefined;
  /** The rule that holds for the service of the first destination. */
  readonly rule: DestinationRule | undefined;
  readonly statPattern: string;
}

function factsOf({ externalName, ports }: Service): DestinationFacts {
  const [only, ...others] = ports;
  return {
    ...(externalName === undefined ? {} : { externalName }),
    ...(only !== undefined && others.length === 0 ? { onlyPort: only.port } : {}),
  };
}

/** A route of a VirtualService. Hash and timeouts are those of its first destination. */
export function routeDestination(input: RouteDestinationInput): TcpDestination {
  const { route, virtualService, port, serviceOf, rule, statPattern } = input;
  const cluster = ({ destination }: RouteDestination): string => {
    const service = serviceOf(destination.host);
    const facts = new Map(service === undefined ? [] : [[destination.host, factsOf(service)]]);
    return destinationCluster(destination, facts, port.port);
  };
  const [first, ...others] = route;
  if (first !== undefined && others.length === 0) {
    const { host, subset = '' } = first.destination;
    const clusters = cluster(first);
    const service = serviceOf(host);
    const statPrefix =
      statPattern === '' || service === undefined
        ? clusters
        : statName(statPattern, { hostname: host, subset, port, targetPort: 0, ...kubernetesName(service) });
    return { statPrefix, clusters, ...fieldsOfRule(rule, subset) };
  }
  return {
    statPrefix: `${virtualService.name}.${virtualService.namespace}`,
    clusters: route
      .filter(({ weight = 0 }) => weight > 0)
      .map((destination) => ({ name: cluster(destination), weight: destination.weight ?? 0 })),
    ...fieldsOfRule(rule, ''),
  };
}
