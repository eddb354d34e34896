import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EndpointGroup, totalWeight } from '../../../../src/envoy/endpoints/groups.ts';
import { balanced, localityNeeds } from '../../../../src/envoy/endpoints/locality.ts';
import { parseLocality } from '../../../../src/model/endpoint.ts';
import type { LocalityPolicy } from '../../../../src/model/locality-policy.ts';

type Setting = Extract<LocalityPolicy, { kind: 'locality' }>['setting'];

const endpoint = (labels: Readonly<Record<string, string>>, weight = 1) => ({
  message: {},
  origin: { labels, network: '' },
  weight,
  mtls: false,
});
const group = (locality: string, ...endpoints: readonly ReturnType<typeof endpoint>[]): EndpointGroup => {
  const all = endpoints.length > 0 ? endpoints : [endpoint({})];
  return { locality, endpoints: all, weight: totalWeight(all), priority: 0 };
};
const locality = (setting: Setting, force = false): LocalityPolicy => ({ kind: 'locality', setting, force });
const shown = (groups: readonly EndpointGroup[]) =>
  groups.map(
    ({ locality: where, weight, priority, endpoints }) => `${where} w${weight} p${priority} n${endpoints.length}`,
  );

const HERE = { locality: parseLocality('r1/z1/s1') };

test('with outlier detection an endpoint nearer to the proxy comes first', () => {
  const groups = ['r1/z1/s1', 'r1/z1/s2', 'r1/z2/s1', 'r2/z1/s1', ''].map((where) => group(where));
  const priorities = (setting: Setting, failover: boolean) =>
    balanced(groups, locality(setting), HERE, failover).map(({ priority }) => priority);
  assert.deepEqual(priorities({}, true), [0, 1, 2, 3, 3]);
  assert.deepEqual(priorities({ failover: [{ from: 'r1', to: 'r2' }] }, true), [0, 1, 2, 3, 4]);
  assert.deepEqual(priorities({ failover: [{ from: 'r9', to: 'r2' }] }, true), [0, 1, 2, 3, 3]);
  assert.deepEqual(priorities({}, false), [0, 0, 0, 0, 0]);
});

test('priorities have no gap, whatever localities are missing', () => {
  const groups = [group('r1/z2/s1'), group('r2/z1/s1')];
  assert.deepEqual(
    balanced(groups, locality({}), HERE, true).map(({ priority }) => priority),
    [0, 1],
  );
});

test('weights go to the localities that the first fitting entry names, and all others get nothing', () => {
  const groups = [group('r1/z1/s1', endpoint({}, 1), endpoint({}, 3)), group('r1/z2/s1'), group('r2/z1/s1')];
  const distribute = [
    { from: 'r9', to: { '*': 100 } },
    { from: 'r1/z1/*', to: { 'r1/z1/*': 70, 'r1/z2': 30 } },
    { from: 'r1', to: { 'r2/*': 100 } },
  ];
  assert.deepEqual(shown(balanced(groups, locality({ distribute }), HERE, false)), [
    'r1/z1/s1 w70 p0 n2',
    'r1/z2/s1 w30 p0 n1',
    'r2/z1/s1 w1 p0 n0',
  ]);
});

test('a wildcard divides its share by the weights of what it fits', () => {
  const groups = [group('r1/z1', endpoint({}, 3)), group('r1/z2'), group('r2/z1')];
  const distribute = [{ from: '*', to: { 'r1/*': 80, 'r2/*': 20 } }];
  assert.deepEqual(
    balanced(groups, locality({ distribute }), HERE, false).map(({ weight }) => weight),
    [60, 20, 20],
  );
});

test('labels split a locality by how many of them an endpoint shares with the proxy, the first counting most', () => {
  const groups = [
    group('r1', endpoint({ version: 'v1', rack: 'a' }), endpoint({ version: 'v1' }, 2), endpoint({ rack: 'a' }, 4)),
    group('r2', endpoint({ version: 'v1', rack: 'a' })),
  ];
  const view = { ...HERE, labels: { version: 'v1', rack: 'a' } };
  const setting = { failoverPriority: ['version', 'rack'] };
  assert.deepEqual(shown(balanced(groups, locality(setting), view, true)), [
    'r1 w1 p0 n1',
    'r1 w2 p1 n1',
    'r1 w4 p2 n1',
    'r2 w1 p0 n1',
  ]);
  const fixed = { failoverPriority: ['version=v2', 'rack'] };
  assert.deepEqual(shown(balanced(groups, locality(fixed), view, true)), ['r1 w7 p0 n3', 'r2 w1 p0 n1']);
  assert.deepEqual(
    balanced(groups, locality(setting), HERE, true),
    groups,
    'a proxy without labels has nothing to share',
  );
});

test('the network, when it is the first label, does not keep the others from counting', () => {
  const network = 'topology.istio.io/network';
  const groups = [
    group(
      '',
      endpoint({ [network]: 'n2', zone: 'z1' }),
      endpoint({ [network]: 'n1', zone: 'z2' }),
      endpoint({ [network]: 'n2' }),
    ),
  ];
  const view = { ...HERE, labels: { [network]: 'n1', zone: 'z1' } };
  const setting = { failoverPriority: [network, 'zone'] };
  assert.deepEqual(
    balanced(groups, locality(setting), view, true).map(({ priority, endpoints }) => [
      priority,
      endpoints[0]?.origin.labels,
    ]),
    [
      [0, { [network]: 'n1', zone: 'z2' }],
      [1, { [network]: 'n2', zone: 'z1' }],
      [2, { [network]: 'n2' }],
    ],
  );
});

test('a Service that prefers its own zone fails over without outlier detection', () => {
  const groups = [group('', endpoint({ zone: 'z1' }), endpoint({ zone: 'z2' }))];
  const view = { ...HERE, labels: { zone: 'z1' } };
  const policy = locality({ failoverPriority: ['zone'] }, true);
  assert.deepEqual(shown(balanced(groups, policy, view, false)), [' w1 p0 n1', ' w1 p1 n1']);
});

test('where an Envoy balances zones itself the whole region comes first', () => {
  const groups = ['r1/z1', 'r1/z2', 'r2/z1', 'r3/z1'].map((where) => group(where));
  const zoneAware = (setting: Extract<LocalityPolicy, { kind: 'zone-aware' }>['setting']) =>
    balanced(groups, { kind: 'zone-aware', setting }, HERE, false).map(({ priority }) => priority);
  assert.deepEqual(zoneAware({}), [0, 0, 1, 1]);
  assert.deepEqual(zoneAware({ failover: [{ from: 'r1', to: 'r3' }] }), [0, 0, 2, 1]);
  assert.deepEqual(zoneAware({ enabled: false }), [0, 0, 0, 0]);
});

test('a policy looks at no more of a proxy than it uses', () => {
  assert.equal(localityNeeds(undefined), undefined);
  assert.deepEqual(localityNeeds(locality({})), { locality: true, labels: [] });
  assert.deepEqual(localityNeeds(locality({ failoverPriority: ['a=b', 'c'] })), {
    locality: false,
    labels: ['a', 'c'],
  });
  assert.deepEqual(localityNeeds(locality({ failoverPriority: ['a'], distribute: [{ from: '*', to: { '*': 1 } }] })), {
    locality: true,
    labels: [],
  });
});
