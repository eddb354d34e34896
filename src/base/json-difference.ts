import { deepEqual } from './equal.ts';
import { isJsonObject, type JsonValue } from './json.ts';

/** One place in which two JSON values differ. */
export interface JsonDifference {
  /** As in `routes[2].match.prefix`; an element with a name stands by its name: `virtualHosts[a:80].routes`. */
  readonly path: string;
  /** Undefined: it was not there. */
  readonly before: JsonValue | undefined;
  /** Undefined: it is not there any more. */
  readonly after: JsonValue | undefined;
}

/**
 * The smallest places in which two values differ, in the order of the fields. Elements of lists that have names are compared by
 * name; of other lists what begins and ends alike is passed over, and what is between is compared one by one.
 */
export function jsonDifferences(before: JsonValue, after: JsonValue, path = ''): readonly JsonDifference[] {
  if (deepEqual(before, after)) return [];
  if (isJsonObject(before) && isJsonObject(after)) {
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((field) =>
      below(before[field], after[field], path === '' ? field : `${path}.${field}`),
    );
  }
  if (Array.isArray(before) && Array.isArray(after)) return ofLists(before, after, path);
  return [{ path, before, after }];
}

function below(before: JsonValue | undefined, after: JsonValue | undefined, path: string): readonly JsonDifference[] {
  if (before !== undefined && after !== undefined) return jsonDifferences(before, after, path);
  return before === after ? [] : [{ path, before, after }];
}

function ofLists(before: readonly JsonValue[], after: readonly JsonValue[], path: string): readonly JsonDifference[] {
  const [named, namedAfter] = [byName(before), byName(after)];
  if (named !== undefined && namedAfter !== undefined) {
    const found = [...new Set([...named.keys(), ...namedAfter.keys()])].flatMap((name) =>
      below(named.get(name), namedAfter.get(name), `${path}[${name}]`),
    );
    return found.length > 0 ? found : [order(path, [...named.keys()], [...namedAfter.keys()])];
  }
  let start = 0;
  while (start < before.length && start < after.length && deepEqual(before[start], after[start])) start++;
  let end = 0;
  while (
    end < Math.min(before.length, after.length) - start &&
    deepEqual(before[before.length - 1 - end], after[after.length - 1 - end])
  ) {
    end++;
  }
  const count = Math.max(before.length, after.length) - start - end;
  return Array.from({ length: count }, (_, i) => start + i).flatMap((i) =>
    below(
      i < before.length - end ? before[i] : undefined,
      i < after.length - end ? after[i] : undefined,
      `${path}[${i}]`,
    ),
  );
}

function order(path: string, before: readonly string[], after: readonly string[]): JsonDifference {
  return { path: `${path} in order`, before, after };
}

/** Undefined when some element has no name, or two have the same. */
function byName(list: readonly JsonValue[]): ReadonlyMap<string, JsonValue> | undefined {
  const named = new Map<string, JsonValue>();
  for (const item of list) {
    const name = isJsonObject(item) ? item['name'] : undefined;
    if (typeof name !== 'string' || named.has(name)) return undefined;
    named.set(name, item);
  }
  return named;
}
