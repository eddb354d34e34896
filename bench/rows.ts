import type { Measured, Pair } from './measure.ts';

/** What is to hold: at most so much, or at most so many times the floor. */
type Limit = { readonly most: number } | { readonly timesFloor: number };

/** A line of the table. */
export interface Row {
  /** The name under which it was measured. */
  readonly name: string;
  readonly what: string;
  readonly unit: 's' | 'ms' | 'MB';
  readonly limit?: Limit;
}

const endpoint = (services: string, name: string): readonly Row[] => [
  {
    name: `endpoint ${name}`,
    what: `endpoint change in a file → all of 20 clients have it, ${services} services`,
    unit: 'ms',
    limit: { timesFloor: 1.5 },
  },
  {
    name: `endpoint ${name} worst`,
    what: `the slowest of them, ${services} services`,
    unit: 'ms',
    limit: { timesFloor: 3 },
  },
  {
    name: `endpoint ${name} cpu`,
    what: `CPU that it costs, ${services} services`,
    unit: 'ms',
    limit: { timesFloor: 2 },
  },
];

/** What is measured and what is to hold. */
export const ROWS: readonly Row[] = [
  ...endpoint('100', '100'),
  ...endpoint('1,000', '1000'),
  ...endpoint('10,000', '10000'),
  {
    name: 'endpoint quick',
    what: 'the same with changes 20 ms apart, 1,000 services (gathered for up to 100 ms)',
    unit: 'ms',
  },
  { name: 'endpoint quick cpu', what: 'CPU that each costs', unit: 'ms', limit: { timesFloor: 2 } },
  {
    name: 'route 1000',
    what: "route change, 1,000 services (the floor's endpoint change)",
    unit: 'ms',
    limit: { timesFloor: 3 },
  },
  {
    name: 'service 1000',
    what: "new service, 1,000 services (the floor's endpoint change)",
    unit: 'ms',
    limit: { timesFloor: 4 },
  },
  { name: 'start 100', what: 'start to ready, 100 services', unit: 's', limit: { most: 0.2 } },
  { name: 'start 1000', what: 'start to ready, 1,000 services', unit: 's', limit: { most: 0.6 } },
  { name: 'start 10000', what: 'start to ready, 10,000 services', unit: 's', limit: { most: 5 } },
  { name: 'connect', what: '100 clients connect and get 1,000 services', unit: 's', limit: { most: 1.5 } },
  { name: 'connect cpu', what: 'CPU that it costs', unit: 's', limit: { most: 1.5 } },
  { name: 'connect rss', what: 'RSS after that', unit: 'MB', limit: { most: 180 } },
  { name: 'rss 100', what: 'RSS, 100 services, 20 clients', unit: 'MB', limit: { most: 100 } },
  { name: 'rss 1000', what: 'RSS, 1,000 services, 20 clients', unit: 'MB' },
  { name: 'rss 10000', what: 'RSS, 10,000 services, 20 clients', unit: 'MB' },
  { name: 'heap 10000', what: 'heap in use, 10,000 services, 20 clients', unit: 'MB', limit: { most: 400 } },
  { name: 'heap 10000 growth', what: 'growth of the heap over 500 edits', unit: 'MB', limit: { most: 20 } },
  { name: 'scopes 10000', what: 'heap in use, 10,000 services, 500 scopes', unit: 'MB', limit: { most: 400 } },
  { name: 'scopes 10000 rss', what: 'RSS, 10,000 services, 500 scopes', unit: 'MB' },
  { name: 'scopes 10000 connect', what: '500 clients connect and get 10,000 services, each in its scope', unit: 's' },
  { name: 'scopes 10000 endpoint', what: 'endpoint change → all of 500 clients have it, 10,000 services', unit: 'ms' },
  { name: 'size', what: 'the executable', unit: 'MB', limit: { most: 115 } },
  { name: 'deb', what: 'the Debian package', unit: 'MB', limit: { most: 30 } },
];

/** A row with its figures: medians over runs, the ratio too, which is taken run by run. */
export interface Line {
  readonly row: Row;
  readonly ours: number;
  readonly floor: number | undefined;
  readonly ratio: number | undefined;
  /** Undefined when nothing is to hold. */
  readonly holds: boolean | undefined;
}

/** The rows that were measured. */
export function linesOf(measured: Measured): readonly Line[] {
  return ROWS.flatMap((row) => {
    const pairs = measured.get(row.name);
    return pairs === undefined || pairs.length === 0 ? [] : [lineOf(row, pairs)];
  });
}

function lineOf(row: Row, pairs: readonly Pair[]): Line {
  const ours = median(pairs.map((pair) => pair.ours));
  const floors = pairs.flatMap(({ floor }) => floor ?? []);
  const ratios = pairs.flatMap((pair) => (pair.floor ? [pair.ours / pair.floor] : []));
  const ratio = ratios.length > 0 ? median(ratios) : undefined;
  return { row, ours, floor: floors.length > 0 ? median(floors) : undefined, ratio, holds: holds(row, ours, ratio) };
}

function holds({ limit }: Row, ours: number, ratio: number | undefined): boolean | undefined {
  if (limit === undefined) return undefined;
  if ('most' in limit) return ours <= limit.most;
  return ratio === undefined ? undefined : ratio <= limit.timesFloor;
}

/** The middle one, or the mean of the two in the middle. @throws Error when there is none */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.ceil((sorted.length - 1) / 2)]];
  if (low === undefined || high === undefined) throw new Error('there is no median of nothing');
  return (low + high) / 2;
}
