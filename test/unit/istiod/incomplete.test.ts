import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseFile } from '../../../src/config/parse.ts';
import type { ParsedFile } from '../../../src/config/parsed.ts';
import { hasVanished } from '../../../src/istiod/incomplete.ts';

function file(name: string, ...objects: readonly string[]): ParsedFile {
  const text = objects.map(
    (object) => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${object}}
spec:
  hosts: [${object}.shop.internal]
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP}]
  endpoints: [{address: 10.0.0.1}]
`,
  );
  return parseFile(name, text.join('---\n'), { source: 's', namespace: 'shop', strict: false });
}

const before = new Map([
  ['x', file('x', 'one')],
  ['y', file('y', 'two')],
]);

test('an object that left its file and is in no other one has vanished', () => {
  assert.equal(hasVanished([{ file: 'x', parsed: file('x', 'two') }], before), true);
  assert.equal(hasVanished([{ file: 'x', parsed: undefined }], before), true);
});

test('objects that exchange their files have not vanished', () => {
  const changes = [
    { file: 'x', parsed: file('x', 'two') },
    { file: 'y', parsed: file('y', 'one') },
  ];
  assert.equal(hasVanished(changes, before), false);
});

test('what counts of a file is its last state', () => {
  const changes = [
    { file: 'x', parsed: undefined },
    { file: 'x', parsed: file('x', 'one') },
  ];
  assert.equal(hasVanished(changes, before), false);
});

test('an edited object has not vanished', () => {
  assert.equal(hasVanished([{ file: 'x', parsed: file('x', 'one', 'three') }], before), false);
});
