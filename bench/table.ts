import { readFileSync, writeFileSync } from 'node:fs';
import type { Line } from './rows.ts';

const BEGIN = '<!-- The table is made by npm run bench: it is not edited by hand. -->';
const END = '<!-- end of the table -->';

function figure(value: number | undefined, unit: string): string {
  if (value === undefined) return '';
  return `${value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)} ${unit}`;
}

function limitOf({ row: { limit, unit } }: Line): string {
  if (limit === undefined) return '';
  return 'most' in limit ? figure(limit.most, unit).replace(/\.0+ /, ' ') : `${limit.timesFloor} × floor`;
}

/** The lines as a table in Markdown. */
export function markdownTable(lines: readonly Line[], about: string): string {
  const rows = lines.map((line) => {
    const { row, ours, floor, ratio, holds } = line;
    const verdict = holds === undefined ? '' : holds ? 'yes' : '**no**';
    const cells = [
      row.what,
      figure(ours, row.unit),
      figure(floor, row.unit),
      ratio?.toFixed(2) ?? '',
      limitOf(line),
      verdict,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const head = ['| what | istiod-vm | floor | ratio | to hold | holds |', '|---|---|---|---|---|---|'];
  return [about, '', ...head, ...rows].join('\n');
}

/** Puts the table between the marks of a file. @throws Error when the file has no marks */
export function writeTable(file: string, table: string): void {
  const text = readFileSync(file, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${file} lacks the marks between which the table stands`);
  writeFileSync(file, `${text.slice(0, begin + BEGIN.length)}\n\n${table}\n\n${text.slice(end)}`);
}
