import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusals } from '../../../src/admin/refusals.ts';
import type { ProxySessions } from '../../../src/pipeline/session.ts';
import type { StreamInfo } from '../../../src/xds/events.ts';

const TYPE = 'type.googleapis.com/envoy.config.cluster.v3.Cluster';
const STREAM = { id: 1, proxy: 'web-1.shop' } as StreamInfo;

test('what comes and goes is refused once as long as it is there', () => {
  const served = new Map([['a', { version: 'bad' }]]);
  const sessions = { named: () => ({ resources: () => served }) } as unknown as ProxySessions;
  let time = 0;
  const refusals = new Refusals(sessions, () => ++time);
  const messages = (): readonly string[] => refusals.current().map(({ message }) => message);
  const refuse = (message: string, ...resources: readonly { readonly name: string; readonly version: string }[]) =>
    refusals.events.onNack?.(STREAM, TYPE, { nonce: '', code: 3, message, resources, named: true });
  refuse('first', { name: 'a', version: 'bad' });
  served.set('a', { version: 'good' });
  assert.deepEqual(messages(), []);
  served.set('a', { version: 'bad' });
  refuse('second', { name: 'a', version: 'bad' });
  assert.deepEqual(messages(), ['second']);
  served.set('b', { version: 'bad' });
  refuse('third', { name: 'b', version: 'bad' });
  assert.deepEqual(messages(), ['second', 'third']);
});
