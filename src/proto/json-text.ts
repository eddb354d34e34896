import type { JsonValue } from '../base/json.ts';

/** Texts and numbers as Go's protojson writes them. */

interface SecondsAndNanos {
  /** A 64-bit integer as text; absent: 0. */
  readonly seconds?: JsonValue;
  readonly nanos?: JsonValue;
}

/** `5s`, `-0.250s`. */
export function durationText({ seconds = '0', nanos = 0 }: SecondsAndNanos): string {
  const text = String(seconds);
  const negative = text.startsWith('-') || Number(nanos) < 0;
  return `${negative ? '-' : ''}${text.replace('-', '')}${fractionText(Math.abs(Number(nanos)))}s`;
}

/** `2026-11-28T02:08:00.5Z`. What is out of the range of years 1 to 9999 stays a number of seconds. */
export function timestampText({ seconds = '0', nanos = 0 }: SecondsAndNanos): string {
  const date = new Date(Number(seconds) * 1000);
  const text = Number.isNaN(date.getTime()) ? '' : date.toISOString();
  return /^\d{4}-/.test(text) ? `${text.slice(0, 19)}${fractionText(Number(nanos))}Z` : `${seconds}s`;
}

/** No digits, or 3, 6 or 9. */
function fractionText(nanos: number): string {
  if (nanos === 0) return '';
  return `.${String(nanos)
    .padStart(9, '0')
    .replace(/(000){1,2}$/, '')}`;
}

/** The number with the fewest digits that is this one in 32 bits: 0.1 and not 0.10000000149011612. */
export function shortestFloat(value: number): number {
  for (let digits = 6; digits < 9; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === value) return candidate;
  }
  return Number.isFinite(value) ? Number(value.toPrecision(9)) : value;
}
