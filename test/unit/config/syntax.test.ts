import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDiagnostic } from '../../../src/base/diagnostic.ts';
import { parseFile } from '../../../src/config/parse.ts';

function finding(text: string): string {
  const { diagnostics } = parseFile('f.yaml', text, { source: '', namespace: 'shop', strict: false });
  assert.equal(diagnostics.length, 1);
  return diagnostics.map(formatDiagnostic)[0] ?? '';
}

test('a bracket that is not closed is told where it opens, however far the text goes on', () => {
  const rest = 'http:\n- timeout: 5s\n'.repeat(50);
  assert.equal(
    finding(`a: 1\nhosts: [a, b\n${rest}`),
    'f.yaml:2:8: error VM0103: this "[" is not closed: write "]" where it ends',
  );
  assert.equal(
    finding('{"kind": "A", "spec": {"hosts": ["a",}}'),
    'f.yaml:1:33: error VM0103: this "[" is not closed: write "]" where it ends',
  );
  assert.equal(
    finding('{"kind": "A", "spec": {"hosts": []}'),
    'f.yaml:1:1: error VM0103: this "{" is not closed: write "}" where it ends',
  );
});

test('a quote that is not closed is told where it opens', () => {
  assert.equal(
    finding("a: 1\nhost: 'x\nb: 2\n"),
    "f.yaml:2:7: error VM0103: this quote is not closed: write ' where the text ends",
  );
  assert.equal(
    finding('a: 1\nhost: "x\nb: 2\n'),
    'f.yaml:2:7: error VM0103: this quote is not closed: write " where the text ends',
  );
});

test('indentation that is wrong is told where it is', () => {
  assert.match(finding('a: 1\n  b: 2\n'), /^f\.yaml:(?:1|2):\d+: error VM0103: /);
  assert.match(finding('a:\n  b: [1]\n   c: 2\n'), /^f\.yaml:3:1: error VM0103: the indentation is wrong here/);
});

test('a template that is not filled in is told as one', () => {
  assert.match(
    finding('metadata:\n  name: {{ .Values.name }}\n'),
    /^f\.yaml:2:10: error VM0103: a template is not filled in here/,
  );
});
