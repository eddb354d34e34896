import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identityProblem, keyAccess } from '../../../src/istiod/key-access.ts';
import type { Peer } from '../../../src/xds/provider.ts';

const NODE = { id: 'router~10.0.0.1~gw.edge~edge.svc.cluster.local', metadata: {}, extensions: [] };
const over = (peer: Partial<Peer>): Peer => ({ address: 'a', encrypted: false, identities: [], ...peer });
const tls = (...identities: readonly string[]): Peer => over({ encrypted: true, identities });

test('keys go over a socket of the machine, and over TLS to who proves that it is of the namespace', () => {
  for (const peer of [over({ local: true }), tls('spiffe://cluster.local/ns/edge/sa/gw')]) {
    assert.deepEqual(keyAccess(peer, NODE, false), { granted: true, reason: '' });
  }
});

test('keys go over nothing else, and the reason says what to do', () => {
  const cases: readonly [Peer, RegExp][] = [
    [over({}), /plaintext: let it connect to listen\.grpcUnix/],
    [over({ identities: ['spiffe://cluster.local/ns/edge/sa/gw'] }), /plaintext/],
    [tls(), /shows no certificate/],
    [tls('spiffe://cluster.local/ns/shop/sa/gw'), /is of namespace shop, but it says that it is of edge/],
    [tls('spiffe://cluster.local/ns/edge/other'), /shows no certificate of a workload/],
    [tls('https://cluster.local/ns/edge/sa/gw'), /shows no certificate of a workload/],
  ];
  for (const [peer, reason] of cases) {
    const access = keyAccess(peer, NODE, false);
    assert.equal(access.granted, false);
    assert.match(access.reason, reason);
    assert.equal(keyAccess(peer, NODE, true).granted, true, 'tests may say otherwise');
  }
});

test('the namespace that counts is the one that the node is served by', () => {
  const node = { ...NODE, metadata: { NAMESPACE: 'shop' } };
  assert.equal(keyAccess(tls('spiffe://cluster.local/ns/edge/sa/gw'), node, false).granted, false);
  assert.equal(keyAccess(tls('spiffe://cluster.local/ns/shop/sa/gw'), node, false).granted, true);
});

test('a node is of the namespace and the account that it has proven', () => {
  const node = (metadata: Readonly<Record<string, string>>) => ({ ...NODE, metadata });
  const gateway = tls('spiffe://cluster.local/ns/edge/sa/gw');
  for (const [peer, metadata] of [
    [gateway, {}],
    [gateway, { SERVICE_ACCOUNT: 'gw' }],
    [gateway, { NAMESPACE: 'edge', SERVICE_ACCOUNT: '' }],
    [tls('spiffe://cluster.local/ns/shop/sa/a', ...gateway.identities), {}],
    [tls(), { NAMESPACE: 'shop' }],
  ] as const) {
    assert.equal(identityProblem(peer, node(metadata)), undefined, JSON.stringify(metadata));
  }
  for (const metadata of [
    { NAMESPACE: 'shop' },
    { SERVICE_ACCOUNT: 'other' },
    { NAMESPACE: 'shop', SERVICE_ACCOUNT: 'gw' },
  ]) {
    assert.match(
      identityProblem(gateway, node(metadata)) ?? '',
      /has proven to be spiffe:\/\/cluster\.local\/ns\/edge\/sa\/gw, and says to be a workload of /,
    );
  }
});
