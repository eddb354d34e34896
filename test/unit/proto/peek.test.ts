import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeMessage } from '../../../src/proto/message.ts';
import { peekNumber } from '../../../src/proto/peek.ts';

test('one number of a message is found among others, and is 0 where it is not', () => {
  const bytes = (message: object) => encodeMessage('envoy.config.listener.v3.Listener', message);
  const others = { name: 'a', filterChains: [{ name: 'b', filters: [{ name: 'c' }] }], tcpBacklogSize: 7 };
  assert.equal(peekNumber(bytes({ ...others, trafficDirection: 'OUTBOUND' }), 16), 2);
  assert.equal(peekNumber(bytes({ ...others, trafficDirection: 'INBOUND' }), 16), 1);
  assert.equal(peekNumber(bytes(others), 16), 0);
  assert.equal(peekNumber(new Uint8Array(), 16), 0);
});
