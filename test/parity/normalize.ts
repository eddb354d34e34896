import { parseDuration } from '../../src/base/duration.ts';
import { canonicalJson } from '../../src/base/intern.ts';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';

const SETS: ReadonlySet<string> = new Set(['domains', 'serverNames', 'prefixRanges', 'ips']);
const UNORDERED: ReadonlySet<string> = new Set(['queryParameters', 'dynamicMetadata']);
const DURATION = /^-?\d+(\.\d+)?s$/;

/** A resource in the form in which two are compared (conformance/README.md, "Comparing"). */
export function normalized(value: JsonValue | undefined, key = ''): JsonValue {
  if (typeof value === 'string') return DURATION.test(value) ? `${parseDuration(value)}ms` : value;
  if (Array.isArray(value)) {
    const items = value.map((item) => normalized(item));
    if (key === 'lbEndpoints') return sorted(items, (e) => canonicalJson((e as JsonObject)['endpoint']));
    return SETS.has(key) || UNORDERED.has(key) ? sorted(items, canonicalJson) : items;
  }
  if (value === null || typeof value !== 'object') return value ?? null;
  const out: Record<string, JsonValue> = {};
  for (const [name, field] of Object.entries(value as JsonObject)) out[name] = normalized(field, name);
  return out;
}

function sorted(items: JsonValue[], by: (item: JsonValue) => string): JsonValue[] {
  return items.sort((a, b) => (by(a) < by(b) ? -1 : 1));
}

export interface Difference {
  readonly path: string;
  readonly expected: JsonValue | undefined;
  readonly got: JsonValue | undefined;
}

/** Where two normalised values differ, by path. */
export function differences(
  expected: JsonValue | undefined,
  got: JsonValue | undefined,
  path = '',
): readonly Difference[] {
  if (Array.isArray(expected) && Array.isArray(got)) {
    const length = Math.max(expected.length, got.length);
    return Array.from({ length }, (_, i) => differences(expected[i], got[i], `${path}[${i}]`)).flat();
  }
  if (isRecord(expected) && isRecord(got)) {
    const names = [...new Set([...Object.keys(expected), ...Object.keys(got)])].sort();
    return names.flatMap((name) => differences(expected[name], got[name], `${path}.${name}`));
  }
  return expected === got ? [] : [{ path, expected, got }];
}

function isRecord(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
