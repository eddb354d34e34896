import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Metrics, MetricsOverrides } from '#generated/config/specs.ts';
import { metrics } from '../../../../src/model/telemetry/metrics.ts';
import type { TrafficMode } from '../../../../src/model/telemetry/mode.ts';

const ref = (...names: readonly string[]) => ({ providers: names.map((name) => ({ name })) });
const of = (...overrides: readonly MetricsOverrides[]): Metrics => ({ ...ref('p'), overrides });

/** What provider `p` changes; undefined when it measures nothing. */
function changes(specs: readonly Metrics[], mode: TrafficMode = 'CLIENT') {
  return metrics(specs, [], mode).find(({ provider }) => provider === 'p')?.changes;
}

test('without Telemetries the default providers measure', () => {
  assert.deepEqual(metrics([], [], 'CLIENT'), []);
  assert.deepEqual(metrics([], ['b', 'a'], 'CLIENT'), [
    { provider: 'a', changes: [] },
    { provider: 'b', changes: [] },
  ]);
});

test('providers of a narrower Telemetry take the place of those of a wider one', () => {
  const names = (specs: readonly Metrics[]) => metrics(specs, ['d'], 'CLIENT').map(({ provider }) => provider);
  assert.deepEqual(names([{}]), ['d']);
  assert.deepEqual(names([ref('a'), ref('c', 'b')]), ['b', 'c']);
  assert.deepEqual(names([ref('a'), {}]), ['a']);
});

test('overrides are laid over one another: the last word on a metric and on a tag counts', () => {
  const specs = [
    of(
      { match: { metric: 'REQUEST_COUNT' }, disabled: true, tagOverrides: { a: { value: '1' }, b: { value: '1' } } },
      { match: { customMetric: 'own' }, disabled: true },
    ),
    of({ match: { metric: 'REQUEST_COUNT' }, disabled: false, tagOverrides: { b: { operation: 'REMOVE' } } }),
  ];
  assert.deepEqual(changes(specs), [
    {
      metric: 'REQUEST_COUNT',
      dropped: false,
      tags: [
        ['a', '1'],
        ['b', undefined],
      ],
    },
    { metric: 'own', dropped: true, tags: [] },
  ]);
});

test('an override of all metrics is one of each', () => {
  const tags = [['a', '1']];
  const found = changes([of({ tagOverrides: { a: { value: '1' } } })]) ?? [];
  assert.equal(found.length, 10);
  assert.deepEqual(found[0], { metric: 'GRPC_REQUEST_MESSAGES', dropped: false, tags });
  assert.deepEqual(found.at(-1), { metric: 'TCP_SENT_BYTES', dropped: false, tags });
});

test('all metrics switched off is no filter at all, until a later override asks for something', () => {
  const off = { disabled: true };
  assert.equal(changes([of(off)]), undefined);
  assert.equal(changes([of({ match: { metric: 'ALL_METRICS' }, ...off })]), undefined);
  const again = { match: { metric: 'REQUEST_SIZE' }, disabled: false } as const;
  assert.deepEqual(changes([of(off), of(again)]), [{ metric: 'REQUEST_SIZE', dropped: false, tags: [] }]);
  assert.equal(changes([of(again, off)]), undefined);
});

test('an override is about the traffic that it matches', () => {
  const specs = [of({ match: { mode: 'SERVER' }, disabled: true })];
  assert.equal(changes(specs, 'SERVER'), undefined);
  assert.deepEqual(changes(specs, 'CLIENT'), []);
});

test('the reporting interval is that of the last Telemetry that names one for the provider', () => {
  const specs = [{ ...of(), reportingInterval: '5s' }, of(), { ...of(), reportingInterval: '9s' }];
  assert.deepEqual(metrics(specs, [], 'CLIENT'), [{ provider: 'p', changes: [], reportingInterval: '9s' }]);
});
