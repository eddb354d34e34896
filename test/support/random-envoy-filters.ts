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
    value: fc.constantFrom('lua', 'lua2').map((code) => luaFilter('lua', code)),
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
const extension = fc.record({
  applyTo: fc.constant('EXTENSION_CONFIG'),
  match: fc.record({ context }),
  patch: fc.record({ operation: fc.constant('ADD'), value: fc.constantFrom('a', 'b').map((n) => luaFilter(n)) }),
});

const spec = fc.record(
  {
    priority: fc.integer({ min: -1, max: 1 }),
    workloadSelector: fc.constantFrom({ labels: { app: 'web' } }, { labels: {} }),
    configPatches: fc.array(fc.oneof(cluster, listener, httpFilter, routes, extension), { maxLength: 4 }),
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
