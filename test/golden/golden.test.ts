import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { translateFixture } from './fixture.ts';

const HERE = import.meta.dirname;
const MOST_LINES = 400;

const inputs = globSync('*/*.in.yaml', { cwd: HERE }).sort();

/** Inputs are small and their outputs few: who reads them sees what the product does. */
function assertShort(path: string, text: string): void {
  const lines = text.split('\n').length - 1;
  assert.ok(lines <= MOST_LINES, `${path} has ${lines} lines: show less of it`);
}

for (const input of inputs) {
  test(`what clients are sent for ${input.replace('.in.yaml', '')} stays as it is written down`, (t) => {
    for (const { proxy, resources } of translateFixture(readFileSync(join(HERE, input), 'utf8'))) {
      for (const [type, text] of Object.entries(resources)) {
        const path = input.replace('.in.yaml', `.${proxy}.${type}.yaml`);
        assertShort(path, text);
        t.assert.fileSnapshot(text, join(HERE, path), { serializers: [String] });
      }
    }
  });
}

test('every output belongs to an input, and to a client and type of it', () => {
  const expected = new Set(
    inputs.flatMap((input) =>
      translateFixture(readFileSync(join(HERE, input), 'utf8')).flatMap(({ proxy, resources }) =>
        Object.keys(resources).map((type) => input.replace('.in.yaml', `.${proxy}.${type}.yaml`)),
      ),
    ),
  );
  const outputs = globSync('*/*.yaml', { cwd: HERE }).filter((path) => !basename(path).endsWith('.in.yaml'));
  assert.deepEqual(
    outputs.filter((path) => !expected.has(path)),
    [],
  );
});
