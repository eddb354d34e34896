import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applicableTelemetries, type TelemetryHead } from '../../../../src/model/telemetry/applicable.ts';

function head(key: string, more: Partial<TelemetryHead> = {}): TelemetryHead {
  return { key, namespace: 'shop', logs: true, traces: true, measures: true, ...more };
}
const selecting = (key: string, labels: Readonly<Record<string, string>>) => head(key, { labels });

function applicable(
  root: readonly TelemetryHead[],
  own: readonly TelemetryHead[],
  labels: Readonly<Record<string, string>> = { app: 'web' },
): readonly string[] {
  return applicableTelemetries({ root, own, labels }).map(({ key }) => key);
}

test('the oldest for the mesh comes first, then the oldest for the namespace, then all that select the workload', () => {
  const root = [selecting('root-web', { app: 'web' }), head('root-1'), head('root-2')];
  const own = [
    selecting('web-1', { app: 'web' }),
    head('own-1'),
    selecting('db', { app: 'db' }),
    head('own-2'),
    selecting('web-2', { app: 'web' }),
  ];
  assert.deepEqual(applicable(root, own), ['root-1', 'own-1', 'web-1', 'web-2']);
});

test('in the root namespace selectors count, and what is for the mesh counts once', () => {
  const root = [head('root'), selecting('web', { app: 'web' }), selecting('db', { app: 'db' })];
  assert.deepEqual(applicable(root, root), ['root', 'web']);
});

test('a selector without labels is none', () => {
  assert.deepEqual(applicable([], [head('empty', { labels: {} })]), ['empty']);
});

test('targets are for gateways of the Gateway API alone', () => {
  const target = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'edge' };
  const own = [
    head('one', { targetRefs: [target] }),
    head('list', { targetRefs: [{ ...target, name: 'other' }, target] }),
    head('service', { targetRefs: [{ group: '', kind: 'Service', name: 'edge' }] }),
  ];
  assert.deepEqual(applicable([], own), []);
  const labels = { 'gateway.networking.k8s.io/gateway-name': 'edge' };
  assert.deepEqual(applicable([], own, labels), ['one', 'list']);
});
