import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HTTPSettings, LoadBalancerSettings, TrafficPolicy } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { loadBalancer } from '../../../../src/envoy/clusters/load-balancer.ts';
import { type OutboundClusterInput, outboundCluster } from '../../../../src/envoy/clusters/outbound.ts';
import type { ClusterView } from '../../../../src/envoy/clusters/view.ts';
import { NO_SECRET_SOCKETS } from '../../../../src/envoy/tls-context.ts';
import type { Protocol } from '../../../../src/model/protocol.ts';
import type { Service } from '../../../../src/model/service.ts';
import { encodeMessage } from '../../../../src/proto/message.ts';

type Cluster = envoy.config.cluster.v3.Cluster;

const SERVICE: Service = {
  id: 'default/a/a.example.com/0.0.0.0',
  hostname: 'a.example.com',
  namespace: 'default',
  name: 'a.example.com',
  objectName: 'a',
  registry: 'External',
  ports: [],
  resolution: 'ClientSideLB',
  meshExternal: false,
  address: '0.0.0.0',
  vips: [],
  labels: {},
  serviceAccounts: [],
  aliases: [],
  creationTime: 0,
  config: 'k',
};
const VIEW: ClusterView = {
  type: 'sidecar',
  istioExtensions: true,
  peerExchange: true,
  sds: true,
  secretSockets: NO_SECRET_SOCKETS,
  preserveHeaderCase: false,
};
const RULE = {
  group: 'networking.istio.io',
  kind: 'DestinationRule',
  namespace: 'default',
  name: 'a',
  selectsWorkloads: false,
};

interface Given extends Partial<Omit<OutboundClusterInput, 'port' | 'view' | 'service' | 'mesh'>> {
  readonly protocol?: Protocol;
  readonly view?: Partial<ClusterView>;
  readonly service?: Partial<Service>;
  readonly mesh?: Partial<OutboundClusterInput['mesh']>;
}

function cluster({ protocol = 'HTTP', view, service, mesh, ...more }: Given): Cluster {
  const made = outboundCluster({
    name: 'outbound|80||a.example.com',
    service: { ...SERVICE, ...service },
    port: { name: 'http', port: 80, protocol },
    subset: '',
    policy: undefined,
    rule: undefined,
    discovery: 'EDS',
    localityPolicy: undefined,
    serverMode: 'PERMISSIVE',
    serviceAccounts: ['spiffe://cluster.local/ns/default/sa/a'],
    passesTls: false,
    mesh: { connectTimeout: '10s', enableAutoMtls: true, ...mesh },
    view: { ...VIEW, ...view },
    ...more,
  });
  assert(made);
  encodeMessage('envoy.config.cluster.v3.Cluster', made);
  return made;
}

const options = (given: Given) =>
  cluster(given).typedExtensionProtocolOptions?.['envoy.extensions.upstreams.http.v3.HttpProtocolOptions'];
const pool = (http: HTTPSettings): { readonly policy: TrafficPolicy } => ({
  policy: { connectionPool: { http } },
});

test('a cluster speaks the HTTP that its port, its rule and the mesh ask for', () => {
  const spoken = (given: Given): string => {
    const { explicitHttpConfig: explicit, useDownstreamProtocolConfig: downstream } = (options(given) ?? {}) as Record<
      string,
      object
    >;
    if (downstream !== undefined) return 'downstream';
    if (explicit === undefined) return 'default';
    return Object.keys(explicit).join();
  };
  const upgrade = { mesh: { h2UpgradePolicy: 'UPGRADE' } };
  const cases: readonly (readonly [Given, string])[] = [
    [{ protocol: 'HTTP' }, 'default'],
    [{ protocol: 'GRPC' }, 'http2ProtocolOptions'],
    [{ protocol: 'TCP' }, 'default'],
    [{ protocol: 'Unsupported' }, 'downstream'],
    [{ protocol: 'Unsupported', view: { type: 'router' } }, 'default'],
    [{ protocol: 'HTTP', view: { preserveHeaderCase: true } }, 'httpProtocolOptions'],
    [{ protocol: 'HTTP', ...upgrade }, 'http2ProtocolOptions'],
    [{ protocol: 'TCP', ...upgrade }, 'default'],
    [{ protocol: 'HTTP', view: { preserveHeaderCase: true }, ...upgrade }, 'httpProtocolOptions'],
    [{ protocol: 'HTTP', ...upgrade, ...pool({ h2UpgradePolicy: 'DO_NOT_UPGRADE' }) }, 'default'],
    [{ protocol: 'TCP', ...pool({ h2UpgradePolicy: 'UPGRADE' }) }, 'http2ProtocolOptions'],
    [{ protocol: 'Unsupported', ...pool({ h2UpgradePolicy: 'UPGRADE' }) }, 'downstream'],
    [{ protocol: 'GRPC', ...pool({ useClientProtocol: true, h2UpgradePolicy: 'UPGRADE' }) }, 'downstream'],
    [{ protocol: 'HTTP', ...pool({ maxRequestsPerConnection: 1 }) }, 'httpProtocolOptions'],
  ];
  for (const [given, expected] of cases) assert.equal(spoken(given), expected, JSON.stringify(given));
});

test('HTTP/2 settings go to HTTP/2 clusters only, and time limits to all', () => {
  const http = { maxConcurrentStreams: 7, http2KeepAlive: { interval: '1m', timeout: '5s' }, idleTimeout: '1h' };
  assert.deepEqual(options({ protocol: 'HTTP2', ...pool(http) }), {
    '@type': 'type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions',
    commonHttpProtocolOptions: { idleTimeout: '3600s' },
    explicitHttpConfig: {
      http2ProtocolOptions: { maxConcurrentStreams: 7, connectionKeepalive: { interval: '60s', timeout: '5s' } },
    },
  });
  assert.deepEqual(
    options({ protocol: 'HTTP', ...pool({ maxConcurrentStreams: 7 }) })?.['commonHttpProtocolOptions'],
    {},
  );
  const tcp = { policy: { connectionPool: { tcp: { idleTimeout: '2m' } } } };
  assert.deepEqual(options({ protocol: 'TCP', ...tcp })?.['commonHttpProtocolOptions'], { idleTimeout: '120s' });
});

test('status codes that a rule names are what ejects', () => {
  const matcher = (codes: readonly number[]) => {
    const given = { policy: { outlierDetection: { outlierDetectionHttpErrorCodes: codes } } };
    return options(given)?.['outlierDetection'] as { errorMatcher: object };
  };
  assert.deepEqual(Object.keys(matcher([429]).errorMatcher), ['httpResponseHeadersMatch']);
  assert.deepEqual(Object.keys(matcher([429, 503]).errorMatcher), ['orMatch']);
});

test('a connection pool sets limits, and its keepalive stands over that of the mesh', () => {
  const { circuitBreakers, connectTimeout, upstreamConnectionOptions } = cluster({
    mesh: { tcpKeepalive: { time: '7200s', probes: 9 } },
    policy: {
      connectionPool: {
        tcp: { maxConnections: 5, connectTimeout: '30ms', tcpKeepalive: { time: '1h' } },
        http: { maxRetries: 0 },
      },
      retryBudget: { budgetInterval: '10s' },
    },
  });
  assert.equal(connectTimeout, '0.030s');
  assert.deepEqual(circuitBreakers?.thresholds, [
    {
      maxConnections: 5,
      maxPendingRequests: 4294967295,
      maxRequests: 4294967295,
      maxRetries: 4294967295,
      retryBudget: { budgetPercent: { value: 20 }, budgetInterval: '10s', minRetryConcurrency: 3 },
    },
  ]);
  assert.deepEqual(upstreamConnectionOptions?.tcpKeepalive, { keepaliveProbes: 9, keepaliveTime: 3600 });
});

test('each way of choosing an endpoint has its policy', () => {
  const cases: readonly (readonly [LoadBalancerSettings | undefined, Cluster])[] = [
    [undefined, { lbPolicy: 'LEAST_REQUEST' }],
    [{ simple: 'LEAST_CONN' }, { lbPolicy: 'LEAST_REQUEST' }],
    [{ simple: 'RANDOM', warmup: { duration: '1s' } }, { lbPolicy: 'RANDOM' }],
    [
      { simple: 'ROUND_ROBIN', warmup: { duration: '30s' } },
      {
        lbPolicy: 'ROUND_ROBIN',
        roundRobinLbConfig: {
          slowStartConfig: {
            slowStartWindow: '30s',
            aggression: { defaultValue: 1, runtimeKey: '(' },
            minWeightPercent: { value: 10 },
          },
        },
      },
    ],
    [
      { warmupDurationSecs: '5s' },
      { lbPolicy: 'LEAST_REQUEST', leastRequestLbConfig: { slowStartConfig: { slowStartWindow: '5s' } } },
    ],
    [{ consistentHash: { useSourceIp: true } }, { lbPolicy: 'RING_HASH', ringHashLbConfig: { minimumRingSize: 1024 } }],
    [{ consistentHash: { ringHash: {} } }, { lbPolicy: 'RING_HASH' }],
    [
      { consistentHash: { ringHash: { minimumRingSize: '10' } } },
      { lbPolicy: 'RING_HASH', ringHashLbConfig: { minimumRingSize: '10' } },
    ],
    [{ consistentHash: { maglev: { tableSize: 5 } } }, { lbPolicy: 'MAGLEV', maglevLbConfig: { tableSize: 5 } }],
  ];
  for (const [settings, expected] of cases) assert.deepEqual(loadBalancer(settings), expected);
});

test('panic is off unless a rule wants it, and never on where endpoints are preferred by place', () => {
  const panic = (given: Given) => cluster(given).commonLbConfig?.healthyPanicThreshold;
  const wanted = { policy: { outlierDetection: { minHealthPercent: 40 } } };
  assert.deepEqual(panic({}), {});
  assert.deepEqual(panic(wanted), { value: 40 });
  assert.deepEqual(panic({ ...wanted, service: { trafficDistribution: 'PreferSameZone' } }), {});
});

test('localities are weighted where weights are said, or where endpoints can fail over to named ones', () => {
  const config = (setting: object, outlier: boolean, force = false) =>
    Object.keys(
      cluster({
        localityPolicy: { kind: 'locality', setting, force },
        policy: outlier ? { outlierDetection: {} } : undefined,
      }).commonLbConfig ?? {},
    ).includes('localityWeightedLbConfig');
  assert(!config({}, true));
  assert(config({ distribute: [{ from: '*' }] }, false));
  assert(config({ failover: [{ from: 'a', to: 'b' }] }, true));
  assert(!config({ failoverPriority: ['a'] }, false));
  assert(config({ failoverPriority: ['a'] }, false, true));
  const zoneAware = { localityPolicy: { kind: 'zone-aware', setting: { enabled: false, minClusterSize: 3 } } } as const;
  assert.deepEqual(cluster(zoneAware).commonLbConfig?.zoneAwareLbConfig, { routingEnabled: {}, minClusterSize: 3 });
});

test('traffic that is passed through keeps nothing of how endpoints would be found', () => {
  const { type, lbPolicy, edsClusterConfig, originalDstLbConfig } = cluster({
    discovery: 'ORIGINAL_DST',
    service: { resolution: 'Passthrough', passthroughTargetPorts: { 80: 8080 } },
    policy: { loadBalancer: { consistentHash: { useSourceIp: true } } },
  });
  assert.deepEqual([type, lbPolicy, edsClusterConfig], ['ORIGINAL_DST', 'CLUSTER_PROVIDED', undefined]);
  assert.deepEqual(originalDstLbConfig, { upstreamPortOverride: 8080 });
  const asked = cluster({ policy: { loadBalancer: { simple: 'PASSTHROUGH' } } });
  assert.deepEqual([asked.type, asked.edsClusterConfig], ['ORIGINAL_DST', undefined]);
});

test('a name that is looked up as one address has one endpoint, or is looked up as many', () => {
  const endpoint = { message: {}, origin: { labels: {}, network: '' }, weight: 1, mtls: false };
  const dns = (count: number) => ({
    lookupFamily: 'V4_ONLY' as const,
    groups: [{ locality: '', endpoints: Array(count).fill(endpoint), weight: count, priority: 0 }],
  });
  assert.equal(cluster({ discovery: 'LOGICAL_DNS', dns: dns(1) }).type, 'LOGICAL_DNS');
  assert.equal(cluster({ discovery: 'LOGICAL_DNS', dns: dns(2) }).type, 'STRICT_DNS');
  assert.equal(
    cluster({ discovery: 'STRICT_DNS', dns: dns(1), service: { dnsConnectStrategy: 'RACE_FIRST_TCP_CONNECT' } })
      .dnsLookupFamily,
    'ALL',
  );
});

test('a cluster says in its metadata what it is for and what shaped it', () => {
  const istio = (given: Given) => cluster(given).metadata?.filterMetadata?.['istio'];
  const services = [{ host: 'a.example.com', name: 'a.example.com', namespace: 'default' }];
  const config = '/apis/networking.istio.io/v1/namespaces/default/destination-rule/a';
  assert.deepEqual(istio({ service: { meshExternal: true } }), { services, external: true });
  assert.deepEqual(istio({ service: { meshExternal: true }, subset: 'v1', rule: RULE }), {
    services,
    config,
    subset: 'v1',
  });
  assert.deepEqual(istio({ rule: RULE, policy: { tls: { mode: 'SIMPLE' } } }), {
    services,
    config,
    alpn_override: 'false',
  });
});

test('statistics stand under the name that the mesh wants', () => {
  const mesh = {
    outboundClusterStatName: '%SERVICE%_%SERVICE_NAME%_%SERVICE_FQDN%_%SERVICE_PORT%_%SERVICE_PORT_NAME%_%SUBSET_NAME%',
  };
  assert.equal(cluster({ mesh, subset: 'v1' }).altStatName, 'a.example.com_a.example.com_a.example.com_80_http_v1;');
  const kubernetes = { registry: 'Kubernetes', name: 'a', hostname: 'a.default.svc.cluster.local' } as const;
  assert.equal(cluster({ mesh, service: kubernetes }).altStatName, 'a.default_a_a.default.svc.cluster.local_80_http_;');
});

test('each key of Redis has one endpoint where proxies speak Redis', () => {
  const loadBalancing: TrafficPolicy = { loadBalancer: { simple: 'RANDOM' } };
  const choice = (protocol: Protocol, redis: boolean) =>
    cluster({ protocol, policy: loadBalancing, mesh: { redis } }).lbPolicy;
  assert.equal(choice('Redis', true), 'MAGLEV');
  assert.equal(choice('Redis', false), 'RANDOM');
  assert.equal(choice('TCP', true), 'RANDOM');
});

test('a proxy that tells its peers nothing has no filter for it', () => {
  assert.equal(cluster({ view: { peerExchange: false } }).filters, undefined);
  assert.equal(cluster({}).filters?.length, 1);
  const told = JSON.stringify(cluster({ view: { peerLabels: ['team'] } }).filters);
  assert.match(told, /"additional_labels":\["team"\]/);
});
