import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activeLocalityPolicy, localityPolicy } from '../../../src/model/locality-policy.ts';
import { policyOfSubset, portTrafficPolicy, tlsOfSubset, withMeshDefaults } from '../../../src/model/traffic-policy.ts';

const RANDOM = { loadBalancer: { simple: 'RANDOM' } } as const;
const ROUND = { loadBalancer: { simple: 'ROUND_ROBIN' } } as const;
const POOL = { connectionPool: { tcp: { maxConnections: 1 } } } as const;
const PROXY = { proxyProtocol: { version: 'V2' } } as const;

test('settings of a port inherit nothing from the destination', () => {
  const policy = { ...RANDOM, ...POOL, ...PROXY, portLevelSettings: [{ port: { number: 80 }, ...ROUND }] };
  assert.deepEqual(portTrafficPolicy(policy, 80), ROUND);
  assert.equal(portTrafficPolicy(policy, 81), policy);
  assert.equal(portTrafficPolicy(undefined, 80), undefined);
});

test('a subset overrides block by block, and its settings for a port override all blocks of a port', () => {
  const rule = {
    host: 'a',
    trafficPolicy: { ...RANDOM, ...POOL, ...PROXY },
    subsets: [
      { name: 'plain' },
      { name: 'own', trafficPolicy: { ...ROUND } },
      {
        name: 'port',
        trafficPolicy: { ...ROUND, portLevelSettings: [{ port: { number: 80 }, outlierDetection: {} }] },
      },
    ],
  };
  assert.deepEqual(policyOfSubset(rule, 'plain', 80), { ...RANDOM, ...POOL, ...PROXY });
  assert.deepEqual(policyOfSubset(rule, 'own', 80), { ...ROUND, ...POOL, ...PROXY });
  assert.deepEqual(policyOfSubset(rule, 'port', 80), { outlierDetection: {}, ...PROXY });
  assert.deepEqual(policyOfSubset(rule, 'port', 81), { ...ROUND, ...POOL, ...PROXY });
  assert.deepEqual(policyOfSubset({ host: 'a', subsets: [{ name: 's', trafficPolicy: ROUND }] }, 's', 80), ROUND);
});

test('the mesh fills in whole blocks that a policy lacks', () => {
  const outlierDetection = { consecutive5xxErrors: 3 };
  assert.deepEqual(withMeshDefaults({ ...POOL }, { connectionPool: {}, outlierDetection }), {
    ...POOL,
    outlierDetection,
  });
  assert.deepEqual(withMeshDefaults(undefined, { outlierDetection }), { outlierDetection });
  assert.equal(withMeshDefaults(undefined, {}), undefined);
  assert.equal(withMeshDefaults(RANDOM, undefined), RANDOM);
});

test("TLS of a port is found even where the port's settings leave it to the destination", () => {
  const rule = {
    host: 'a',
    trafficPolicy: {
      tls: { mode: 'SIMPLE' },
      portLevelSettings: [{ port: { number: 80 } }, { port: { number: 81 }, tls: {} }],
    },
    subsets: [{ name: 'own', trafficPolicy: { tls: { mode: 'MUTUAL' } } }, { name: 'none' }],
  } as const;
  assert.deepEqual(tlsOfSubset(rule, '', 80), { mode: 'SIMPLE' });
  assert.deepEqual(tlsOfSubset(rule, '', 81), {});
  assert.deepEqual(tlsOfSubset(rule, 'own', 81), { mode: 'MUTUAL' });
  assert.deepEqual(tlsOfSubset(rule, 'none', 82), { mode: 'SIMPLE' });
  assert.equal(tlsOfSubset(rule, 'unknown', 80), undefined);
  assert.equal(tlsOfSubset(undefined, '', 80), undefined);
});

test('the rule decides how localities count before the Service, and the Service before the mesh', () => {
  const mesh = { localityLbSetting: { enabled: true } };
  const close = { trafficDistribution: 'PreferSameZone' };
  const kinds = [
    localityPolicy({ zoneAwareLbSetting: {}, localityLbSetting: {} }, close, mesh),
    localityPolicy({ localityLbSetting: { enabled: false } }, close, mesh),
    localityPolicy(undefined, close, mesh),
    localityPolicy(undefined, {}, { ...mesh, zoneAwareLbSetting: {} }),
    localityPolicy(undefined, {}, mesh),
    localityPolicy(undefined, {}, {}),
  ].map((policy) => policy && (policy.kind === 'locality' && policy.force ? 'forced' : policy.kind));
  assert.deepEqual(kinds, ['zone-aware', undefined, 'forced', 'zone-aware', 'locality', undefined]);
});

test('localities count only where weights are said or an Envoy can learn that it has to fail over', () => {
  const setting = (more: object) => ({ kind: 'locality', setting: more, force: false }) as const;
  assert.equal(activeLocalityPolicy(setting({}), false), undefined);
  assert(activeLocalityPolicy(setting({}), true));
  assert(activeLocalityPolicy(setting({ distribute: [{ from: '*' }] }), false));
  assert(activeLocalityPolicy({ ...setting({}), force: true }, false));
  assert.equal(activeLocalityPolicy({ kind: 'zone-aware', setting: { enabled: false } }, true), undefined);
});
