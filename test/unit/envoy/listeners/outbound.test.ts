import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DestinationRule } from '#generated/config/specs.ts';
import { meshAccessLogs, NO_ACCESS_LOGS } from '../../../../src/envoy/filters/access-log.ts';
import { UNTRACED } from '../../../../src/envoy/filters/tracing.ts';
import type { HttpSettings } from '../../../../src/envoy/listeners/chain-settings.ts';
import { httpProxyListener } from '../../../../src/envoy/listeners/http-proxy.ts';
import {
  type OutboundListenerInput,
  outboundListener,
  type TcpChain,
} from '../../../../src/envoy/listeners/outbound.ts';
import { DEFAULT_LISTENER_SWITCHES } from '../../../../src/envoy/listeners/switches.ts';
import { routeDestination, serviceDestination } from '../../../../src/envoy/listeners/tcp-destination.ts';
import { virtualOutboundListener } from '../../../../src/envoy/listeners/virtual-outbound.ts';
import type { Service } from '../../../../src/model/service.ts';
import { encodeMessage } from '../../../../src/proto/message.ts';

const HTTP: HttpSettings = {
  accessLogs: NO_ACCESS_LOGS,
  statsFilters: [],
  switches: DEFAULT_LISTENER_SWITCHES,
  dnsLookupFamily: 'V4_ONLY',
  connectionExtensions: [],
  requestExtensions: [],
  istioExtensions: true,
  proxy: {},
  pathNormalization: undefined,
  networks: {},
  http10: false,
  tracing: UNTRACED,
};

const TCP: TcpChain = { match: {}, protocol: 'TCP', tcp: { statPrefix: 's', clusters: 'c' } };

function built(chains: OutboundListenerInput['listener']['chains'], more: Partial<OutboundListenerInput> = {}) {
  const listener = outboundListener({
    listener: { name: '0.0.0.0_80', binds: ['0.0.0.0'], port: 80, toPort: false, chains },
    unknownTraffic: 'PassthroughCluster',
    exactBalance: false,
    detectionTimeout: '5s',
    tcp: HTTP,
    http: HTTP,
    ...more,
  });
  // What does not fit its message throws.
  encodeMessage('envoy.config.listener.v3.Listener', listener);
  return listener;
}

const SNIFFED = { applicationProtocols: ['http/1.1', 'h2c'], transportProtocol: 'raw_buffer' } as const;

test('a chain that takes all is the default one, unless it is alone', () => {
  const alone = built([TCP]);
  assert.equal(alone.filterChains?.length, 1);
  assert.equal(alone.defaultFilterChain, undefined);
  const both = built([TCP, { ...TCP, match: { serverNames: ['a'] } }]);
  assert.deepEqual(
    both.filterChains?.map(({ filterChainMatch }) => filterChainMatch),
    [{ serverNames: ['a'] }],
  );
  assert.equal(both.defaultFilterChain?.name, undefined);
});

test('connections that no chain takes go where unknown traffic goes', () => {
  const { defaultFilterChain } = built([{ ...TCP, match: { destinations: ['10.0.0.0/8'] } }]);
  assert.equal(defaultFilterChain?.name, 'PassthroughFilterChain');
  assert.equal(defaultFilterChain?.filters?.[0]?.typedConfig?.['cluster'], 'PassthroughCluster');
});

test('connections are looked into only where a chain asks for it, and only then waited for', () => {
  const names = (...chains: OutboundListenerInput['listener']['chains']) => {
    const { listenerFilters = [], listenerFiltersTimeout } = built(chains);
    return [...listenerFilters.map(({ name }) => name?.replace('envoy.filters.listener.', '')), listenerFiltersTimeout];
  };
  const http = { match: SNIFFED, http: { route: '80' } };
  assert.deepEqual(names(TCP), ['0s']);
  assert.deepEqual(names({ ...TCP, match: { serverNames: ['a'] } }), ['tls_inspector', '0s']);
  assert.deepEqual(names(TCP, http), ['http_inspector', '5s']);
  assert.deepEqual(names({ ...TCP, dynamicHost: { host: '*.x', port: 443 } }), ['tls_inspector', '0s']);
});

test('filters of Istio’s Envoy are not sent to another, which marks HTTP by the cluster’s ALPN', () => {
  const http = { match: {}, http: { route: '80' } };
  const names = (istioExtensions: boolean) => {
    const [chain] = built([http], { http: { ...HTTP, istioExtensions } }).filterChains ?? [];
    const filters = chain?.filters?.[0]?.typedConfig?.['httpFilters'] as { name: string; typedConfig: object }[];
    return filters.map(({ name, typedConfig }) => [
      name,
      (typedConfig as { '@type': string })['@type'].split('.').at(-1),
    ]);
  };
  assert.deepEqual(
    names(true).map(([name]) => name),
    [
      'istio.metadata_exchange',
      'envoy.filters.http.grpc_stats',
      'istio.alpn',
      'envoy.filters.http.fault',
      'envoy.filters.http.cors',
      'envoy.filters.http.router',
    ],
  );
  assert.deepEqual(names(false).slice(0, 2), [
    ['envoy.filters.http.grpc_stats', 'FilterConfig'],
    ['istio.alpn', 'Config'],
  ]);
});

test('the proxy for any host is bound to loopback and takes whole URLs', () => {
  const listener = built([], { listener: httpProxyListener('IPv4', 15080), unknownTraffic: undefined });
  assert.deepEqual(listener.address, { socketAddress: { address: '127.0.0.1', portValue: 15080 } });
  assert.equal(listener.bindToPort, undefined);
  const [chain] = listener.filterChains ?? [];
  assert.deepEqual(chain?.filters?.[0]?.typedConfig?.['httpProtocolOptions'], { allowAbsoluteUrl: true });
});

test('captured connections are never sent back to where they are captured', () => {
  const listener = virtualOutboundListener({
    families: 'dual-IPv4',
    dualStack: true,
    interceptionMode: 'TPROXY',
    port: 15001,
    unknownTraffic: 'BlackHoleCluster',
    tcp: {
      ...HTTP,
      idleTimeout: '1m30s',
      accessLogs: meshAccessLogs({ file: '/dev/stdout', encoding: 'TEXT', format: '', service: false, listener: true }),
    },
    dynamicHosts: undefined,
  });
  encodeMessage('envoy.config.listener.v3.Listener', listener);
  const [own, rest] = listener.filterChains ?? [];
  assert.deepEqual(own?.filterChainMatch, { destinationPort: 15001 });
  assert.equal(rest?.filters?.[0]?.typedConfig?.['idleTimeout'], '90s');
  assert.equal(listener.transparent, true);
  assert.equal(listener.additionalAddresses?.length, 1);
  assert.deepEqual(listener.accessLog?.[0]?.filter, { responseFlagFilter: { flags: ['NR'] } });
});

const SERVICE = {
  hostname: 'db.a.svc',
  name: 'db',
  namespace: 'a',
  registry: 'Kubernetes',
  ports: [{ name: 'tcp', port: 5432, protocol: 'TCP' }],
} as unknown as Service;
const RULE: DestinationRule = {
  host: 'db.a.svc',
  trafficPolicy: {
    connectionPool: { tcp: { idleTimeout: '5s', maxConnectionDuration: '1h' } },
    loadBalancer: { consistentHash: { useSourceIp: true } },
    tunnel: { targetHost: '2001:db8::1', targetPort: 443, protocol: 'POST' },
  },
  subsets: [{ name: 'v1', trafficPolicy: { loadBalancer: { simple: 'RANDOM' } } }],
};

test('a DestinationRule says how long connections last, whom they stick to, and through what they are tunnelled', () => {
  assert.deepEqual(serviceDestination({ service: SERVICE, port: 5432, rule: RULE, statPattern: '' }), {
    statPrefix: 'outbound|5432||db.a.svc',
    clusters: 'outbound|5432||db.a.svc',
    idleTimeout: '5s',
    maxConnectionDuration: '1h',
    hashesSource: true,
    tunnel: { target: '[2001:db8::1]:443', post: true },
  });
});

const PORT = { name: 'tcp', port: 9000, protocol: 'TCP' } as const;

function routed(route: Parameters<typeof routeDestination>[0]['route'], statPattern = '') {
  const serviceOf = (host: string) => (host === SERVICE.hostname ? SERVICE : undefined);
  const virtualService = { name: 'vs', namespace: 'a' };
  return routeDestination({ route, virtualService, port: PORT, serviceOf, rule: RULE, statPattern });
}

test('a destination without a port is the service’s only port, and a subset’s balancer and tunnel are its own', () => {
  assert.deepEqual(routed([{ destination: { host: 'db.a.svc', subset: 'v1' } }]), {
    statPrefix: 'outbound|5432|v1|db.a.svc',
    clusters: 'outbound|5432|v1|db.a.svc',
    idleTimeout: '5s',
    maxConnectionDuration: '1h',
  });
  assert.equal(routed([{ destination: { host: 'unknown' } }]).clusters, 'outbound|9000||unknown');
  const named = routed(
    [{ destination: { host: 'db.a.svc', subset: 'v1' } }],
    '%SERVICE%_%SERVICE_PORT_NAME%_%SUBSET_NAME%',
  );
  assert.equal(named.statPrefix, 'db.a_tcp_v1');
});

test('several destinations are weighted, and those of weight 0 are left out', () => {
  const { statPrefix, clusters } = routed([
    { destination: { host: 'db.a.svc' }, weight: 70 },
    { destination: { host: 'other', port: { number: 1 } }, weight: 30 },
    { destination: { host: 'never' } },
  ]);
  assert.equal(statPrefix, 'vs.a');
  assert.deepEqual(clusters, [
    { name: 'outbound|5432||db.a.svc', weight: 70 },
    { name: 'outbound|1||other', weight: 30 },
  ]);
});

test('filters for a protocol stand before the TCP proxy, or in its place, where they are switched on', () => {
  const names = (protocol: TcpChain['protocol'], on: Partial<typeof DEFAULT_LISTENER_SWITCHES>) => {
    const tcp = { ...HTTP, switches: { ...DEFAULT_LISTENER_SWITCHES, ...on } };
    const [chain] = built([{ ...TCP, protocol }], { tcp }).filterChains ?? [];
    return chain?.filters?.map(({ name }) => name?.replace('envoy.filters.network.', ''));
  };
  assert.deepEqual(names('Mongo', {}), ['mongo_proxy', 'tcp_proxy']);
  assert.deepEqual(names('Mongo', { mongo: false }), ['tcp_proxy']);
  assert.deepEqual(names('Redis', {}), ['tcp_proxy']);
  assert.deepEqual(names('Redis', { redis: true }), ['redis_proxy']);
  assert.deepEqual(names('MySQL', { mysql: true }), ['mysql_proxy', 'tcp_proxy']);
});
