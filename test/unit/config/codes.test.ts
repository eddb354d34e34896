import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { CODES } from '../../../src/config/codes.ts';

test('each code is one by which something is found', () => {
  const sources = globSync('src/**/*.ts').filter((path) => !/src\/config\/code(s|-advice)\.ts$/.test(path));
  const text = sources.map((path) => readFileSync(path, 'utf8')).join('\n');
  assert.deepEqual(
    Object.keys(CODES).filter((code) => !text.includes(`'${code}'`)),
    [],
  );
});
