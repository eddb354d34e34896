import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { linesOf, median } from '../../../bench/rows.ts';
import { markdownTable, writeTable } from '../../../bench/table.ts';

test('the median of an even number of values lies between the two in the middle', () => {
  assert.equal(median([4, 1, 3, 2]), 2.5);
  assert.equal(median([9, 1, 2]), 2);
});

test('a ratio is taken run by run, so that a slow run counts against neither', () => {
  const pairs = [
    { ours: 10, floor: 10 },
    { ours: 40, floor: 40 },
    { ours: 22, floor: 20 },
  ];
  const [line] = linesOf(new Map([['endpoint 100', pairs]]));
  assert.deepEqual([line?.ours, line?.floor, line?.ratio, line?.holds], [22, 20, 1, true]);
});

test('what is above its limit does not hold, and what was not measured has no line', () => {
  const lines = linesOf(new Map([['start 100', [{ ours: 0.3, floor: undefined }]]]));
  assert.deepEqual(
    lines.map(({ row, holds }) => [row.name, holds]),
    [['start 100', false]],
  );
});

test('the table replaces what stands between the marks, and nothing else', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'table-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'performance.md');
  const marks = ['<!-- The table is made by npm run bench: it is not edited by hand. -->', '<!-- end of the table -->'];
  writeFileSync(file, `before\n\n${marks[0]}\nold\n${marks[1]}\n\nafter\n`);
  const lines = linesOf(new Map([['endpoint 100', [{ ours: 3, floor: 1 }]]]));
  writeTable(file, markdownTable(lines, 'about'));
  const text = readFileSync(file, 'utf8');
  assert.match(text, /^before\n/);
  assert.match(text, /\nafter\n$/);
  assert.match(text, /3\.00 ms \| 1\.00 ms \| 3\.00 \| 1\.5 × floor \| \*\*no\*\* \|/);
  assert.doesNotMatch(text, /\bold\b/);
});
