import { parseDuration } from '../../base/duration.ts';
import { isJsonObject } from '../../base/json.ts';
import type { Scalar } from './schema.ts';

/** What a scalar is read as. At most one of the messages is set. */
export interface ReadScalar {
  readonly value?: unknown;
  /** Why it can not be read as its type. */
  readonly unreadable?: string;
  /** Why it is not allowed, though it can be read. */
  readonly outOfBounds?: string;
}

/** A value as it may stand in a message: short, with its type. */
export function shown(raw: unknown): string {
  if (raw === null) return 'null';
  if (Array.isArray(raw)) return 'a list';
  if (typeof raw === 'object') return 'an object';
  if (typeof raw === 'string') return JSON.stringify(raw.length > 80 ? `${raw.slice(0, 80)}…` : raw);
  return `the ${typeof raw} ${String(raw)}`;
}

const RANGES = {
  int32: [-(2n ** 31n), 2n ** 31n - 1n],
  uint32: [0n, 2n ** 32n - 1n],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
  uint64: [0n, 2n ** 64n - 1n],
} as const;

/** The longest duration that Go has, in milliseconds. */
const MAX_DURATION_MS = 9_223_372_036_854;

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Reads a scalar of a document.
 *
 * @param raw as YAML or JSON gave it; a bigint is a whole number beyond 2^53
 * @param numbersInText whether a number may be written as text, as proto JSON has it
 */
export function readScalar(type: Scalar, raw: unknown, numbersInText: boolean): ReadScalar {
  switch (type.kind) {
    case 'string':
      return typeof raw === 'string' ? { value: raw, ...textBounds(type, raw) } : { unreadable: notText(raw) };
    case 'scalar-text':
      return typeof raw === 'object' ? { unreadable: notText(raw) } : { value: String(raw) };
    case 'bool':
      return typeof raw === 'boolean' ? { value: raw } : { unreadable: `must be true or false, not ${shown(raw)}` };
    case 'int32':
    case 'uint32':
    case 'int64':
    case 'uint64':
      return readInteger(type, type.kind, raw, numbersInText);
    case 'double':
      return readDouble(type, raw, numbersInText);
    case 'duration':
      return readDuration(type, raw);
    case 'bytes':
      return typeof raw === 'string' && BASE64.test(raw.replace(/[\r\n]/g, ''))
        ? { value: raw }
        : { unreadable: `must be bytes in base64, not ${shown(raw)}` };
    case 'struct':
      return isJsonObject(raw) ? { value: frozenCopy(raw) } : { unreadable: `must be an object, not ${shown(raw)}` };
    case 'int-or-string':
      return typeof raw === 'string' || Number.isInteger(raw)
        ? { value: raw }
        : { unreadable: `must be a whole number or a text, not ${shown(raw)}` };
  }
}

function notText(raw: unknown): string {
  // A boolean may be spelled otherwise in the file: `y`, `on`.
  const what = typeof raw === 'boolean' ? 'what you mean in quotes' : `it in quotes, as "${String(raw)}"`;
  const quoted = raw !== null && typeof raw !== 'object' ? `: put ${what}` : '';
  return `must be a text, not ${shown(raw)}${quoted}`;
}

function textBounds({ minLength = 0, maxLength, pattern }: Scalar, text: string): ReadScalar {
  if (text.length < minLength) return { outOfBounds: 'must not be empty' };
  if (maxLength !== undefined && text.length > maxLength) {
    return { outOfBounds: `has ${text.length} characters; at most ${maxLength} are allowed` };
  }
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) {
    return { outOfBounds: `${shown(text)} must match ${pattern}` };
  }
  return {};
}

function readInteger(type: Scalar, kind: keyof typeof RANGES, raw: unknown, inText: boolean): ReadScalar {
  const digits = typeof raw === 'string' ? inText && /^-?\d{1,20}$/.test(raw) : Number.isInteger(raw);
  if (!digits && typeof raw !== 'bigint') return { unreadable: `must be a whole number, not ${shown(raw)}` };
  const exact = BigInt(raw as string | number | bigint);
  const [least, most] = RANGES[kind];
  if (exact < least) return { unreadable: `${exact} is below ${least}` };
  if (exact > most) return { unreadable: `${exact} is above ${most}` };
  const number = Number(exact);
  return { value: Number.isSafeInteger(number) ? number : String(exact), ...numberBounds(type, number) };
}

function readDouble(type: Scalar, raw: unknown, inText: boolean): ReadScalar {
  const text = typeof raw === 'string' && inText && raw.trim() !== '';
  const number = typeof raw === 'number' || typeof raw === 'bigint' || text ? Number(raw) : Number.NaN;
  if (!Number.isFinite(number)) return { unreadable: `must be a number, not ${shown(raw)}` };
  return { value: number, ...numberBounds(type, number) };
}

function numberBounds({ min, max }: Scalar, number: number): ReadScalar {
  if ((min === undefined || number >= min) && (max === undefined || number <= max)) return {};
  if (min === undefined) return { outOfBounds: `${number} is above ${max}` };
  return {
    outOfBounds: max === undefined ? `${number} is below ${min}` : `${number} is not between ${min} and ${max}`,
  };
}

function readDuration({ min, max }: Scalar, raw: unknown): ReadScalar {
  const milliseconds = typeof raw === 'string' ? parseDuration(raw) : undefined;
  if (milliseconds === undefined || Math.abs(milliseconds) > MAX_DURATION_MS) {
    const example = typeof raw === 'number' ? `"${raw}s"` : '"5s", "1h30m" or "100ms"';
    return { unreadable: `${shown(raw)} is not a duration: write a text with a unit, as ${example}` };
  }
  if (min !== undefined && milliseconds < min) {
    const least = min === 0 ? 'is negative' : `is below ${min}ms`;
    return { value: raw, outOfBounds: `the duration ${shown(raw)} ${least}` };
  }
  if (max !== undefined && milliseconds > max) {
    return { value: raw, outOfBounds: `the duration ${shown(raw)} is above ${max / 1000}s` };
  }
  const fraction = Math.abs(milliseconds - Math.round(milliseconds));
  if (min !== undefined && min > 0 && fraction > 1e-7) {
    return { value: raw, outOfBounds: `the duration ${shown(raw)} is finer than a millisecond` };
  }
  return { value: raw };
}

function frozenCopy(value: unknown): unknown {
  // As proto JSON has 64-bit numbers; JSON itself can not say a bigint.
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy));
  if (!isJsonObject(value)) return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, frozenCopy(item)])));
}
