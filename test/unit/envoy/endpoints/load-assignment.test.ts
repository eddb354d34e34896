import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type EndpointsInput,
  endpointGroups,
  endpointsOf,
  isAddress,
  loadAssignment,
} from '../../../../src/envoy/endpoints/load-assignment.ts';
import type { Endpoint } from '../../../../src/model/endpoint.ts';
import { networkGateways } from '../../../../src/model/network-gateways.ts';

const endpoint = (address: string, more: Partial<Endpoint> = {}): Endpoint => ({
  addresses: [address],
  port: 8080,
  servicePortName: 'http',
  servicePort: 80,
  labels: {},
  serviceAccount: '',
  network: '',
  locality: '',
  clusterId: 'c1',
  weight: 0,
  tlsMode: 'istio',
  namespace: 'default',
  workloadName: 'w',
  health: 'Unknown',
  ...more,
});
const input = (endpoints: readonly Endpoint[], more: Partial<EndpointsInput> = {}): EndpointsInput => ({
  service: {},
  endpoints,
  view: {},
  speaksMtls: ({ tlsMode }) => tlsMode === 'istio',
  unhealthy: true,
  dualStack: false,
  mtlsOnly: false,
  outlierDetection: false,
  ...more,
});
const addresses = (given: EndpointsInput): readonly string[] =>
  endpointGroups(given).flatMap(({ endpoints }) =>
    endpoints.map(({ message, weight }) => {
      const { socketAddress, pipe } = message.endpoint?.address ?? {};
      return `${socketAddress?.address ?? pipe?.path}:${socketAddress?.portValue ?? ''} w${weight}`;
    }),
  );

test('an assignment groups endpoints by locality, in order of names, and sums their weights', () => {
  const groups = endpointGroups(
    input([
      endpoint('10.0.0.1', { locality: 'r2/z1' }),
      endpoint('10.0.0.2', { weight: 5 }),
      endpoint('10.0.0.3', { locality: 'r2/z1', weight: 2 }),
    ]),
  );
  const { endpoints = [] } = loadAssignment('c', groups);
  assert.deepEqual(
    endpoints.map(({ locality, loadBalancingWeight }) => [locality, loadBalancingWeight]),
    [
      [{}, 5],
      [{ region: 'r2', zone: 'z1' }, 3],
    ],
  );
  assert.deepEqual(loadAssignment('c', []), { clusterName: 'c' });
});

test('an endpoint says who it is, and that it speaks mutual TLS only where the client would', () => {
  const labels = { app: 'a', 'app.kubernetes.io/name': 'b', version: 'latest' };
  const [group] = endpointGroups(
    input([endpoint('10.0.0.1', { labels }), endpoint('10.0.0.2', { tlsMode: 'disabled' })]),
  );
  assert.deepEqual(
    group?.endpoints.map(({ message }) => message.metadata?.filterMetadata),
    [
      { 'envoy.transport_socket_match': { tlsMode: 'istio' }, istio: { workload: 'w;default;b;;c1' } },
      { istio: { workload: 'w;default;w;;c1' } },
    ],
  );
});

test('endpoints are left out by what is known of their health', () => {
  const all = [
    endpoint('10.0.0.1', { health: 'Healthy' }),
    endpoint('10.0.0.2', { health: 'UnHealthy' }),
    endpoint('10.0.0.3', { health: 'Terminating' }),
    endpoint('10.0.0.4', { health: 'Draining' }),
    endpoint('10.0.0.5', { health: 'Healthy', labels: { 'istio.io/draining': 'true' } }),
  ];
  const sent = (more: Partial<EndpointsInput>) =>
    endpointGroups(input(all, more)).flatMap(({ endpoints }) => endpoints.map(({ message }) => message.healthStatus));
  assert.deepEqual(sent({}), ['HEALTHY', 'UNHEALTHY']);
  assert.deepEqual(sent({ unhealthy: false }), ['HEALTHY']);
  assert.deepEqual(sent({ service: { persistentSession: { cookie: 'c' } } }), [
    'HEALTHY',
    'UNHEALTHY',
    'DRAINING',
    'DRAINING',
  ]);
  assert.deepEqual(sent({ service: { persistentSession: { header: 'h' } } }), ['HEALTHY', 'UNHEALTHY']);
});

test('a view hides other nodes, other clusters and networks that were not asked for', () => {
  const all = [
    endpoint('10.0.0.1', { nodeName: 'n1', network: 'net1' }),
    endpoint('10.0.0.2', { nodeName: 'n2', clusterId: 'c2' }),
  ];
  assert.deepEqual(addresses(input(all, { view: { nodeName: 'n1' } })), ['10.0.0.1:8080 w1']);
  const unplaced = [...all, endpoint('10.0.0.4')];
  assert.deepEqual(addresses(input(unplaced, { view: { nodeName: '' } })), ['10.0.0.4:8080 w1']);
  assert.deepEqual(addresses(input(all, { view: { clusterId: 'c2' } })), ['10.0.0.2:8080 w1']);
  assert.deepEqual(addresses(input(all, { view: { visibleNetworks: ['net2'] } })), ['10.0.0.2:8080 w1']);
});

test('a port is found by name for EDS and by number for names that the proxy looks up', () => {
  const all = [
    endpoint('10.0.0.1', { labels: { version: 'v1' } }),
    endpoint('10.0.0.2', { servicePortName: 'other' }),
    endpoint('10.0.0.3', { servicePort: 81 }),
  ];
  const found = (port: Parameters<typeof endpointsOf>[1], subset?: Readonly<Record<string, string>>) =>
    endpointsOf(all, port, subset).map(({ addresses: [first] }) => first);
  assert.deepEqual(found({ name: 'http' }), ['10.0.0.1', '10.0.0.3']);
  assert.deepEqual(found({ number: 80 }), ['10.0.0.1', '10.0.0.2']);
  assert.deepEqual(found({ name: 'http' }, { version: 'v1' }), ['10.0.0.1']);
});

test('EDS takes addresses and sockets, no names', () => {
  assert(isAddress(endpoint('10.0.0.1')));
  assert(isAddress(endpoint('fd00::1')));
  assert(isAddress(endpoint('/run/app.sock', { port: 0 })));
  assert(!isAddress(endpoint('db.example.com')));
});

test('a socket is a pipe, and further addresses are sent where both families are on', () => {
  assert.deepEqual(addresses(input([endpoint('/run/app.sock', { port: 0 })])), ['/run/app.sock: w1']);
  const dual = [endpoint('10.0.0.1', { addresses: ['10.0.0.1', 'fd00::1'] })];
  const further = (dualStack: boolean) =>
    endpointGroups(input(dual, { dualStack }))[0]?.endpoints[0]?.message.endpoint?.additionalAddresses;
  assert.equal(further(false), undefined);
  assert.deepEqual(further(true), [{ address: { socketAddress: { address: 'fd00::1', portValue: 8080 } } }]);
});

test('endpoints of other networks become the gateways of those, with the weights of what is behind them', () => {
  const gateways = networkGateways(
    {
      networks: {
        net1: { gateways: [{ address: '203.0.113.1', port: 15443 }] },
        net2: {
          gateways: [
            { address: '203.0.113.2', port: 15443 },
            { address: '203.0.113.3', port: 15443 },
            { address: 'gateway.example.com', port: 15443 },
          ],
        },
      },
    },
    [],
    { hostnames: false, clusterId: '' },
  );
  const all = [
    endpoint('10.1.0.1', { network: 'net1' }),
    endpoint('10.2.0.1', { network: 'net2', weight: 3 }),
    endpoint('10.2.0.2', { network: 'net2', tlsMode: 'disabled' }),
    endpoint('10.3.0.1', { network: 'net3' }),
    endpoint('10.4.0.1'),
    endpoint('', { network: 'net3' }),
  ];
  const seen = (network: string) =>
    addresses(input(all, { gateways, view: { network: { network, ipv4: true, ipv6: false } } }));
  assert.deepEqual(seen('net1'), [
    '10.1.0.1:8080 w2',
    '10.3.0.1:8080 w2',
    '10.4.0.1:8080 w2',
    '203.0.113.2:15443 w3',
    '203.0.113.3:15443 w3',
  ]);
  assert.deepEqual(seen(''), [
    '10.3.0.1:8080 w2',
    '10.4.0.1:8080 w2',
    '203.0.113.1:15443 w2',
    '203.0.113.2:15443 w3',
    '203.0.113.3:15443 w3',
  ]);
  const six = input(all, { gateways, view: { network: { network: 'net1', ipv4: false, ipv6: true } } });
  assert.deepEqual(addresses(six), ['10.1.0.1:8080 w2', '10.3.0.1:8080 w2', '10.4.0.1:8080 w2']);
});

test('a gateway that passes TLS on unopened is sent only what takes it', () => {
  const all = [endpoint('10.0.0.1'), endpoint('10.0.0.2', { tlsMode: 'disabled' })];
  assert.deepEqual(addresses(input(all, { mtlsOnly: true })), ['10.0.0.1:8080 w1']);
});
