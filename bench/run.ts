/**
 * The benchmark: `npm run bench`. Ours and the floor (../shared/tools/floor.mjs) are measured in the same run by the same client,
 * and the ratio counts. Writes the table of docs/performance.md. BENCH=quick takes a minute, is less exact and writes nothing.
 */
import { existsSync, globSync, statSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { EFFORTS, measured } from './measure.ts';
import { buildProbe, missingTools } from './probe.ts';
import { linesOf } from './rows.ts';
import { markdownTable, writeTable } from './table.ts';

const TABLE = 'docs/performance.md';

async function main(): Promise<number> {
  const missing = missingTools();
  if (missing !== undefined) {
    console.log(`bench: nothing is measured: ${missing}`);
    return 0;
  }
  buildProbe();
  const [busy = 0] = loadavg();
  const quick = process.env['BENCH'] === 'quick';
  const effort = EFFORTS[quick ? 'quick' : 'full'];
  const figures = await measured(effort, (line) => console.log(line));
  for (const [name, file] of [
    ['size', 'dist/istiod'],
    ['deb', globSync('dist/*.deb')[0] ?? ''],
  ] as const) {
    if (existsSync(file)) figures.set(name, [{ ours: statSync(file).size / 1e6, floor: undefined }]);
  }
  const lines = linesOf(figures);
  const about =
    `Measured on ${new Date().toISOString().slice(0, 10)} on ${availableParallelism()} cores beside the client, Node ` +
    `${process.versions.node}, a load of ${busy.toFixed(1)} by others when it began; medians of ${effort.runs} runs of ${effort.changes} changes.`;
  const table = markdownTable(lines, about);
  console.log(`\n${table}\n`);
  if (!quick) writeTable(TABLE, table);
  const failing = lines.filter(({ holds }) => holds === false);
  for (const { row } of failing) console.log(`does not hold: ${row.what}`);
  console.log(`${lines.filter(({ holds }) => holds).length} hold, ${failing.length} do not`);
  return 0;
}

process.exitCode = await main();
