import assert from 'node:assert/strict';
import { test } from 'node:test';
import { networkGateways, networkOfAddress } from '../../../src/model/network-gateways.ts';

const networks = {
  networks: {
    narrow: { endpoints: [{ fromCidr: '10.8.1.0/24' }], gateways: [{ address: '203.0.113.1', port: 15443 }] },
    wide: { endpoints: [{ fromCidr: '10.8.0.0/16' }, { fromRegistry: 'other' }] },
  },
};

test('an address is in the network of its cluster, else in the widest block that has it', () => {
  assert.equal(networkOfAddress(networks, '10.8.1.1', 'Kubernetes'), 'wide');
  assert.equal(networkOfAddress(networks, '10.9.0.1', 'Kubernetes'), '');
  assert.equal(networkOfAddress(networks, '10.9.0.1', 'other'), 'wide');
  assert.equal(networkOfAddress({}, '10.9.0.1', 'other'), '');
});

test('gateways of the endpoints’ own cluster are preferred, and weights divide among all', () => {
  const found = ['198.51.100.1', '198.51.100.2', 'door.example.com'].map((address) => ({
    network: 'narrow',
    address,
    port: 15443,
    cluster: 'Kubernetes',
  }));
  const gateways = networkGateways(networks, found, { hostnames: false, clusterId: 'Kubernetes' });
  assert.deepEqual(
    gateways?.byNetwork.get('narrow')?.map(({ address }) => address),
    ['198.51.100.1', '198.51.100.2'],
  );
  assert.equal(gateways?.scale, 6);
  const elsewhere = networkGateways(networks, found, { hostnames: true, clusterId: 'other' });
  assert.deepEqual(
    elsewhere?.byNetwork.get('narrow')?.map(({ address }) => address),
    ['198.51.100.1', '198.51.100.2', '203.0.113.1', 'door.example.com'],
  );
  assert.equal(networkGateways({}, [], { hostnames: true, clusterId: 'other' }), undefined);
});
