import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { referencePages } from '../../build/reference/pages.ts';

test('the reference is what the code says; npm run reference makes it', () => {
  for (const [file, text] of referencePages()) {
    assert.equal(readFileSync(join('docs/reference', file), 'utf8'), text, file);
  }
});

test('links between documents lead to files that are there', () => {
  const broken = [...globSync('docs/**/*.md'), 'README.md'].flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)].flatMap(([, link = '']) =>
      globSync(join(dirname(file), link)).length === 0 ? [`${file}: ${link}`] : [],
    ),
  );
  assert.deepEqual(broken, []);
});
