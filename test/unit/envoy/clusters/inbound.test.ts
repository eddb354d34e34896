import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type InboundClusterInput,
  type InboundService,
  inboundCluster,
  ingressEndpoint,
} from '../../../../src/envoy/clusters/inbound.ts';
import { encodeMessage } from '../../../../src/proto/message.ts';

const service = (hostname: string, port = 80, more: Partial<InboundService['service']> = {}): InboundService => ({
  service: { hostname, name: hostname, namespace: 'default', registry: 'External', meshExternal: false, ...more },
  port: { name: 'http', port, protocol: 'HTTP' },
});
const cluster = (more: Partial<InboundClusterInput>) => {
  const made = inboundCluster({
    port: 8080,
    services: [service('a.example.com')],
    endpoint: undefined,
    policy: undefined,
    rule: undefined,
    sidecarPool: undefined,
    mesh: { connectTimeout: '10s', enableAutoMtls: true },
    preserveHeaderCase: false,
    families: 'IPv4',
    dualStack: false,
    ...more,
  });
  encodeMessage('envoy.config.cluster.v3.Cluster', made);
  return made;
};

test("a Sidecar's listener sends to the loopback, to the proxy's own address, or to a socket", () => {
  const ips = ['10.0.0.9', 'fd00::9'];
  const to = (defaultEndpoint: string, families: InboundClusterInput['families'] = 'dual-IPv4', own = ips) =>
    ingressEndpoint({ defaultEndpoint }, families, own);
  assert.equal(to(''), undefined);
  assert.deepEqual(to('unix:///run/app.sock'), { unixPath: '/run/app.sock' });
  assert.deepEqual(to('127.0.0.1:80'), { address: '127.0.0.1', port: 80 });
  assert.deepEqual(to('127.0.0.1:80', 'IPv6'), { address: '::1', port: 80 });
  assert.deepEqual(to('[::1]:80', 'IPv4'), { address: '127.0.0.1', port: 80 });
  assert.deepEqual(to('0.0.0.0:80'), { address: '10.0.0.9', port: 80 });
  assert.deepEqual(to('[::]:80'), { address: 'fd00::9', port: 80 });
  assert.deepEqual(to('0.0.0.0:80', 'IPv6', ['fd00::9']), { address: '127.0.0.1', port: 80 });
  assert.equal(to('nonsense'), null);
});

test('traffic to anything but the loopback leaves from the address that capture lets through', () => {
  const bind = (more: Partial<InboundClusterInput>) => cluster(more).upstreamBindConfig;
  assert.equal(bind({})?.sourceAddress?.address, '127.0.0.6');
  assert.equal(bind({ families: 'IPv6' })?.sourceAddress?.address, '::6');
  assert.equal(bind({ families: 'dual-IPv6' })?.extraSourceAddresses, undefined);
  const dual = bind({ families: 'dual-IPv4', dualStack: true });
  assert.deepEqual(dual?.extraSourceAddresses, [{ address: { address: '::6', portValue: 0 } }]);
  assert.equal(bind({ endpoint: { address: '127.0.0.1', port: 80 } }), undefined);
});

test('telemetry learns of all services on the port, each once', () => {
  const services = [service('a'), service('b'), service('a'), service('c', 81)] as const;
  assert.deepEqual(cluster({ services }).metadata?.filterMetadata?.['istio'], {
    services: [
      { host: 'a', name: 'a', namespace: 'default' },
      { host: 'b', name: 'b', namespace: 'default' },
    ],
  });
  assert.equal(cluster({ services: [service('a', 80, { meshExternal: true })] }).metadata, undefined);
});

test("the Sidecar's connection pool wins over the rule's", () => {
  const limit = (more: Partial<InboundClusterInput>) => cluster(more).circuitBreakers?.thresholds?.[0]?.maxConnections;
  const policy = {
    connectionPool: { tcp: { maxConnections: 5 } },
    outlierDetection: {},
    tls: { mode: 'SIMPLE' },
  } as const;
  assert.equal(limit({ policy }), 5);
  assert.equal(limit({ policy, sidecarPool: { tcp: { maxConnections: 6 } } }), 6);
  const { outlierDetection, transportSocket } = cluster({ policy });
  assert.deepEqual([outlierDetection, transportSocket], [undefined, undefined]);
});
