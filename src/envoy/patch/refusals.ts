import type { envoy, google } from '#generated/proto/types.ts';

/** For what Envoy refuses objects, as far as patches can bring it about. */

type Cluster = envoy.config.cluster.v3.Cluster;
type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type ConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

interface Filter {
  readonly name?: string | undefined;
  readonly typedConfig?: google.protobuf.Any | undefined;
  readonly configDiscovery?: object | undefined;
}

const CONNECTION_MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

/** Network filters with which a chain ends, in the names of their messages. */
const LAST_NETWORK_FILTERS: ReadonlySet<string> = new Set([
  CONNECTION_MANAGER,
  'envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
  'envoy.extensions.filters.network.echo.v3.Echo',
  'envoy.extensions.filters.network.direct_response.v3.Config',
  'envoy.extensions.filters.network.redis_proxy.v3.RedisProxy',
  'envoy.extensions.filters.network.thrift_proxy.v3.ThriftProxy',
  'envoy.extensions.filters.network.dubbo_proxy.v3.DubboProxy',
  'envoy.extensions.filters.network.generic_proxy.v3.GenericProxy',
]);
/** Network filters that pass a connection on to the next: a chain can not end with one. */
const PASSING_NETWORK_FILTERS: ReadonlySet<string> = new Set([
  'envoy.extensions.filters.network.connection_limit.v3.ConnectionLimit',
  'envoy.extensions.filters.network.ext_authz.v3.ExtAuthz',
  'envoy.extensions.filters.network.local_ratelimit.v3.LocalRateLimit',
  'envoy.extensions.filters.network.ratelimit.v3.RateLimit',
  'envoy.extensions.filters.network.rbac.v3.RBAC',
  'envoy.extensions.filters.network.set_filter_state.v3.Config',
]);
const LAST_HTTP_FILTERS: ReadonlySet<string> = new Set(['envoy.extensions.filters.http.router.v3.Router']);

const typeOf = ({ typedConfig }: Filter): string => {
  const url = typedConfig?.['@type'];
  return typeof url === 'string' ? url.slice(url.lastIndexOf('/') + 1) : '';
};

export function clusterRefusals({ name = '', type = 'STATIC', lbPolicy, ...cluster }: Cluster): readonly string[] {
  const { edsClusterConfig, loadAssignment, clusterType, loadBalancingPolicy } = cluster;
  const refusals = name === '' ? ['a cluster needs a name'] : [];
  if (clusterType !== undefined) return refusals;
  if (type === 'EDS' && edsClusterConfig?.edsConfig === undefined) {
    refusals.push('a cluster of type EDS needs eds_cluster_config.eds_config');
  }
  if (type === 'LOGICAL_DNS') {
    const [locality, ...localities] = loadAssignment?.endpoints ?? [];
    const endpoints = locality?.lbEndpoints?.length ?? 0;
    if (endpoints !== 1 || localities.length > 0) refusals.push('a cluster of type LOGICAL_DNS needs one endpoint');
  }
  const chooses = type === 'ORIGINAL_DST';
  if (loadBalancingPolicy === undefined && chooses !== (lbPolicy === 'CLUSTER_PROVIDED')) {
    refusals.push('the type ORIGINAL_DST and the lb_policy CLUSTER_PROVIDED belong together');
  }
  return refusals;
}

export function listenerRefusals(listener: Listener): readonly string[] {
  const { name = '', address, listenerFilters = [], filterChains = [], defaultFilterChain } = listener;
  const servesOtherwise = listener.apiListener !== undefined || listener.udpListenerConfig !== undefined;
  return [
    ...(name === '' ? ['a listener needs a name'] : []),
    ...(address === undefined ? ['a listener needs an address'] : []),
    ...unconfigured(listenerFilters, 'among the listener filters'),
    ...(filterChains.length === 0 && !defaultFilterChain && !servesOtherwise ? ['a listener needs filter chains'] : []),
    ...[...filterChains, ...(defaultFilterChain ? [defaultFilterChain] : [])].flatMap(chainRefusals),
    ...sameMatches(filterChains),
  ];
}

function chainRefusals({ name = '', filters = [] }: FilterChain): readonly string[] {
  const of = name === '' ? 'a filter chain' : `the filter chain ${name}`;
  const passing = (type: string) => PASSING_NETWORK_FILTERS.has(type);
  return [
    ...orderRefusals(filters, LAST_NETWORK_FILTERS, passing, `in ${of}`),
    ...filters
      .filter((filter) => typeOf(filter) === CONNECTION_MANAGER)
      .flatMap((filter) => managerRefusals(filter.typedConfig as ConnectionManager, of)),
  ];
}

function managerRefusals({ httpFilters = [], routeConfig }: ConnectionManager, of: string): readonly string[] {
  const passing = (type: string) => type !== '' && !LAST_HTTP_FILTERS.has(type);
  return [
    ...orderRefusals(httpFilters, LAST_HTTP_FILTERS, passing, `among the HTTP filters of ${of}`),
    ...(routeConfig ? routeRefusals(routeConfig) : []),
  ];
}

/** Envoy finds a filter by the type of its configuration alone. */
function unconfigured(filters: readonly Filter[], where: string): readonly string[] {
  return filters
    .filter((filter) => filter.typedConfig === undefined && filter.configDiscovery === undefined)
    .map(({ name = '' }) => `"${name}" ${where} has no typed_config`);
}

/** What a filter comes to that is only discovered is not known. */
function orderRefusals(
  filters: readonly Filter[],
  last: ReadonlySet<string>,
  passing: (type: string) => boolean,
  where: string,
): readonly string[] {
  const refusals = [...unconfigured(filters, where)];
  const end = filters.findIndex((filter) => last.has(typeOf(filter)));
  const after = filters[end + 1];
  if (end >= 0 && after !== undefined) {
    const [name = '', before = ''] = [after.name, filters[end]?.name];
    refusals.push(`"${name}" ${where} stands behind "${before}", which must be the last: insert it before "${before}"`);
  }
  const final = filters.at(-1);
  if (end < 0 && final !== undefined && passing(typeOf(final))) {
    refusals.push(`"${final.name ?? ''}" is the last ${where}, and sends nothing on`);
  }
  return refusals;
}

function sameMatches(chains: readonly FilterChain[]): readonly string[] {
  const seen = new Map<string, string>();
  return chains.flatMap(({ name = '', filterChainMatch = {} }) => {
    const match = JSON.stringify(Object.entries(filterChainMatch).sort(([a], [b]) => (a < b ? -1 : 1)));
    const other = seen.get(match);
    seen.set(match, name);
    return other === undefined ? [] : [`the filter chains "${other}" and "${name}" have the same match`];
  });
}

export function routeRefusals({ virtualHosts = [] }: RouteConfiguration): readonly string[] {
  const seen = new Map<string, string>();
  const refusals: string[] = [];
  for (const { name = '', domains = [], routes = [] } of virtualHosts) {
    if (name === '') refusals.push('a virtual host needs a name');
    if (domains.length === 0) refusals.push(`the virtual host "${name}" has no domains`);
    for (const domain of domains) {
      const other = seen.get(domain.toLowerCase());
      if (other !== undefined)
        refusals.push(`the virtual hosts "${other}" and "${name}" both have the domain ${domain}`);
      seen.set(domain.toLowerCase(), name);
    }
    for (const [i, route] of routes.entries()) {
      if (route.match === undefined) refusals.push(`route ${i} of the virtual host "${name}" has no match`);
    }
  }
  return refusals;
}
