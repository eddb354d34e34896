const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const PART = /(\d+\.?\d*|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;

/**
 * Milliseconds of a duration in Go's notation (`1h30m`, `1.5s`, `250ms`, `0`), or undefined when it is none.
 * Istio reads the durations of its API this way (Go time.ParseDuration).
 */
export function parseDuration(text: string): number | undefined {
  const negative = text.startsWith('-');
  let at = negative || text.startsWith('+') ? 1 : 0;
  if (text.slice(at) === '0') return 0;
  if (at === text.length) return undefined;
  let total = 0;
  while (at < text.length) {
    PART.lastIndex = at;
    const part = PART.exec(text);
    if (part === null) return undefined;
    total += Number(part[1]) * (UNIT_MS[part[2] as string] as number);
    at = PART.lastIndex;
  }
  return negative ? -total : total;
}

/** A duration in proto JSON (`5s`, `0.250s`), from milliseconds. */
export function formatDuration(milliseconds: number): string {
  const nanos = Math.round(milliseconds * 1e6);
  const seconds = Math.trunc(nanos / 1e9);
  const rest = Math.abs(nanos - seconds * 1e9);
  if (rest === 0) return `${seconds}s`;
  const digits = String(rest).padStart(9, '0');
  const fraction = digits.endsWith('000000')
    ? digits.slice(0, 3)
    : digits.endsWith('000')
      ? digits.slice(0, 6)
      : digits;
  return `${nanos < 0 && seconds === 0 ? '-' : ''}${seconds}.${fraction}s`;
}
