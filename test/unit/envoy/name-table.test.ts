import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AddressView } from '../../../src/envoy/listeners/service-address.ts';
import { nameTable } from '../../../src/envoy/name-table.ts';
import type { HeadlessNames } from '../../../src/model/name-table.ts';
import { type Service, UNSPECIFIED_ADDRESS } from '../../../src/model/service.ts';

const VIEW: AddressView = { ipv4: true, ipv6: false, inCluster: true, autoAddresses: true };

function service(hostname: string, address: string, more: Partial<Service> = {}): Service {
  return {
    id: `default/${hostname}/${hostname}/${address}`,
    hostname,
    namespace: 'default',
    name: hostname.split('.')[0] ?? '',
    objectName: hostname,
    registry: 'External',
    ports: [{ name: 'http', port: 80, protocol: 'HTTP' }],
    resolution: 'ClientSideLB',
    meshExternal: false,
    address,
    vips: address === UNSPECIFIED_ADDRESS ? [] : [address],
    labels: {},
    serviceAccounts: [],
    aliases: [],
    creationTime: 0,
    config: 'networking.istio.io/ServiceEntry/default/x',
    ...more,
  };
}

const KUBE = { registry: 'Kubernetes' } as const;
const PODS: HeadlessNames = {
  addresses: ['10.1.0.1', '10.1.0.2'],
  pods: [{ host: 'web-0.web.default', shortname: 'web-0.web', addresses: ['10.1.0.1'] }],
};

const table = (services: readonly Service[], view = VIEW) => nameTable(services, view, () => PODS).table;

test('a name has all addresses of ServiceEntries, each as often as the services that have it', () => {
  const services = [service('a.ext', '10.0.0.1'), service('a.ext', '10.0.0.2'), service('a.ext', '10.0.0.1')];
  assert.deepEqual(table(services), { 'a.ext': { ips: ['10.0.0.1', '10.0.0.2', '10.0.0.1'], registry: 'External' } });
});

test('a Kubernetes Service has its name alone, wherever it stands', () => {
  const kube = service('a.ext', '10.96.0.1', KUBE);
  const entry = service('a.ext', '10.0.0.1');
  const expected = { 'a.ext': { ips: ['10.96.0.1'], registry: 'Kubernetes', shortname: 'a', namespace: 'default' } };
  assert.deepEqual(table([kube, entry]), expected);
  assert.deepEqual(table([entry, kube]), expected);
});

test('blocks of addresses, names without any, and aliases are left out; wildcards are names', () => {
  const services = [
    service('block.ext', '10.0.0.0/24'),
    service('none.ext', UNSPECIFIED_ADDRESS),
    service('alias.ext', UNSPECIFIED_ADDRESS, { ...KUBE, resolution: 'Alias' }),
    service('*.wild.ext', '10.0.0.1'),
  ];
  assert.deepEqual(Object.keys(table(services) ?? {}), ['*.wild.ext']);
});

test('allocated addresses are those of the families of the proxy, where its names are resolved', () => {
  const services = [service('a.ext', UNSPECIFIED_ADDRESS, { autoAddress: { v4: '240.240.1.1', v6: '2001:2::1' } })];
  const ips = (view: AddressView) => table(services, view)?.['a.ext']?.ips;
  assert.deepEqual(ips(VIEW), ['240.240.1.1']);
  assert.deepEqual(ips({ ...VIEW, ipv6: true }), ['240.240.1.1', '2001:2::1']);
  assert.deepEqual(ips({ ...VIEW, autoAddresses: false }), undefined);
});

test('a headless service has its pods, and each pod its own name', () => {
  const services = [service('web.default', UNSPECIFIED_ADDRESS, { ...KUBE, resolution: 'Passthrough' })];
  const about = { registry: 'Kubernetes', namespace: 'default' };
  assert.deepEqual(table(services), {
    'web-0.web.default': { ips: ['10.1.0.1'], shortname: 'web-0.web', ...about },
    'web.default': { ips: ['10.1.0.1', '10.1.0.2'], shortname: 'web', ...about },
  });
});
