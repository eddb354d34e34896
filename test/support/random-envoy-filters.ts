import fc from 'fast-check';
import type { Config, ConfigKey } from '../../src/config/config.ts';
import { object } from './mesh-fixture.ts';
import { luaFilter } from './patches.ts';

/** An object that is written or, without a config, deleted. */
export interface EnvoyFilterEdit {
  readonly key: ConfigKey;
  readonly config?: Config;
}

const MANAGER = 'envoy.filters.network.http_connection_manager';
const named = (subFilter: string) => ({
  listener: { filterChain: { filter: { name: MANAGER, subFilter: { name: subFilter } } } },
});

const context = fc.constantFrom('ANY', 'SIDECAR_INBOUND', 'SIDECAR_OUTBOUND', 'GATEWAY');
const port = fc.constantFrom(80, 8080, 3306, 15006);
const name = fc.constantFrom('one', 'two', 'BlackHoleCluster', '0.0.0.0_80');

const cluster = fc.record({
  applyTo: fc.constant('CLUSTER'),
  match: fc.oneof(
    fc.record({ context }),
    fc.record({ context, cluster: fc.record({ portNumber: port }) }),
    fc.record({ context, cluster: fc.record({ service: fc.constantFrom('a.mesh', 'web.mesh') }) }),
  ),
  patch: fc.oneof(
    fc.record({ operation: fc.constant('MERGE'), value: fc.record({ connect_timeout: fc.constantFrom('1s', '2s') }) }),
    fc.record({ operation: fc.constant('REMOVE') }),
    fc.record({ operation: fc.constant('ADD'), value: fc.record({ name, type: fc.constant('STATIC') }) }),
  ),
});
const listener = fc.record({
  applyTo: fc.constantFrom('LISTENER', 'FILTER_CHAIN'),
  match: fc.oneof(fc.record({ context }), fc.record({ context, listener: fc.record({ portNumber: port }) })),
  patch: fc.oneof(
    fc.record({ operation: fc.constant('MERGE'), value: fc.constant({ name: 'merged' }) }),
    fc.record({ operation: fc.constant('REMOVE') }),
  ),
});
const httpFilter = fc.record({
  applyTo: fc.constant('HTTP_FILTER'),
  match: fc
    .tuple(context, fc.constantFrom('envoy.filters.http.router', 'lua', 'none'))
    .map(([one, filter]) => ({ context: one, ...named(filter) })),
  patch: fc.record({
    operation: fc.constantFrom('ADD', 'INSERT_BEFORE', 'INSERT_AFTER', 'INSERT_FIRST', 'REPLACE', 'MERGE', 'REMOVE'),
    value: fc.constantFrom('-- one', '-- two').map((code) => luaFilter('lua', code)),
  }),
});
const routes = fc.record({
  applyTo: fc.constantFrom('VIRTUAL_HOST', 'ROUTE_CONFIGURATION', 'HTTP_ROUTE'),
  match: fc.oneof(
    fc.record({ context }),
    fc.record({ context, routeConfiguration: fc.record({ portNumber: port }) }),
    fc.record({ context, routeConfiguration: fc.record({ vhost: fc.record({ name: fc.constant('a.mesh:80') }) }) }),
  ),
  patch: fc.oneof(
    fc.record({ operation: fc.constant('MERGE'), value: fc.record({ name: fc.constantFrom('x', 'y') }) }),
    fc.record({ operation: fc.constant('REMOVE') }),
  ),
});
const TCP_PROXY = 'envoy.filters.network.tcp_proxy';
const rbac = {
  name: 'rbac',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.network.rbac.v3.RBAC',
    stat_prefix: 'x',
    rules: {},
  },
};
const echo = {
  name: 'echo',
  typed_config: { '@type': 'type.googleapis.com/envoy.extensions.filters.network.echo.v3.Echo' },
};
const networkFilter = fc.record({
  applyTo: fc.constant('NETWORK_FILTER'),
  match: fc
    .tuple(context, fc.constantFrom(MANAGER, TCP_PROXY, 'rbac'))
    .map(([one, filter]) => ({ context: one, listener: { filterChain: { filter: { name: filter } } } })),
  patch: fc.record({
    operation: fc.constantFrom('ADD', 'INSERT_BEFORE', 'INSERT_AFTER', 'REPLACE', 'REMOVE', 'MERGE'),
    value: fc.constantFrom(rbac, echo, { name: 'bare' }, { name: 'renamed' }),
  }),
});
const listenerFilter = fc.record({
  applyTo: fc.constant('LISTENER_FILTER'),
  match: fc.record({ context }),
  patch: fc.record({
    operation: fc.constantFrom('ADD', 'INSERT_FIRST', 'REMOVE', 'MERGE'),
    value: fc.constantFrom<object>(
      {
        name: 'proxy',
        typed_config: {
          '@type': 'type.googleapis.com/envoy.extensions.filters.listener.proxy_protocol.v3.ProxyProtocol',
        },
      },
      { name: 'bare' },
    ),
  }),
});
/** Whole objects, of which some lack what they need, or have what others have. */
const whole = fc.constantFrom(
  { applyTo: 'CLUSTER', patch: { operation: 'ADD', value: { name: 'dns', type: 'STRICT_DNS' } } },
  { applyTo: 'CLUSTER', patch: { operation: 'ADD', value: { name: 'eds', type: 'EDS' } } },
  { applyTo: 'CLUSTER', patch: { operation: 'ADD', value: { type: 'STATIC' } } },
  { applyTo: 'CLUSTER', patch: { operation: 'MERGE', value: { type: 'EDS' } } },
  { applyTo: 'CLUSTER', patch: { operation: 'MERGE', value: { health_checks: [{ timeout: '1s' }] } } },
  { applyTo: 'FILTER_CHAIN', patch: { operation: 'ADD', value: { name: 'twin', filters: [echo] } } },
  { applyTo: 'FILTER_CHAIN', patch: { operation: 'ADD', value: { name: 'passing', filters: [rbac] } } },
  { applyTo: 'FILTER_CHAIN', patch: { operation: 'MERGE', value: { filter_chain_match: { destination_port: 7 } } } },
  { applyTo: 'LISTENER', patch: { operation: 'ADD', value: { name: 'nowhere' } } },
  {
    applyTo: 'LISTENER',
    patch: {
      operation: 'ADD',
      value: {
        name: 'echo',
        address: { socket_address: { address: '127.0.0.1', port_value: 4444 } },
        filter_chains: [{ filters: [echo] }],
      },
    },
  },
  { applyTo: 'VIRTUAL_HOST', patch: { operation: 'ADD', value: { name: 'all', domains: ['*'] } } },
  { applyTo: 'VIRTUAL_HOST', patch: { operation: 'ADD', value: { name: 'none' } } },
  { applyTo: 'VIRTUAL_HOST', patch: { operation: 'MERGE', value: { domains: ['a.mesh'] } } },
  { applyTo: 'HTTP_ROUTE', patch: { operation: 'INSERT_FIRST', value: { direct_response: { status: 200 } } } },
  { applyTo: 'HTTP_ROUTE', patch: { operation: 'MERGE', value: { direct_response: { status: 9 } } } },
  { applyTo: 'HTTP_ROUTE', patch: { operation: 'ADD', value: { match: { prefix: '/' } } } },
);

const extension = fc.record({
  applyTo: fc.constant('EXTENSION_CONFIG'),
  match: fc.record({ context }),
  patch: fc.record({ operation: fc.constant('ADD'), value: fc.constantFrom('a', 'b').map((n) => luaFilter(n)) }),
});

const spec = fc.record(
  {
    priority: fc.integer({ min: -1, max: 1 }),
    workloadSelector: fc.constantFrom({ labels: { app: 'web' } }, { labels: {} }),
    configPatches: fc.array(
      fc.oneof(cluster, listener, httpFilter, networkFilter, listenerFilter, routes, whole, extension),
      { maxLength: 4 },
    ),
  },
  { requiredKeys: ['configPatches'] },
);

/** One of a few EnvoyFilters in two namespaces is written or deleted. */
export const randomEnvoyFilterEdit: fc.Arbitrary<EnvoyFilterEdit> = fc
  .tuple(fc.constantFrom('one', 'two'), fc.constantFrom('shop', 'istio-system'), fc.option(spec))
  .map(([of, namespace, written]) => {
    const config = object('EnvoyFilter', of, written ?? {}, namespace);
    return written === null ? { key: config.key } : { key: config.key, config };
  });
