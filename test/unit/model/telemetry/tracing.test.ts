import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TelemetryTracing } from '#generated/config/specs.ts';
import { tracing } from '../../../../src/model/telemetry/tracing.ts';

const ref = (...names: readonly string[]) => ({ providers: names.map((name) => ({ name })) });
const DEFAULTS = { disabled: false, useRequestId: true, istioTags: true, propagates: true };

test('without Telemetries and default providers nothing is said of traces', () => {
  assert.equal(tracing([], [], 'CLIENT'), undefined);
  assert.deepEqual(tracing([], ['a', 'b'], 'CLIENT'), { ...DEFAULTS, provider: 'a' });
  assert.deepEqual(tracing([{}], [], 'CLIENT'), { ...DEFAULTS, provider: undefined });
});

test('each field is that of the narrowest Telemetry that has it', () => {
  const mesh: TelemetryTracing = {
    ...ref('mesh'),
    randomSamplingPercentage: 5,
    disableSpanReporting: true,
    customTags: { a: { literal: { value: '1' } }, b: { literal: { value: '1' } } },
  };
  const own: TelemetryTracing = {
    randomSamplingPercentage: 0,
    disableSpanReporting: false,
    customTags: { c: { literal: { value: '2' } } },
    useRequestIdForTraceSampling: false,
    enableIstioTags: false,
    disableContextPropagation: true,
  };
  assert.deepEqual(tracing([mesh, own], ['default'], 'SERVER'), {
    provider: 'mesh',
    disabled: false,
    sampling: 0,
    customTags: { c: { literal: { value: '2' } } },
    useRequestId: false,
    istioTags: false,
    propagates: false,
  });
});

test('an empty map of tags takes back the tags of wider Telemetries', () => {
  const mesh: TelemetryTracing = { ...ref('mesh'), customTags: { a: { literal: { value: '1' } } } };
  assert.deepEqual(tracing([mesh, { customTags: {} }], [], 'SERVER')?.customTags, {});
  assert.deepEqual(tracing([mesh, {}], [], 'SERVER')?.customTags, mesh.customTags);
});

test('of several providers the first counts', () => {
  assert.equal(tracing([ref('a', 'b')], [], 'CLIENT')?.provider, 'a');
});

test('an element is about the traffic that it matches', () => {
  const specs: readonly TelemetryTracing[] = [
    { ...ref('c'), match: { mode: 'CLIENT' } },
    { randomSamplingPercentage: 7, match: { mode: 'SERVER' } },
  ];
  assert.deepEqual(tracing(specs, ['d'], 'CLIENT'), { ...DEFAULTS, provider: 'c' });
  assert.deepEqual(tracing(specs, ['d'], 'SERVER'), { ...DEFAULTS, provider: 'd', sampling: 7 });
});
