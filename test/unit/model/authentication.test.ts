import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PeerAuthentication } from '#generated/config/specs.ts';
import type { Config } from '../../../src/config/config.ts';
import { modeOfPort, namespaceMtlsMode, peerPolicy } from '../../../src/model/authentication.ts';

function policy(namespace: string, spec: PeerAuthentication): Config<PeerAuthentication> {
  return { namespace, name: 'p', spec } as Config<PeerAuthentication>;
}

const mesh = (mode: 'STRICT' | 'DISABLE' | 'UNSET') => policy('istio-system', { mtls: { mode } });
const wide = (mode: 'STRICT' | 'DISABLE' | 'PERMISSIVE' | 'UNSET') => policy('shop', { mtls: { mode } });
const ofApp = (spec: PeerAuthentication) => policy('shop', { selector: { matchLabels: { app: 'db' } }, ...spec });
const labels = { app: 'db' };

test('without a policy both plaintext and mutual TLS are taken', () => {
  assert.deepEqual(peerPolicy({ root: [], namespace: [], labels }), { mode: 'PERMISSIVE', ports: [] });
});

test('the narrowest policy that says a mode decides', () => {
  const mode = (root: Config<PeerAuthentication>[], namespace: Config<PeerAuthentication>[]) =>
    peerPolicy({ root, namespace, labels }).mode;
  assert.equal(mode([mesh('STRICT')], []), 'STRICT');
  assert.equal(mode([mesh('STRICT')], [wide('DISABLE')]), 'DISABLE');
  assert.equal(mode([mesh('STRICT')], [wide('UNSET')]), 'STRICT');
  assert.equal(mode([mesh('STRICT')], [wide('DISABLE'), ofApp({ mtls: { mode: 'PERMISSIVE' } })]), 'PERMISSIVE');
  assert.equal(mode([mesh('STRICT')], [wide('DISABLE'), ofApp({ mtls: {} })]), 'DISABLE');
  assert.equal(mode([mesh('UNSET')], []), 'PERMISSIVE');
});

test('of several policies in one place the oldest counts', () => {
  const { mode } = peerPolicy({ root: [], namespace: [wide('STRICT'), wide('DISABLE')], labels });
  assert.equal(mode, 'STRICT');
});

test('a policy for other workloads, or for workloads of the root namespace, is not looked at', () => {
  const other = policy('shop', { selector: { matchLabels: { app: 'web' } }, mtls: { mode: 'STRICT' } });
  const root = policy('istio-system', { selector: { matchLabels: labels }, mtls: { mode: 'STRICT' } });
  assert.equal(peerPolicy({ root: [root], namespace: [other], labels }).mode, 'PERMISSIVE');
});

test("ports of the workload's policy have their own modes, in order, and inherit an unset one", () => {
  const own = ofApp({ mtls: { mode: 'STRICT' }, portLevelMtls: { 9000: { mode: 'DISABLE' }, 80: { mode: 'UNSET' } } });
  const found = peerPolicy({ root: [], namespace: [own], labels });
  assert.deepEqual(found.ports, [
    { port: 80, mode: 'STRICT' },
    { port: 9000, mode: 'DISABLE' },
  ]);
  assert.equal(modeOfPort(found, 9000), 'DISABLE');
  assert.equal(modeOfPort(found, 81), 'STRICT');
});

test('a client guesses the mode of a namespace from the policies for all of it', () => {
  assert.equal(namespaceMtlsMode([], []), undefined);
  assert.equal(namespaceMtlsMode([mesh('STRICT')], []), 'STRICT');
  assert.equal(namespaceMtlsMode([mesh('STRICT')], [ofApp({ mtls: { mode: 'DISABLE' } })]), 'STRICT');
  assert.equal(namespaceMtlsMode([], [wide('UNSET')]), 'PERMISSIVE');
  assert.equal(namespaceMtlsMode([mesh('UNSET')], []), 'PERMISSIVE');
});
