import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { celExpression } from '../../../src/base/cel.ts';

const problemOf = (text: string) => {
  const { problem } = celExpression(text);
  return problem && `${problem.column}: ${problem.message}`;
};

/** What Envoy 1.40 parses. */
const RIGHT: readonly string[] = [
  'response.code >= 400',
  "request.headers['x'] == 'y'",
  'has(request.headers.x) && request.headers.x == "a"',
  '1 + 2 * 3 - -4 % 5 / 6 == 7',
  '!a && !!b || c in [1, 2,]',
  'a ? b : c ? d : e',
  '{"a": 1, \'b\': [2.5e3, .5, 0x1F, 31u]}.a',
  String.raw`r"raw\d" == b'bytes' + "tab\t\x41\u00e9\101"`,
  '"""a\n"b" """ == x',
  '.a.b.c[0]',
  'a.for == null // a field may be called so',
  'a\n  .b()\n  .c(1, [2], {3: 4})',
  'a.b.Msg{c: 1, d: true,}',
];

/** What it refuses, with the column where it is wrong. */
const WRONG: Readonly<Record<string, number>> = {
  '': 1,
  'a ==': 5,
  '(a': 3,
  'a b': 3,
  "'open": 1,
  'a &&& b': 5,
  'a = 1': 3,
  'a !': 3,
  'a ? b ? c : d : e': 7,
  '"bad \\q"': 1,
  '// nothing': 11,
  'a.': 3,
  'a.in': 3,
  for: 1,
  'f(1,)': 5,
  'has(request)': 5,
  'a[?0]': 3,
  '"a\nb"': 1,
};

test('expressions that Envoy parses have no problem', () => {
  assert.deepEqual(
    RIGHT.filter((text) => problemOf(text) !== undefined).map((text) => `${text} ${problemOf(text)}`),
    [],
  );
});

test('what is no expression is wrong at the place where it is', () => {
  const columns = Object.fromEntries(Object.keys(WRONG).map((text) => [text, celExpression(text).problem?.column]));
  assert.deepEqual(columns, WRONG);
  assert.equal(problemOf('a =='), '5: it ends where a value is due');
  assert.equal(problemOf('a = 1'), '3: nothing of CEL begins with = 1');
  assert.equal(problemOf('a b'), '3: "b" stands where the end is due');
});

test('calls are told in order, and whether messages are made', () => {
  const { calls, makesMessages } = celExpression('size(a.map(x, f(x))) > 0 && b.c()');
  assert.deepEqual([calls, makesMessages], [['size', 'map', 'f', 'c'], false]);
  assert.equal(celExpression('A{b: 1} == c').makesMessages, true);
});

test('no text makes it throw', () => {
  const pieces = fc.constantFrom(
    'a',
    '.',
    '(',
    ')',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    '\\',
    '&&',
    '?',
    ':',
    ',',
    '1',
    'in',
    ' ',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(pieces).map((all) => all.join('')),
      ),
      (text) => {
        const { problem } = celExpression(text);
        return problem === undefined || (problem.column >= 1 && problem.column <= text.length + 1);
      },
    ),
  );
});
