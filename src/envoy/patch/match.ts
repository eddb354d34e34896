import type { PatchContext } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { Patch } from './patch.ts';

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type VirtualHost = envoy.config.route.v3.VirtualHost;
type Route = envoy.config.route.v3.Route;

/** What Envoy's objects that are patched are for. */
export type Context = Exclude<PatchContext, 'ANY' | 'WAYPOINT'>;

/** The listeners to which all connections of a sidecar come, so that a port is told by their filter chains. */
const VIRTUAL: ReadonlySet<string> = new Set(['virtualInbound', 'virtualOutbound']);

/** Ports of Gateways by those at which their proxy listens. */
export type ListenPorts = Readonly<Record<number, readonly number[]>>;

export function isOfContext({ context }: Patch, wanted: Context): boolean {
  return context === 'ANY' || context === wanted;
}

/** @see istio/istio pilot/pkg/networking/core/envoyfilter/listener_patch.go `listenerMatch` */
export function matchesListener({ applyTo, match: { listener: match } }: Patch, listener: Listener): boolean {
  if (match === undefined) return true;
  const { name = '', portNumber = 0 } = match;
  if (name !== '' && name !== listener.name) return false;
  if (applyTo !== 'LISTENER' && VIRTUAL.has(listener.name ?? '')) return true;
  return portNumber === 0 || listener.address?.socketAddress?.portValue === portNumber;
}

/** Of a listener that matches. */
export function matchesFilterChain(
  { match: { listener } }: Patch,
  { name: of = '' }: Listener,
  chain: FilterChain,
): boolean {
  if (listener === undefined) return true;
  const { portNumber = 0, filterChain: match } = listener;
  const found = chain.filterChainMatch;
  if (portNumber !== 0 && VIRTUAL.has(of) && found?.destinationPort !== portNumber) return false;
  if (match === undefined) return true;
  const { name = '', sni = '', transportProtocol = '', applicationProtocols = '', destinationPort = 0 } = match;
  if (name !== '' && name !== chain.name) return false;
  if (sni !== '' && !found?.serverNames?.includes(sni)) return false;
  if (transportProtocol !== '' && found?.transportProtocol !== transportProtocol) return false;
  if (applicationProtocols !== '') {
    const all = applicationProtocols.split(',');
    if (!all.every((protocol) => found?.applicationProtocols?.includes(protocol))) return false;
  }
  return destinationPort === 0 || found?.destinationPort === destinationPort;
}

/** Which listener filter a patch is about; undefined: it names none. */
export function listenerFilterOf({ match }: Patch): string | undefined {
  return match.listener?.listenerFilter || undefined;
}

export function networkFilterOf({ match }: Patch): string | undefined {
  const filter = match.listener?.filterChain?.filter;
  return filter && (filter.name ?? '');
}

export function httpFilterOf({ match }: Patch): string | undefined {
  const filter = match.listener?.filterChain?.filter?.subFilter;
  return filter && (filter.name ?? '');
}

/** @see istio/istio pilot/pkg/networking/core/envoyfilter/rc_patch.go `routeConfigurationMatch` */
export function matchesRouteConfiguration(
  { match: { routeConfiguration: match } }: Patch,
  { name: of = '' }: Pick<RouteConfiguration, 'name'>,
  context: Context,
  ports: ListenPorts,
): boolean {
  if (match === undefined) return true;
  const { name = '', portNumber = 0, portName = '', gateway = '' } = match;
  if (name !== '' && name !== of) return false;
  if (context !== 'GATEWAY') return portNumber === 0 || portNumber === portOfSidecarRoute(of);
  const route = gatewayRoute(of);
  if (portName !== '' && portName !== route.portName) return false;
  if (gateway !== '' && gateway !== route.gateway) return false;
  return portNumber === 0 || (ports[route.port] ?? [route.port]).includes(portNumber);
}

function portOfSidecarRoute(name: string): number {
  if (name.startsWith('inbound')) return subsetKey(name).port;
  return /^[+-]?\d+$/.test(name) ? Number(name) : 0;
}

interface GatewayRoute {
  readonly port: number;
  readonly portName: string;
  /** `namespace/name`; empty for plaintext HTTP, as Gateways share its ports. */
  readonly gateway: string;
}

/** @see istio/istio pilot/pkg/model/gateway.go `ParseGatewayRDSRouteName` */
function gatewayRoute(route: string): GatewayRoute {
  const port = (text = ''): number => (/^\d+$/.test(text) ? Number(text) : 0);
  if (route.startsWith('http.')) return { port: port(route.slice('http.'.length)), portName: '', gateway: '' };
  const parts = route.split('.');
  if (parts[0] !== 'https' || parts.length !== 5) return { port: 0, portName: '', gateway: '' };
  const [, number, portName = '', name = '', namespace = ''] = parts;
  return { port: port(number), portName, gateway: `${namespace}/${name}` };
}

export function portOfGatewayRoute(route: string): number {
  return gatewayRoute(route).port;
}

export function matchesVirtualHost(
  { match: { routeConfiguration } }: Patch,
  { name, domains = [] }: VirtualHost,
): boolean {
  const match = routeConfiguration?.vhost;
  if (match === undefined) return true;
  const { name: wanted = '', domainName = '' } = match;
  return (wanted === '' || wanted === name) && (domainName === '' || domains.includes(domainName));
}

export function hasRouteMatch({ match }: Patch): boolean {
  return match.routeConfiguration?.vhost?.route !== undefined;
}

export function matchesRoute({ match: { routeConfiguration } }: Patch, route: Route): boolean {
  const match = routeConfiguration?.vhost?.route;
  if (match === undefined) return true;
  const { name = '', action = 'ANY' } = match;
  if (name !== '' && name !== route.name) return false;
  if (action === 'ANY') return true;
  if (route.route !== undefined) return action === 'ROUTE';
  if (route.redirect !== undefined) return action === 'REDIRECT';
  return route.directResponse === undefined || action === 'DIRECT_RESPONSE';
}

/**
 * @param hosts of the services that a cluster to the proxy's own workload is for, which its name does not tell
 * @see istio/istio pilot/pkg/networking/core/envoyfilter/cluster_patch.go `clusterMatch`
 */
export function matchesCluster({ match: { cluster } }: Patch, of: string, hosts: () => readonly string[]): boolean {
  if (cluster === undefined) return true;
  const { name = '', subset = '', service = '', portNumber = 0 } = cluster;
  if (name !== '') return name === of;
  const key = subsetKey(of);
  if (subset !== '' && subset !== key.subset) return false;
  if (portNumber !== 0 && portNumber !== key.port) return false;
  if (service === '' || service === key.host) return true;
  return key.direction === 'inbound' && hosts().includes(service);
}

/** The parts of a cluster's name, in either form. @see istio/istio pilot/pkg/model/service.go `ParseSubsetKey` */
function subsetKey(name: string) {
  const separator = /^(?:out|in)bound_\./.test(name) ? '_.' : '|';
  const [direction = '', port = '', subset = '', host = '', ...more] = name.split(separator);
  return { direction, port: /^\d+$/.test(port) ? Number(port) : 0, subset, host: more.length > 0 ? '' : host };
}
