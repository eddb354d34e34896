import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  fullHost,
  hostAndPortOf,
  isRequested,
  plainListenerName,
  requestedListeners,
} from '../../../../src/envoy/grpc/listener-names.ts';

const CLIENT = { namespace: 'shop', dnsDomain: 'shop.svc.cluster.local' };
const FULL = 'greeter.shop.svc.cluster.local';

for (const [name, host, port] of [
  ['greeter:7070', 'greeter', '7070'],
  ['greeter', 'greeter', undefined],
  ['10.0.0.1:80', '10.0.0.1', '80'],
  ['[fd00::1]:80', 'fd00::1', '80'],
  ['fd00::1', 'fd00::1', undefined],
  ['greeter:', 'greeter', ''],
] as const) {
  test(`${name} is the host ${host} and ${port === undefined ? 'no port' : `the port "${port}"`}`, () => {
    assert.deepEqual(hostAndPortOf(name), { host, port });
  });
}

for (const [host, full] of [
  ['greeter', FULL],
  ['greeter.shop', FULL],
  ['greeter.shop.svc', FULL],
  ['greeter.other', undefined],
  [FULL, undefined],
  ['api.example.com', undefined],
] as const) {
  test(`the host ${host} is ${full ?? 'complete'} for a client of the namespace shop`, () => {
    assert.equal(fullHost(host, CLIENT), full);
  });
}

test('a service that is called by two names on two ports is answered under both names on both ports', () => {
  const requested = requestedListeners([`${FULL}:7070`, 'greeter:8080', 'other:1'], CLIENT);
  assert.deepEqual([...requested].sort(), [`${FULL}:7070`, `${FULL}:8080`, 'greeter:7070', 'greeter:8080', 'other:1']);
  assert.ok(isRequested(requested, 'greeter:7070'));
  assert.ok(!isRequested(requested, 'greeter.shop:7070'));
  assert.ok(!isRequested(requested, 'other:2'));
});

test('a host without a port asks for all its ports, also when it is asked for with one as well', () => {
  const requested = requestedListeners(['greeter', 'greeter:7070'], CLIENT);
  assert.ok(isRequested(requested, 'greeter:9'));
  assert.ok(!isRequested(requested, `${FULL}:9`));
});

test('a name of a server stands for itself', () => {
  const name = 'xds.istio.io/grpc/lds/inbound/[::]:50051';
  assert.deepEqual([...requestedListeners([name], CLIENT)], [name]);
});

for (const [name, plain] of [
  ['greeter:7070', 'greeter:7070'],
  ['xdstp://mesh/envoy.config.listener.v3.Listener/greeter:7070', 'greeter:7070'],
  ['xdstp:///envoy.config.listener.v3.Listener/%5Bfd00::1%5D:80?region=eu', '[fd00::1]:80'],
  ['xdstp://mesh/envoy.config.cluster.v3.Cluster/greeter', undefined],
  ['xdstp://mesh/envoy.config.listener.v3.Listener/%zz', undefined],
] as const) {
  test(`${name} names ${plain === undefined ? 'no listener' : `the listener ${plain}`}`, () => {
    assert.equal(plainListenerName(name), plain);
  });
}
