import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Endpoint } from '../../../src/model/endpoint.ts';
import { headlessNames } from '../../../src/model/name-table.ts';

const SERVICE = { hostname: 'web.default.svc.cluster.local' };
const HERE = { network: 'net-1', clusterId: 'here' };

function pod(name: string, address: string, more: Partial<Endpoint> = {}): Endpoint {
  return {
    addresses: [address],
    port: 80,
    servicePortName: 'http',
    servicePort: 80,
    labels: {},
    serviceAccount: '',
    network: '',
    locality: '',
    clusterId: 'here',
    weight: 0,
    tlsMode: 'disabled',
    namespace: 'default',
    workloadName: name,
    health: 'Healthy',
    hostName: name,
    subDomain: 'web',
    ...more,
  };
}

const addresses = (...endpoints: readonly Endpoint[]) => headlessNames(SERVICE, endpoints, HERE).addresses;

test('a pod is named once, however many ports it has, by its host name and subdomain', () => {
  const names = headlessNames(SERVICE, [pod('web-0', '10.1.0.1'), pod('web-0', '10.1.0.1', { port: 81 })], HERE);
  const own = { host: 'web-0.web.default.svc.cluster.local', shortname: 'web-0.web', addresses: ['10.1.0.1'] };
  assert.deepEqual(names, { addresses: ['10.1.0.1'], pods: [own] });
});

test('pods that are not ready, of other networks, or without an IP have no name', () => {
  assert.deepEqual(addresses(pod('a', '10.1.0.1', { health: 'UnHealthy' })), []);
  assert.deepEqual(addresses(pod('a', '10.1.0.1', { health: 'Unknown' })), []);
  assert.deepEqual(addresses(pod('a', '10.1.0.1', { network: 'net-2' })), []);
  assert.deepEqual(addresses(pod('a', 'a.internal')), []);
  assert.deepEqual(addresses(pod('a', '10.1.0.1', { network: 'net-1' })), ['10.1.0.1']);
});

test('pods that are not ready are named where the service wants it', () => {
  const ready = { ...SERVICE, publishNotReadyAddresses: true };
  const names = headlessNames(ready, [pod('a', '10.1.0.1', { health: 'UnHealthy' })], HERE);
  assert.deepEqual(names.addresses, ['10.1.0.1']);
});

test('of pods with one name those of the proxy’s own cluster count; the service has all', () => {
  const far = pod('web-0', '10.2.0.1', { clusterId: 'there' });
  const names = headlessNames(
    SERVICE,
    [far, pod('web-0', '10.1.0.1'), pod('web-1', '10.2.0.2', { clusterId: 'there' })],
    HERE,
  );
  assert.deepEqual(names.addresses, ['10.2.0.1', '10.1.0.1', '10.2.0.2']);
  assert.deepEqual(
    names.pods.map(({ shortname, addresses }) => [shortname, addresses]),
    [
      ['web-0.web', ['10.1.0.1']],
      ['web-1.web', ['10.2.0.2']],
    ],
  );
});

test('a pod without a subdomain has no name of its own', () => {
  assert.deepEqual(headlessNames(SERVICE, [pod('a', '10.1.0.1', { subDomain: '' })], HERE).pods, []);
});
