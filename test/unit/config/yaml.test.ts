import assert from 'node:assert/strict';
import { test } from 'node:test';
import { locationAt } from '../../../src/config/locate.ts';
import { readYaml } from '../../../src/config/yaml.ts';

function value(text: string): unknown {
  const read = readYaml(text);
  assert.deepEqual(read.problems, [], text);
  return read.value;
}

/** `line:column: message` of the last problem. */
function problem(text: string): string {
  const last = readYaml(text).problems.at(-1);
  assert.ok(last, text);
  const { line, column } = locationAt({ file: '', line: 1, text }, last.offset);
  return `${line}:${column}: ${last.message}`;
}

test('collections, scalars of all styles, and anchors are read', () => {
  assert.deepEqual(value('a: [1, {b: c}]\nd: &x "q"\ne: *x\nf: |\n  t\ng: >-\n  u\n  v\nh: !!str 5\n'), {
    a: [1, { b: 'c' }],
    d: 'q',
    e: 'q',
    f: 't\n',
    g: 'u v',
    h: '5',
  });
});

test('merged keys lose against those of the map itself, and against earlier maps', () => {
  const text = 'x: &x {b: 1, c: 1}\nv: &v {b: 2, e: 3}\nz:\n  b: 9\n  <<: [*x, *v]\nw:\n  <<: *x\n  c: 5\n';
  const { z, w } = value(text) as { z: unknown; w: unknown };
  assert.deepEqual(z, { b: 9, c: 1, e: 3 });
  assert.deepEqual(w, { b: 1, c: 5 });
  assert.deepEqual(value('a: {"<<": {b: 1}}'), { a: { '<<': { b: 1 } } });
  assert.match(problem('a: {<<: 5}'), /^1:9: "<<" merges a map/);
});

test('keys become text as in JSON', () => {
  const read = readYaml('on: 1\n"off": 2\n');
  assert.deepEqual(read.value, { true: 1, off: 2 });
  assert.match(read.problems[0]?.message ?? '', /the key "on" is read as "true"/);
  assert.deepEqual(value('true: 1\n0777: 2\n1.5: 3\n2001-01-01: 4\n"5": 6\n'), {
    true: 1,
    511: 2,
    1.5: 3,
    '2001-01-01': 4,
    5: 6,
  });
  assert.match(problem('~: 1'), /^1:1: a key is missing/);
  assert.match(problem('? [a]\n: 1'), /^1:3: a list or a map can not be a key/);
});

test('a key named __proto__ is a key like others', () => {
  const read = value('__proto__: {a: 1}\nb: 2') as object;
  assert.deepEqual(Object.keys(read), ['__proto__', 'b']);
  assert.equal(Object.getPrototypeOf(read), Object.prototype);
});

test('of a key that stands twice the last one counts, with a finding', () => {
  const read = readYaml('a: 1\nb: {c: 1, c: 2}\na: 3\n');
  assert.deepEqual(read.value, { a: 3, b: { c: 2 } });
  assert.deepEqual(
    read.problems.map(({ severity, code, offset }) => [severity, code, offset]),
    [
      ['warning', 'VM0104', 15],
      ['warning', 'VM0104', 21],
    ],
  );
});

test('an unknown tag has no effect but a finding', () => {
  const read = readYaml('a: !own 5\nb: !own {c: 1}\n');
  assert.deepEqual(read.value, { a: 5, b: { c: 1 } });
  assert.equal(read.problems.length, 2);
});

test('an alias that names nothing, or itself, is refused', () => {
  assert.match(problem('a: *x'), /^1:4: the alias "\*x" names nothing/);
  assert.match(problem('a: &x\n  b: [*x]'), /^2:7: the alias "\*x" stands within/);
  assert.match(problem('hosts: [*.example.com]'), /^1:9: a text that begins with "\*" needs quotes/);
});

test('numbers that JSON has not are refused', () => {
  assert.match(problem('a: 1\nb: .inf'), /^2:4: "\.inf" is no number/);
});

test('an alias bomb is refused before it grows', () => {
  const levels = 'bcdefghij'.split('').map((name, i) => {
    const before = 'abcdefghi'[i] as string;
    return `${name}: &${name} [${Array(9).fill(`*${before}`).join()}]`;
  });
  assert.match(problem(`a: &a [x, x]\n${levels.join('\n')}\n`), /^5:\d+: the document has more than 10000 values/);
});

test('aliases of one large list in many items are refused, too', () => {
  const large = `x: &x [${Array(5000).fill('y').join()}]`;
  assert.match(problem(`${large}\nitems:\n- a: *x\n- a: *x\n- a: *x\n`), /^4:6: an item has more than 10000 values/);
});

test('a document has 10,000 nodes at most, and each item of a List, too', () => {
  const list = (length: number): string => `[${Array(length).fill('x').join()}]`;
  assert.equal((value(`a: ${list(9997)}`) as { a: unknown[] }).a.length, 9997);
  assert.match(problem(`a: ${list(9998)}`), /more than 10000 values/);
  const items = Array(3)
    .fill(`- {a: ${list(9000)}}`)
    .join('\n');
  assert.equal((value(`items:\n${items}\nkind: List\n`) as { items: unknown[] }).items.length, 3);
});

test('lists and maps are nested 64 levels at most, those behind aliases included', () => {
  const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  assert.ok(value(nested(64)));
  assert.match(problem(nested(65)), /nested deeper than 64/);
  assert.match(problem('{a: '.repeat(5000)), /nested deeper than 64/);
  assert.ok(value(`a: &a ${nested(40)}\nb: ${'['.repeat(20)}*a${']'.repeat(20)}`));
  assert.match(problem(`a: &a ${nested(40)}\nb: ${'['.repeat(30)}*a${']'.repeat(30)}`), /^2:34: .*nested deeper/);
});

test('a lone carriage return that hides a document is refused by its own words', () => {
  assert.match(problem('a: 1\n---\nb: 1\n'), /hides a second document/);
});
