import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { envoy, google } from '#generated/proto/types.ts';
import { patchedListener } from '../../../../src/envoy/patch/listeners.ts';
import type { Patch } from '../../../../src/envoy/patch/patch.ts';
import { LUA, luaFilter, patch, ROUTER } from '../../../support/patches.ts';

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

const MANAGER = 'envoy.filters.network.http_connection_manager';
const MANAGER_TYPE =
  'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';
const TCP_TYPE = 'type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy';

const http = (...names: readonly string[]) => ({
  name: MANAGER,
  typedConfig: {
    '@type': MANAGER_TYPE,
    statPrefix: 'x',
    httpFilters: names.map((name) => ({
      name,
      typedConfig: { '@type': name === 'router' ? ROUTER : LUA } as google.protobuf.Any,
    })),
  } as google.protobuf.Any,
});
const tcp = { name: 'tcp', typedConfig: { '@type': TCP_TYPE, cluster: 'a' } as google.protobuf.Any };

const listener = (name: string, port: number, filterChains: readonly FilterChain[], more: Listener = {}): Listener => ({
  name,
  address: { socketAddress: { address: '0.0.0.0', portValue: port } },
  filterChains: [...filterChains],
  ...more,
});
const WEB = listener('0.0.0.0_80', 80, [{ name: 'one', filters: [http('cors', 'fault', 'router')] }]);

const out = (of: Listener, ...patches: readonly Patch[]): Listener | undefined =>
  patchedListener(of, { patches }, 'SIDECAR_OUTBOUND').object;

/** Names of the HTTP filters of each chain. */
function httpFilters(of: Listener | undefined): readonly (readonly string[])[] {
  return (of?.filterChains ?? []).map(({ filters = [] }) =>
    filters.flatMap(({ typedConfig }) =>
      ((typedConfig as { readonly httpFilters?: readonly { readonly name: string }[] })?.httpFilters ?? []).map(
        ({ name }) => name,
      ),
    ),
  );
}

const at = (subFilter?: string) => ({
  listener: { filterChain: { filter: { name: MANAGER, ...(subFilter ? { subFilter: { name: subFilter } } : {}) } } },
});

test('an HTTP filter is put where the operation says; a place that is not there leaves all as it is', () => {
  const names = (operation: Parameters<typeof patch>[1], match = {}) =>
    httpFilters(out(WEB, patch('HTTP_FILTER', operation, luaFilter('new'), match)))[0]?.join();
  assert.equal(names('ADD'), 'cors,fault,router,new');
  assert.equal(names('INSERT_FIRST', at('router')), 'new,cors,fault,router');
  assert.equal(names('INSERT_BEFORE', at('router')), 'cors,fault,new,router');
  assert.equal(names('INSERT_BEFORE', at()), 'new,cors,fault,router');
  assert.equal(names('INSERT_BEFORE', at('other')), 'cors,fault,router');
  assert.equal(names('INSERT_AFTER', at('cors')), 'cors,new,fault,router');
  assert.equal(names('INSERT_AFTER'), 'cors,fault,router,new');
  assert.equal(names('REPLACE', at('fault')), 'cors,new,router');
  assert.equal(names('REPLACE', at()), 'cors,fault,router');
  assert.equal(names('REMOVE', at('fault')), 'cors,router');
  assert.equal(names('REMOVE', at()), 'cors,fault,router');
  assert.equal(names('ADD', { context: 'GATEWAY' }), 'cors,fault,router');
});

test('patches are made in order, merges after all others', () => {
  const merge = patch('HTTP_FILTER', 'MERGE', { name: 'renamed' }, at('new'));
  const made = out(WEB, merge, patch('HTTP_FILTER', 'INSERT_FIRST', luaFilter('new'), at()));
  assert.deepEqual(httpFilters(made), [['renamed', 'cors', 'fault', 'router']]);
  const config = { '@type': ROUTER, start_child_span: true };
  const merged = out(WEB, patch('HTTP_FILTER', 'MERGE', { typed_config: config }, at('router')));
  const manager = merged?.filterChains?.[0]?.filters?.[0]?.typedConfig as Record<string, unknown[]>;
  assert.deepEqual(manager['httpFilters']?.[2], {
    name: 'router',
    typedConfig: { '@type': ROUTER, startChildSpan: true },
  });
});

test('filter chains are matched by name, server name, protocols and port', () => {
  const chains: FilterChain[] = [
    { name: 'a', filterChainMatch: { serverNames: ['a.test', 'b.test'], transportProtocol: 'tls' }, filters: [tcp] },
    {
      name: 'b',
      filterChainMatch: { applicationProtocols: ['h2', 'http/1.1'], destinationPort: 8080 },
      filters: [tcp],
    },
    { name: 'c', filters: [tcp] },
  ];
  const left = (filterChain: object, portNumber?: number, name = '0.0.0.0_80') => {
    const match = { listener: { filterChain, ...(portNumber ? { portNumber } : {}) } };
    const made = out(listener(name, 80, chains), patch('FILTER_CHAIN', 'REMOVE', undefined, match));
    return made?.filterChains?.map((chain) => chain.name).join('');
  };
  assert.equal(left({ name: 'b' }), 'ac');
  assert.equal(left({ sni: 'b.test' }), 'bc');
  assert.equal(left({ sni: 'c.test' }), 'abc');
  assert.equal(left({ transportProtocol: 'tls' }), 'bc');
  assert.equal(left({ applicationProtocols: 'h2,http/1.1' }), 'ac');
  assert.equal(left({ applicationProtocols: 'h2,h3' }), 'abc');
  assert.equal(left({ destinationPort: 8080 }), 'ac');
  assert.equal(left({}), '');
  assert.equal(left({}, 81), 'abc');
  assert.equal(left({}, 8080, 'virtualInbound'), 'ac');
});

test('listeners are matched by name and port; the port of a virtual one tells it alone', () => {
  const virtual = listener('virtualOutbound', 15001, WEB.filterChains ?? []);
  const removed = (of: Listener, match: object) =>
    out(of, patch('LISTENER', 'REMOVE', undefined, { listener: match })) === undefined;
  assert.equal(removed(WEB, {}), true);
  assert.equal(removed(WEB, { name: '0.0.0.0_80', portNumber: 80 }), true);
  assert.equal(removed(WEB, { portNumber: 81 }), false);
  assert.equal(removed(WEB, { name: 'other' }), false);
  assert.equal(removed(virtual, { portNumber: 15001 }), true);
  assert.equal(removed(virtual, { portNumber: 80 }), false);
});

test('a merged listener keeps its name, a listener filter is put in its place, and chains are added', () => {
  const of = { ...WEB, listenerFilters: [{ name: 'tls_inspector', typedConfig: { '@type': LUA } }] } as Listener;
  const made = out(
    of,
    patch('LISTENER', 'MERGE', { name: 'x', tcp_backlog_size: 3 }),
    patch('LISTENER_FILTER', 'INSERT_BEFORE', { name: 'first' }),
    patch('LISTENER_FILTER', 'INSERT_AFTER', { name: 'last' }, { listener: { listenerFilter: 'tls_inspector' } }),
    patch('LISTENER_FILTER', 'REMOVE', undefined, { listener: { listenerFilter: 'none' } }),
    patch('FILTER_CHAIN', 'ADD', { name: 'two', filters: [{ name: 'x' }] }),
    patch('FILTER_CHAIN', 'ADD', { name: 'empty' }),
  );
  assert.equal(made?.name, '0.0.0.0_80');
  assert.equal(made?.tcpBacklogSize, 3);
  assert.deepEqual(
    made?.listenerFilters?.map(({ name }) => name),
    ['first', 'tls_inspector', 'last'],
  );
  assert.deepEqual(
    made?.filterChains?.map(({ name }) => name),
    ['one', 'two'],
  );
});

test('a patch of a transport socket that is there changes nothing else of its chain', () => {
  const socket = (fields: object) => ({
    name: 'tls',
    typedConfig: {
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
      ...fields,
    } as google.protobuf.Any,
  });
  const of = listener('a', 1, [{ name: 'one', transportSocket: socket({ requireSni: true }), filters: [tcp] }]);
  const value = (name: string) => ({
    name: 'renamed',
    transport_socket: {
      name,
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
        require_client_certificate: true,
      },
    },
  });
  const [same] = out(of, patch('FILTER_CHAIN', 'MERGE', value('tls')))?.filterChains ?? [];
  assert.equal(same?.name, 'one');
  assert.deepEqual(same?.transportSocket, socket({ requireSni: true, requireClientCertificate: true }));
  const [other] = out(of, patch('FILTER_CHAIN', 'MERGE', value('other')))?.filterChains ?? [];
  assert.equal(other?.name, 'renamed');
  assert.deepEqual(other?.transportSocket, { ...socket({ requireClientCertificate: true }), name: 'other' });
});

test('routes that stand in a listener to the own workload are patched as such', () => {
  const manager = http('router');
  const routeConfig = { name: 'inbound|8080||', virtualHosts: [{ name: 'inbound|http|80', routes: [{ name: 'r' }] }] };
  const typedConfig = { ...manager.typedConfig, routeConfig } as google.protobuf.Any;
  const of = listener('virtualInbound', 15006, [{ name: 'one', filters: [{ ...manager, typedConfig }] }]);
  const rename = (port: number) =>
    patch('HTTP_ROUTE', 'MERGE', { name: 'renamed' }, { routeConfiguration: { portNumber: port } });
  const names = (one: Patch, context: 'SIDECAR_INBOUND' | 'SIDECAR_OUTBOUND') => {
    const { object, applied } = patchedListener(of, { patches: [one] }, context);
    const config = object?.filterChains?.[0]?.filters?.[0]?.typedConfig as { routeConfig?: typeof routeConfig };
    return [config?.routeConfig?.virtualHosts[0]?.routes[0]?.name, applied.size];
  };
  assert.deepEqual(names(rename(8080), 'SIDECAR_INBOUND'), ['renamed', 1]);
  assert.deepEqual(names(rename(80), 'SIDECAR_INBOUND'), ['r', 0]);
  assert.deepEqual(names(rename(8080), 'SIDECAR_OUTBOUND'), ['r', 0]);
});
