import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IstioEgressListener } from '#generated/config/specs.ts';
import type { L4Routes } from '../../../../src/envoy/listeners/l4-routes.ts';
import type { ChainPlan } from '../../../../src/envoy/listeners/outbound-listeners.ts';
import { outboundPlan } from '../../../../src/envoy/listeners/outbound-plan.ts';
import type { PlanView } from '../../../../src/envoy/listeners/plan-view.ts';
import type { Protocol } from '../../../../src/model/protocol.ts';
import type { Service } from '../../../../src/model/service.ts';

const VIEW: PlanView = {
  labels: { app: 'client' },
  namespace: 'default',
  gateways: new Set(['mesh']),
  families: 'IPv4',
  addresses: { ipv4: true, ipv6: false, inCluster: true, autoAddresses: false },
  bindsAll: false,
  limits: { unprivileged: false, reserved: [15001, 15006, 15021], wildcard: '0.0.0.0' },
  dnsDomain: 'default.svc.cluster.local',
  http10: false,
};

function service(hostname: string, ports: Readonly<Record<number, Protocol>>, more: Partial<Service> = {}): Service {
  const address = more.address ?? '0.0.0.0';
  return {
    id: `default/${hostname}/${hostname}/${address}`,
    hostname,
    namespace: 'default',
    name: hostname,
    objectName: hostname,
    registry: 'External',
    ports: Object.entries(ports).map(([port, protocol]) => ({ name: `p${port}`, port: Number(port), protocol })),
    resolution: 'ClientSideLB',
    meshExternal: false,
    address,
    vips: [],
    labels: {},
    serviceAccounts: [],
    aliases: [],
    creationTime: 0,
    config: '',
    ...more,
  };
}

function text({ kind, match, ...chain }: ChainPlan): string {
  const conditions = [
    ...(match.serverNames ?? []).map((name) => `sni ${name}`),
    ...(match.destinations ?? []).map((block) => `to ${block}`),
    ...(match.applicationProtocols === undefined ? [] : ['http']),
  ];
  const target =
    'route' in chain
      ? `route ${chain.route}`
      : 'serviceId' in chain.to
        ? `${chain.to.serviceId.split('/')[1]}:${chain.to.port}`
        : `${chain.to.block} ${chain.to.virtualService} ${chain.to.index}`;
  return `${kind} [${conditions.join(', ')}] ${target}`;
}

interface Setup {
  readonly view?: Partial<PlanView>;
  readonly listener?: IstioEgressListener;
  readonly routes?: readonly L4Routes[];
  readonly endpoints?: readonly (readonly string[])[];
}

function plan(services: readonly Service[], { view = {}, listener, routes = [], endpoints = [] }: Setup = {}) {
  const found = outboundPlan({
    view: { ...VIEW, ...view },
    egress: [{ ...(listener ? { listener } : {}), services, virtualServices: routes }],
    endpointAddresses: () => endpoints,
  });
  return Object.fromEntries([...found.listeners].map(([name, { chains }]) => [name, chains.map(text)]));
}

const HTTP = service('web', { 80: 'HTTP' });

test('HTTP services of a port share one listener, which lets other traffic through', () => {
  assert.deepEqual(plan([HTTP, service('api', { 80: 'GRPC' })]), { '0.0.0.0_80': ['http [http] route 80'] });
});

test('a TCP service is listened for at its address, at the wildcard without one, and as a match of its block', () => {
  assert.deepEqual(
    plan([
      service('a', { 90: 'TCP' }, { address: '10.1.0.1' }),
      service('b', { 90: 'TCP' }),
      service('c', { 90: 'TCP' }, { address: '10.2.0.0/16' }),
    ]),
    { '10.1.0.1_90': ['tcp [] a:90'], '0.0.0.0_90': ['tcp [] b:90', 'tcp [to 10.2.0.0/16] c:90'] },
  );
});

test('TLS services at the wildcard are told apart by name, and at an address of their own not at all', () => {
  assert.deepEqual(plan([service('a', { 443: 'TLS' }), service('b', { 443: 'HTTPS' }, { address: '10.1.0.1' })]), {
    '0.0.0.0_443': ['tcp [sni a] a:443'],
    '10.1.0.1_443': ['tcp [] b:443'],
  });
});

test('a port of unknown protocol is looked into, with a route configuration of its own at its own address', () => {
  const u = service('u', { 70: 'Unsupported' }, { address: '10.1.0.1' });
  assert.deepEqual(plan([u, service('w', { 70: 'Unsupported' })]), {
    '10.1.0.1_70': ['tcp [] u:70', 'http [http] route u:70'],
    '0.0.0.0_70': ['tcp [] w:70', 'http [http] route 70'],
  });
});

test('who comes first keeps a place, and HTTP and TCP on it are told apart', () => {
  const tcp = service('t', { 80: 'TCP' });
  assert.deepEqual(plan([HTTP, tcp])['0.0.0.0_80'], ['http [http] route 80', 'tcp [] t:80']);
  assert.deepEqual(plan([tcp, HTTP])['0.0.0.0_80'], ['tcp [] t:80', 'http [http] route 80']);
  assert.deepEqual(plan([tcp, service('second', { 80: 'TCP' })])['0.0.0.0_80'], ['tcp [] t:80']);
  assert.deepEqual(plan([tcp, service('u', { 80: 'Unsupported' })])['0.0.0.0_80'], [
    'tcp [] t:80',
    'http [http] route 80',
  ]);
  assert.deepEqual(plan([service('u', { 80: 'Unsupported' }), service('v', { 80: 'Unsupported' })])['0.0.0.0_80'], [
    'tcp [] u:80',
    'http [http] route 80',
  ]);
});

test('a protocol whose server speaks first shares a port with its own kind only', () => {
  const mysql = service('m', { 80: 'MySQL' });
  assert.deepEqual(plan([mysql, HTTP])['0.0.0.0_80'], ['tcp [] m:80']);
  assert.deepEqual(plan([HTTP, mysql])['0.0.0.0_80'], ['http [http] route 80']);
  assert.deepEqual(plan([mysql, service('n', { 80: 'MySQL' }, { address: '10.0.0.0/8' })])['0.0.0.0_80'], [
    'tcp [] m:80',
    'tcp [to 10.0.0.0/8] n:80',
  ]);
});

test('names of other services and UDP ports have no listener', () => {
  assert.deepEqual(plan([service('alias', { 80: 'HTTP' }, { resolution: 'Alias' }), service('u', { 53: 'UDP' })]), {});
});

test('each endpoint of a headless service is listened for, but not the proxy itself', () => {
  const headless = service('h', { 90: 'TCP' }, { resolution: 'Passthrough', registry: 'Kubernetes' });
  const endpoints = [['10.3.0.1'], ['10.3.0.2', '2001:db8::2'], ['host.name']];
  assert.deepEqual(plan([headless], { endpoints, view: { ownAddress: '10.3.0.1' } }), {
    '10.3.0.2_90': ['tcp [] h:90'],
  });
  assert.deepEqual(plan([headless], { endpoints: [] }), {});
});

test('HTTP ports of a headless service are not listened for by endpoint', () => {
  const headless = service('h', { 90: 'HTTP' }, { resolution: 'Passthrough', registry: 'Kubernetes' });
  assert.deepEqual(plan([headless], { endpoints: [['10.3.0.1']] }), { '0.0.0.0_90': ['http [http] route 90'] });
});

test('a ServiceEntry whose endpoints nobody knows is listened for at the wildcard', () => {
  const open = service('o', { 90: 'TCP' }, { resolution: 'Passthrough' });
  assert.deepEqual(plan([open]), { '0.0.0.0_90': ['tcp [] o:90'] });
  assert.deepEqual(plan([{ ...open, selector: { app: 'a' } }]), {});
});

test("an egress listener's port takes the place of the services' ports", () => {
  const listener = { hosts: ['*/*'], port: { number: 9999, protocol: 'TCP', name: 'tcp' }, bind: '127.0.0.3' };
  assert.deepEqual(plan([service('one', { 90: 'TCP' }), service('two', { 80: 'TCP', 81: 'TCP' })], { listener }), {
    '127.0.0.3_9999': ['tcp [] one:90'],
  });
});

test('a Unix socket has one listener, whose route configuration is named after it', () => {
  const listener = { hosts: ['*/*'], port: { number: 0, protocol: 'HTTP', name: 'http' }, bind: 'unix:///tmp/a' };
  assert.deepEqual(plan([HTTP], { listener }), { 'unix:///tmp/a_0': ['http [] route unix:///tmp/a'] });
});

test('where nothing is redirected listeners are bound to loopback', () => {
  assert.deepEqual(
    Object.keys(plan([HTTP, service('t', { 90: 'TCP' }, { address: '10.1.0.1' })], { view: { bindsAll: true } })),
    ['127.0.0.1_80', '127.0.0.1_90'],
  );
});

test('what a narrower egress listener has chosen a wider one does not change', () => {
  const port = { number: 80, protocol: 'HTTP', name: 'http' };
  const found = outboundPlan({
    view: VIEW,
    egress: [
      { listener: { hosts: ['./web'], port }, services: [HTTP], virtualServices: [] },
      { listener: { hosts: ['*/*'] }, services: [service('t', { 80: 'TCP', 81: 'TCP' })], virtualServices: [] },
    ],
    endpointAddresses: () => [],
  });
  assert.deepEqual(
    [...found.listeners].map(([name, { chains }]) => [name, chains.length]),
    [
      ['0.0.0.0_80', 1],
      ['0.0.0.0_81', 1],
    ],
  );
});

test('ports that the proxy has itself, or may not bind, are left out', () => {
  assert.deepEqual(plan([service('own', { 15001: 'HTTP', 15021: 'GRPC' })]), {});
  assert.deepEqual(Object.keys(plan([service('own', { 15001: 'TCP' }, { address: '10.1.0.1' })])), ['10.1.0.1_15001']);
  const view = { bindsAll: true, limits: { ...VIEW.limits, unprivileged: true } };
  assert.deepEqual(Object.keys(plan([service('low', { 80: 'HTTP', 8080: 'HTTP' })], { view })), ['127.0.0.1_8080']);
});

test('a proxy with two families binds both, and one with IPv6 alone its own wildcard', () => {
  const binds = (families: PlanView['families']) => {
    const addresses = { ...VIEW.addresses, ipv4: families !== 'IPv6', ipv6: true };
    const view = { ...VIEW, families, addresses, limits: { ...VIEW.limits, wildcard: '::' } };
    const egress = [{ services: [HTTP, service('t', { 90: 'TCP' })], virtualServices: [] }];
    return [...outboundPlan({ view, egress, endpointAddresses: () => [] }).listeners.values()].map((l) => l.binds);
  };
  assert.deepEqual(binds('dual-IPv4'), [
    ['0.0.0.0', '::'],
    ['0.0.0.0', '::'],
  ]);
  assert.deepEqual(binds('IPv6'), [['::'], ['::']]);
});

const routes = (parts: Partial<L4Routes>): L4Routes => ({
  key: 'vs',
  hosts: ['*'],
  path: '/apis/vs',
  tls: [],
  tcp: [],
  ...parts,
});

test('TCP routes are taken up to the first that takes all, and else the service itself is left', () => {
  const tcp = service('t', { 90: 'TCP' }, { address: '10.1.0.1' });
  const chains = (...all: L4Routes['tcp']) => plan([tcp], { routes: [routes({ tcp: all })] })['10.1.0.1_90'];
  assert.deepEqual(chains([{ destinationSubnets: ['10.9.0.0/16'] }], 'any', 'any'), [
    'tcp [to 10.9.0.0/16] tcp vs 0',
    'tcp [] tcp vs 1',
  ]);
  assert.deepEqual(chains([{ destinationSubnets: ['10.9.0.0/16'] }]), ['tcp [to 10.9.0.0/16] tcp vs 0', 'tcp [] t:90']);
  assert.deepEqual(chains([{ sourceLabels: { app: 'other' } }], [{ sourceLabels: { app: 'client' } }]), [
    'tcp [] tcp vs 1',
  ]);
  assert.deepEqual(chains([{ port: 91 }, { gateways: ['other/gw'] }, { sourceNamespace: 'other' }]), ['tcp [] t:90']);
  assert.deepEqual(chains([{ port: 90, gateways: ['mesh'], sourceNamespace: 'default' }]), ['tcp [] tcp vs 0']);
});

test('TLS routes are taken by server name, each condition once, and leave nothing for the service', () => {
  const tls = service('t', { 443: 'TLS' });
  const chains = (...all: L4Routes['tls']) => plan([tls], { routes: [routes({ tls: all })] })['0.0.0.0_443'];
  assert.deepEqual(
    chains(
      [{ sniHosts: ['a'] }],
      [{ sniHosts: ['a'] }, { sniHosts: ['b'], destinationSubnets: ['10.0.0.0/8'] }],
      [{ sniHosts: ['c'] }],
    ),
    ['tcp [sni a] tls vs 0', 'tcp [sni b, to 10.0.0.0/8] tls vs 1', 'tcp [sni c, to 10.0.0.0/8] tls vs 2'],
  );
  assert.deepEqual(chains([{ sniHosts: ['a'], port: 444 }]), ['tcp [sni t] t:443']);
});

test('routes of another host are not looked at', () => {
  const tcp = service('t.example.com', { 90: 'TCP' });
  const of = (host: string) => plan([tcp], { routes: [routes({ hosts: [host], tcp: ['any'] })] })['0.0.0.0_90'];
  assert.deepEqual(of('*.example.com'), ['tcp [] tcp vs 0']);
  assert.deepEqual(of('t.example.org'), ['tcp [] t.example.com:90']);
});

test('a wildcard host is resolved by the name that clients ask for, on its own address too', () => {
  const wild = service('*.x.com', { 443: 'TLS', 80: 'HTTP' }, { resolution: 'DynamicDNS', address: '240.240.0.1' });
  const found = outboundPlan({
    view: VIEW,
    egress: [{ services: [wild], virtualServices: [] }],
    endpointAddresses: () => [],
  }).listeners;
  assert.deepEqual(found.get('240.240.0.1_443')?.chains[0]?.match, { serverNames: ['*.x.com'] });
  const [http] = found.get('0.0.0.0_80')?.chains ?? [];
  assert.equal(http?.kind === 'http' && http.dynamicHost, '*.x.com');
});
