import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Domains, serviceDomains } from '../../../../src/envoy/routes/domains.ts';
import {
  type PlannedVirtualService,
  type RegisteredService,
  registryOfPort,
  virtualHostPlan,
} from '../../../../src/envoy/routes/virtual-host-plan.ts';
import type { Service } from '../../../../src/model/service.ts';
import { service } from './fixtures.ts';

const vs = (
  key: string,
  hosts: readonly string[],
  more: Partial<PlannedVirtualService> = {},
): PlannedVirtualService => ({
  key,
  namespace: 'default',
  hosts,
  gatewaySemantics: false,
  ...more,
});

interface Options {
  readonly port?: number;
  readonly mostSpecific?: Readonly<Record<string, string>>;
  readonly clientNamespace?: string;
}

function planned(
  services: readonly Service[],
  virtualServices: readonly PlannedVirtualService[] = [],
  { port = 80, mostSpecific = {}, clientNamespace = 'default' }: Options = {},
) {
  const domainsOf = ({ hostname, service: { address } }: RegisteredService, suffix: number): Domains =>
    serviceDomains({
      hostname,
      aliases: [],
      addresses: address === '0.0.0.0' ? [] : [address],
      headless: false,
      port: port === 0 ? suffix : 0,
      dnsDomain: 'default.svc.cluster.local',
    });
  return virtualHostPlan({
    listenPort: port,
    registry: registryOfPort(services, port),
    virtualServices,
    mostSpecific: new Map(Object.entries(mostSpecific)),
    clientNamespace,
    withPort: false,
    domainsOf,
  }).hosts;
}

const summary = (plan: ReturnType<typeof planned>) => plan.map(({ name, virtualService }) => [name, virtualService]);

test('services without a VirtualService stand for themselves, in order of names', () => {
  const services = [
    service('b.com', { ports: { 80: 'HTTP', 81: 'HTTP' } }),
    service('a.com', { ports: { 80: 'Unsupported' } }),
    service('tcp.com', { ports: { 80: 'TCP' } }),
    service('elsewhere.com', { ports: { 81: 'HTTP' } }),
    service('alias.com', { resolution: 'Alias' }),
  ];
  assert.deepEqual(summary(planned(services)), [
    ['a.com:80', undefined],
    ['b.com:80', undefined],
  ]);
});

test('hosts that are no services have routes on port 80 alone', () => {
  const outside = [vs('outside', ['outside.com'])];
  assert.deepEqual(summary(planned([], outside)), [['outside.com:80', 'outside']]);
  assert.deepEqual(summary(planned([service('a.com', { ports: { 81: 'HTTP' } })], outside, { port: 81 })), [
    ['a.com:81', undefined],
  ]);
  const both = [vs('both', ['outside.com', 'a.com'])];
  assert.deepEqual(summary(planned([service('a.com', { ports: { 81: 'HTTP' } })], both, { port: 81 })), [
    ['a.com:81', 'both'],
    ['outside.com:81', 'both'],
  ]);
});

test('the first VirtualService that names a host has it', () => {
  const rivals = [vs('first', ['a.com']), vs('second', ['a.com', 'b.com'])];
  assert.deepEqual(summary(planned([service('a.com')], rivals)), [
    ['a.com:80', 'first'],
    ['b.com:80', 'second'],
  ]);
});

test('a wildcard takes the services that no other VirtualService names more specifically', () => {
  const services = [service('a.x.com'), service('b.x.com'), service('c.com')];
  const rules = [vs('wide', ['*.x.com']), vs('exact', ['a.x.com'])];
  const mostSpecific = { 'a.x.com': 'exact', 'b.x.com': 'wide' };
  assert.deepEqual(summary(planned(services, rules, { mostSpecific })), [
    ['a.x.com:80', 'exact'],
    ['b.x.com:80', 'wide'],
    ['c.com:80', undefined],
  ]);
  assert.deepEqual(summary(planned([service('c.com')], [vs('wide', ['*.x.com'])])), [
    ['*.x.com:80', 'wide'],
    ['c.com:80', undefined],
  ]);
});

test('a Gateway API route counts for its own namespace and for services of it, and its wildcard for itself', () => {
  const route = vs('route', ['a.com'], { namespace: 'team', gatewaySemantics: true });
  const plan = (namespace: string, clientNamespace: string) =>
    summary(planned([service('a.com', { namespace })], [route], { clientNamespace }));
  assert.deepEqual(plan('team', 'default'), [['a.com:80', 'route']]);
  assert.deepEqual(plan('default', 'team'), [['a.com:80', 'route']]);
  assert.deepEqual(plan('default', 'default'), [['a.com:80', undefined]]);
});

test('a short form gives way to the service that has it in full, and a name goes to the first that wants it', () => {
  const long = service('a.default.svc.cluster.local', { address: '10.0.0.1' });
  const plan = planned([service('a.default', { address: '10.0.0.1' }), long]);
  const domains = Object.fromEntries(plan.map(({ name, domains: d }) => [name, d]));
  assert.deepEqual(domains['a.default:80'], ['a.default', 'a.default.', '10.0.0.1']);
  assert.deepEqual(domains['a.default.svc.cluster.local:80'], [
    'a.default.svc.cluster.local',
    'a.default.svc.cluster.local.',
    'a',
    'a.default.svc',
  ]);
});

test('a configuration for all ports holds names with ports, and on port 80 those without as well', () => {
  const plan = planned([service('a.com', { ports: { 80: 'HTTP', 81: 'GRPC' } })], [], { port: 0 });
  assert.deepEqual(
    plan.map(({ name, domains }) => [name, domains]),
    [
      ['a.com:80', ['a.com', 'a.com:80', 'a.com.', 'a.com.:80']],
      ['a.com:81', ['a.com:81', 'a.com.:81']],
    ],
  );
});

test('of several services with one host the last counts, with all addresses of its object', () => {
  const twice = [service('a.com', { address: '10.0.0.1' }), service('a.com', { address: '10.0.0.2' })];
  const registered = registryOfPort([...twice, service('b.com')], 80).get('a.com');
  assert.equal(registered?.service.address, '10.0.0.2');
  assert.deepEqual(
    registered?.others.map(({ address }) => address),
    ['10.0.0.1'],
  );
  const other = service('a.com', { address: '10.0.0.3', config: 'another' });
  assert.deepEqual(registryOfPort([...twice, other], 80).get('a.com')?.others, []);
});

test('a port of UDP is none that requests come to, whatever else has its number', () => {
  const both = service('a.com');
  const http = { name: 'http', port: 80, protocol: 'HTTP' } as const;
  const udp = { name: 'quic', port: 80, protocol: 'UDP' } as const;
  assert.deepEqual(registryOfPort([{ ...both, ports: [udp, http] }], 80).get('a.com')?.ports, [http]);
  assert.equal(registryOfPort([{ ...both, ports: [udp] }], 80).size, 0);
});

test('every name of a configuration is unique, whatever the services and VirtualServices', () => {
  const host = fc.constantFrom(
    'a',
    'b',
    'a.default',
    'a.default.svc.cluster.local',
    'b.other.svc.cluster.local',
    'A.com',
    '*.com',
    '*',
  );
  const services = fc.array(fc.record({ hostname: host, address: fc.constantFrom('0.0.0.0', '10.0.0.1', '10.0.0.2') }));
  const rules = fc.array(fc.array(host, { minLength: 1, maxLength: 3 }));
  fc.assert(
    fc.property(services, rules, fc.constantFrom(0, 80), (wanted, hosts, port) => {
      const plan = planned(
        wanted.map(({ hostname, address }) => service(hostname, { address })),
        hosts.map((of, i) => vs(`vs${i}`, of)),
        { port },
      );
      const domains = plan.flatMap((entry) => entry.domains.map((domain) => domain.toLowerCase()));
      assert.equal(new Set(domains).size, domains.length);
      assert.equal(new Set(plan.map(({ name }) => name)).size, plan.length);
    }),
  );
});
