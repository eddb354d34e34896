import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fnv1a32 } from '../../../src/base/fnv.ts';
import { VIP_CAPACITY, vipCandidates, vipNumber, vipV4, vipV6 } from '../../../src/model/vip-address.ts';

function first(key: string, count: number): readonly string[] {
  return [...vipCandidates(key).take(count)].map(vipV4);
}

function numberOf(place: number): number {
  return (place + 1) % 255 === 0 ? place + 2 : place + 1;
}

test('a host has the address that istiod gives it', () => {
  assert.deepEqual(first('a/a.example.com', 1), ['240.240.134.206']);
  assert.deepEqual(first('b/a.example.com', 1), ['240.240.41.100']);
  assert.deepEqual(first('/foo.com', 1), ['240.240.227.81']);
  assert.deepEqual(first('/a17061.example.com', 1), ['240.240.25.11']);
  assert.deepEqual(first('/a44155.example.com', 1), ['240.240.31.17']);
});

test('after that it goes on in steps of a second hash, as in istiod with integers of 32 bits', () => {
  const hash = BigInt(fnv1a32('shop/s1.internal'));
  const step = 65011n - (hash % 65011n);
  const places = [1n, 2n, 3n].map((i) => ((hash + i * step) & 0xffffffffn) % 65023n);
  const found = [...vipCandidates('shop/s1.internal').take(4)].slice(1);
  assert.deepEqual(
    found,
    places.map((place) => numberOf(Number(place))),
  );
});

test('there are as many addresses as places, all apart, and none ends with 0 or 255', () => {
  const numbers = new Set(vipCandidates('shop/s1.ext.internal'));
  assert.equal(numbers.size, VIP_CAPACITY);
  const v4 = new Set([...numbers].map(vipV4));
  assert.equal(v4.size, VIP_CAPACITY);
  assert.equal(new Set([...numbers].map(vipV6)).size, VIP_CAPACITY);
  assert.ok([...v4].every((address) => /^240\.240\.\d+\.([1-9]\d?|1\d\d|2[0-4]\d|25[0-4])$/.test(address)));
});

test('the place of an address is found again from either family', () => {
  for (const number of vipCandidates('x/y').take(500)) {
    assert.equal(vipNumber(vipV4(number)), number);
    assert.equal(vipNumber(vipV6(number)), number);
  }
  for (const other of ['240.241.1.1', '240.240.1.0', '240.240.1.255', '240.240.255.254', '2001:2::1', 'x'])
    assert.equal(vipNumber(other), undefined, other);
});
