import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER_TYPE, ENDPOINT_TYPE } from '../../../src/proto/type-urls.ts';
import type { Received } from '../../support/ads-stream.ts';
import { Subscription } from '../../support/subscription.ts';

function received(typeUrl: string, names: readonly string[], removed: readonly string[] = [], text = ''): Received {
  const resources = names.map((name) => ({ name, version: '1', bytes: new TextEncoder().encode(name + text) }));
  return { at: 0, typeUrl, version: '1', nonce: 'n', resources, removed };
}

test('in the state of the world a cluster that is left out is gone', () => {
  const clusters = new Subscription(CLUSTER_TYPE);
  clusters.take(received(CLUSTER_TYPE, ['a', 'b']), 'sotw', 1);
  clusters.take(received(CLUSTER_TYPE, ['b']), 'sotw', 2);
  assert.deepEqual([...clusters.held.keys()], ['b']);
  assert.deepEqual(clusters.removals, [{ name: 'a', response: 2 }]);
});

test('endpoints that are left out stay', () => {
  const endpoints = new Subscription(ENDPOINT_TYPE);
  endpoints.want(['a', 'b']);
  endpoints.take(received(ENDPOINT_TYPE, ['a', 'b']), 'sotw', 1);
  endpoints.take(received(ENDPOINT_TYPE, ['b'], [], 'new'), 'sotw', 2);
  assert.equal(endpoints.held.size, 2);
  assert.deepEqual(
    endpoints.changes.map(({ name, response, differs }) => [name, response, differs]),
    [
      ['a', 1, true],
      ['b', 1, true],
      ['b', 2, true],
    ],
  );
});

test('a name that the server lacks is an answer to who asked for it', () => {
  const endpoints = new Subscription(ENDPOINT_TYPE);
  endpoints.want(['a', 'b']);
  endpoints.requested = true;
  endpoints.take(received(ENDPOINT_TYPE, ['a']), 'delta', 1);
  assert.equal(endpoints.isSettled('delta'), false);
  endpoints.take(received(ENDPOINT_TYPE, [], ['b']), 'delta', 2);
  assert.equal(endpoints.isSettled('delta'), true);
  assert.deepEqual(endpoints.removals, []);
});

test('what a client no longer wants is forgotten, and is no removal', () => {
  const endpoints = new Subscription(ENDPOINT_TYPE);
  endpoints.want(['a', 'b']);
  endpoints.requested = true;
  endpoints.take(received(ENDPOINT_TYPE, ['a', 'b']), 'delta', 1);
  assert.deepEqual(endpoints.want(['b', 'c']), { added: ['c'], removed: ['a'] });
  assert.deepEqual([...endpoints.held.keys()], ['b']);
  assert.deepEqual(endpoints.removals, []);
  assert.equal(endpoints.want(['b', 'c']), undefined);
});
