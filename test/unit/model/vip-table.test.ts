import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { VIP_CAPACITY, vipCandidates } from '../../../src/model/vip-address.ts';
import { allocatedVips, NO_VIPS, restoredVips, storedVips, type VipTable } from '../../../src/model/vip-table.ts';

const NONE: ReadonlySet<number> = new Set();
const hosts = (names: readonly string[]): readonly string[] => names.map((name) => `shop/${name}.internal`).sort();

function firstOf(host: string): number {
  return vipCandidates(host).next().value as number;
}

function colliding(): readonly [string, string] {
  const seen = new Map<number, string>();
  for (let i = 0; ; i++) {
    const host = `shop/s${i}.internal`;
    const other = seen.get(firstOf(host));
    if (other !== undefined) return [other, host];
    seen.set(firstOf(host), host);
  }
}

test('whatever comes and goes, a host keeps its address and no two share one', () => {
  const names = fc.uniqueArray(fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz'));
  fc.assert(
    fc.property(fc.array(names, { maxLength: 12 }), (edits) => {
      let table: VipTable = NO_VIPS;
      const ever = new Map<string, number>();
      for (const present of edits) {
        table = allocatedVips(table, hosts(present), NONE);
        assert.equal(allocatedVips(table, hosts(present), NONE), table);
        for (const [host, number] of table.numbers) {
          assert.equal(ever.get(host) ?? number, number);
          ever.set(host, number);
        }
        assert.equal(new Set(table.numbers.values()).size, table.numbers.size);
        assert.ok(hosts(present).every((host) => table.numbers.has(host)));
        assert.deepEqual(restoredVips(storedVips(table)).reserved, table.reserved);
        assert.equal(allocatedVips(restoredVips(storedVips(table)), hosts(present), NONE).numbers.size, ever.size);
      }
    }),
  );
});

test('of hosts with one hash, who is first keeps its address when the other one goes', () => {
  const [one, other] = colliding();
  const both = allocatedVips(allocatedVips(NO_VIPS, [other], NONE), [one, other].sort(), NONE);
  assert.equal(both.numbers.get(other), firstOf(other));
  assert.notEqual(both.numbers.get(one), firstOf(one));
  const alone = allocatedVips(both, [one], NONE);
  assert.equal(alone.numbers.get(one), both.numbers.get(one));
});

test('an address that the configuration uses itself is not given, and is not taken from who has it', () => {
  const number = firstOf('shop/a.internal');
  const table = allocatedVips(NO_VIPS, ['shop/a.internal'], new Set([number]));
  assert.notEqual(table.numbers.get('shop/a.internal'), number);
  const before = allocatedVips(NO_VIPS, ['shop/a.internal'], NONE);
  assert.equal(allocatedVips(before, ['shop/a.internal'], new Set([number])), before);
});

test('of hosts that are gone only so many keep their address, those that went last', () => {
  const all = allocatedVips(NO_VIPS, hosts(['a', 'b', 'c', 'd']), NONE);
  const without = allocatedVips(all, hosts(['b', 'c', 'd']), NONE, 2);
  const few = allocatedVips(without, hosts(['d']), NONE, 2);
  assert.deepEqual(few.reserved, hosts(['b', 'c']));
  assert.deepEqual([...few.numbers.keys()].sort(), hosts(['b', 'c', 'd']));
  assert.equal(allocatedVips(few, hosts(['d']), NONE, 2), few);
});

test('when all addresses are given, those of hosts that are gone are given again, then there are none', () => {
  const many = Array.from({ length: VIP_CAPACITY }, (_, i) => `shop/s${i}.internal`).sort();
  const full = allocatedVips(NO_VIPS, many, NONE);
  assert.equal(new Set(full.numbers.values()).size, VIP_CAPACITY);
  const [gone = '', ...rest] = many;
  const reused = allocatedVips(full, [...rest, 'shop/t.internal'].sort(), NONE);
  assert.equal(reused.numbers.get('shop/t.internal'), full.numbers.get(gone));
  assert.ok(rest.every((host) => reused.numbers.get(host) === full.numbers.get(host)));
  const tooMany = [...rest, 'shop/t.internal', 'shop/u.internal'].sort();
  assert.equal(allocatedVips(reused, tooMany, NONE), reused);
});

test('what is damaged in a kept table is passed over', () => {
  const { numbers, reserved } = restoredVips([
    { host: 'a/a', address: '240.240.1.1', reserved: false },
    { host: 'a/b', address: '240.240.1.1', reserved: false },
    { host: 'a/c', address: '10.0.0.1', reserved: true },
  ]);
  assert.deepEqual([[...numbers.keys()], reserved], [['a/a'], []]);
});
