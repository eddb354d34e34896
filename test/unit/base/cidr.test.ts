import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cidrBlock, compareBlocks, networkText } from '../../../src/base/cidr.ts';

test('an address is a block of one, and IPv6 is written in its shortest form', () => {
  assert.deepEqual(cidrBlock('10.1.2.3'), { address: '10.1.2.3', prefixLength: 32 });
  assert.deepEqual(cidrBlock('10.1.2.3/8'), { address: '10.1.2.3', prefixLength: 8 });
  assert.deepEqual(cidrBlock('2001:DB8:0::0077/64'), { address: '2001:db8::77', prefixLength: 64 });
  assert.deepEqual(cidrBlock('2001:db8:0:0:1:0:0:1'), { address: '2001:db8::1:0:0:1', prefixLength: 128 });
  assert.deepEqual(cidrBlock('::ffff:1.2.3.4'), { address: '::ffff:1.2.3.4', prefixLength: 128 });
  assert.deepEqual(cidrBlock('::'), { address: '::', prefixLength: 128 });
});

test('text that is no block is none', () => {
  for (const text of ['', 'host', '10.1.2.3/33', '10.1.2', 'fe80::1%eth0', '10.0.0.0/8/8']) {
    assert.equal(cidrBlock(text), undefined, text);
  }
});

test('a network has the same text however it is written', () => {
  const network = (text: string) => {
    const block = cidrBlock(text);
    return block && networkText(block);
  };
  assert.equal(network('10.200.3.4/8'), '10.0.0.0/8');
  assert.equal(network('1.2.3.255/31'), '1.2.3.254/31');
  assert.equal(network('2001:db8::ffff/112'), '2001:db8::/112');
  assert.equal(network('0.0.0.0/0'), '0.0.0.0/0');
});

test('blocks are ordered by family, address and length', () => {
  const blocks = ['2001:db8::/32', '10.0.0.0/16', '9.0.0.0/8', '10.0.0.0/8'].flatMap((text) => cidrBlock(text) ?? []);
  assert.deepEqual(blocks.sort(compareBlocks).map(networkText), [
    '9.0.0.0/8',
    '10.0.0.0/8',
    '10.0.0.0/16',
    '2001:db8::/32',
  ]);
});
