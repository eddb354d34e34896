import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseEnvFile } from '../../../src/agent/env-file.ts';
import { runs } from '../../support/runs.ts';

function read(text: string): Readonly<Record<string, string>> {
  const { assignments, problems } = parseEnvFile('a.env', text);
  assert.deepEqual(problems, []);
  return Object.fromEntries(assignments.map(({ name, value }) => [name, value]));
}

function problemsOf(text: string): readonly string[] {
  return parseEnvFile('a.env', text).problems.map(
    ({ message, location: { line, column } }) => `${line}:${column} ${message}`,
  );
}

test('assignments are read as a shell reads them', () => {
  const text = [
    '# what istioctl writes',
    '',
    'ISTIO_METAJSON_LABELS=\'{"app":"vm"}\'',
    "QUOTED='it'\"'\"'s'",
    'export DOUBLE="a \\"b\\" \\\\ \\n"',
    'PLAIN=a\\ b  # said here',
    'EMPTY=',
    "LINES='discoveryAddress: a:15012",
    "concurrency: 2'",
    'WINDOWS=yes\r',
    'LAST=1',
  ].join('\n');
  assert.deepEqual(read(text), {
    ISTIO_METAJSON_LABELS: '{"app":"vm"}',
    QUOTED: "it's",
    DOUBLE: 'a "b" \\ \\n',
    PLAIN: 'a b',
    EMPTY: '',
    LINES: 'discoveryAddress: a:15012\nconcurrency: 2',
    WINDOWS: 'yes',
    LAST: '1',
  });
});

test('an assignment stands where its name does', () => {
  const { assignments } = parseEnvFile('a.env', "A='1\n2'\n  export B=3\n");
  assert.deepEqual(
    assignments.map(({ location }) => location),
    [
      { file: 'a.env', line: 1, column: 1 },
      { file: 'a.env', line: 3, column: 10 },
    ],
  );
});

test('what is no assignment is a problem at its place, and the other lines count', () => {
  const text = 'A=1\nB = 2\n=3\nC=a b\nD=$HOME\nE="`id`"\nF=a;b\nG=7\n';
  assert.deepEqual(problemsOf(text), [
    '2:1 is no assignment: write B=value, without blanks before and behind the =',
    '3:1 is no assignment: write NAME=value, or # before a comment',
    "4:5 more stands behind the value of C: put the value into quotes, as C='…'",
    '5:3 $ means something to a shell, and nothing here: put the value into single quotes',
    '6:4 ` means something to a shell, and nothing here: use single quotes',
    '7:4 ; means something to a shell, and nothing here: put the value into single quotes',
  ]);
  const { assignments } = parseEnvFile('a.env', text);
  assert.deepEqual(
    assignments.map(({ name }) => name),
    ['A', 'G'],
  );
});

test('a quote that is not closed is told where it opens', () => {
  assert.deepEqual(problemsOf("A=1\nB='x\nC=2\n"), ["2:3 a quote is not closed: write ' at its end"]);
  assert.deepEqual(problemsOf('B="x\n'), ['1:3 a quote is not closed: write " at its end']);
});

test('what is written in single quotes comes back, whatever it is, and no text breaks the reader', () => {
  fc.assert(
    fc.property(fc.string(), (value) => {
      const quoted = `'${value.replaceAll("'", `'"'"'`)}'`;
      assert.deepEqual(read(`A=${quoted}\nB=1`), { A: value, B: '1' });
    }),
    { numRuns: runs(200) },
  );
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('A', '=', "'", '"', '\\', '\n', ' ', '#', '$', '\r') }), (text) => {
      parseEnvFile('a.env', text);
    }),
    { numRuns: runs(500) },
  );
});
