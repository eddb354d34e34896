import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressProblem, formatAddress, isLoopback, parseAddress } from '../../../src/base/host-port.ts';

test('addresses are read as people write them, and written the same', () => {
  for (const text of ['127.0.0.1:15010', '[::1]:15010', 'localhost:0', 'cp-1.example.com:443']) {
    const address = parseAddress(text);
    assert.ok(address !== undefined, text);
    assert.equal(formatAddress(address), text);
  }
  assert.deepEqual(parseAddress(':15010'), { host: '0.0.0.0', port: 15010 });
});

test('what is no address is answered with what to write', () => {
  const advice: Readonly<Record<string, string>> = {
    '15010': 'write 127.0.0.1:15010, or :15010 for all addresses',
    '::1': 'write an IPv6 address in brackets, as [::1]:15010',
    '10.0.0.1': 'write a port behind it, as 10.0.0.1:15010',
    'cp.example.com': 'write a port behind it, as cp.example.com:15010',
    ':70000': 'a port is at most 65535, not 70000',
    '256.0.0.1:80': 'write host:port, as 127.0.0.1:15010, or "" to switch it off',
    'http://a:80': 'write host:port, as 127.0.0.1:15010, or "" to switch it off',
    '[10.0.0.1]:80': 'write host:port, as 127.0.0.1:15010, or "" to switch it off',
  };
  for (const [text, words] of Object.entries(advice)) {
    assert.equal(addressProblem(text), `"${text}" is no address: ${words}`);
  }
  assert.equal(addressProblem('10.0.0.1:80'), undefined);
});

test('only addresses that no other machine reaches are loopback', () => {
  assert.deepEqual(['localhost', '::1', '127.8.9.1'].map(isLoopback), [true, true, true]);
  assert.deepEqual(['127.example.com', '0.0.0.0', '10.0.0.1'].map(isLoopback), [false, false, false]);
});
