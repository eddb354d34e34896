import assert from 'node:assert/strict';
import { test } from 'node:test';
import { healthRoutes, type Phase, whenReady } from '../../../src/admin/health.ts';
import { text } from '../../../src/admin/http.ts';

test('a server is ready from when it answers proxies until it is told to stop', async () => {
  let phase: Phase = 'starting';
  const [ready] = healthRoutes('1.0', () => phase);
  const [page] = whenReady([{ path: '/a', doc: '', answer: () => text('page') }], () => phase);
  const query = new URLSearchParams();
  const seen: unknown[] = [];
  for (phase of ['starting', 'ready', 'stopping'] as const) {
    seen.push([phase, (await ready?.answer(query))?.status, (await page?.answer(query))?.status]);
  }
  assert.deepEqual(seen, [
    ['starting', 503, 503],
    ['ready', 200, 200],
    ['stopping', 503, 200],
  ]);
});
