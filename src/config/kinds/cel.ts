import { celExpression } from '../../base/cel.ts';
import type { Finding, Place } from '../finding.ts';

/** Functions that Envoy evaluates, and the macro that it allows. Tried with Envoy 1.40. */
const FUNCTIONS: ReadonlySet<string> = new Set([
  ...['has', 'size', 'contains', 'startsWith', 'endsWith', 'matches', 'extract', 'capture', 'captureN'],
  ...['bool', 'bytes', 'double', 'dyn', 'duration', 'int', 'timestamp', 'type', 'uint'],
  ...['getFullYear', 'getMonth', 'getDayOfYear', 'getDayOfMonth', 'getDate', 'getDayOfWeek'],
  ...['getHours', 'getMinutes', 'getSeconds', 'getMilliseconds'],
]);

/** Macros that go through a list, for which Envoy takes no time. */
const COMPREHENSIONS: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

/** Why Envoy would refuse to evaluate an expression whose syntax is right; undefined: it would not. */
function hindrance(text: string): string | undefined {
  const { calls, makesMessages } = celExpression(text);
  const unknown = calls.find((name) => !FUNCTIONS.has(name));
  if (unknown === undefined) return makesMessages ? 'Envoy makes no messages' : undefined;
  if (COMPREHENSIONS.has(unknown)) return `Envoy does not go through lists, as "${unknown}" would`;
  return `Envoy has no function "${unknown}"`;
}

/** Whether Envoy takes the expression. It refuses whole listeners for the sake of one that it can not evaluate. */
export function isEvaluable(text: string): boolean {
  return celExpression(text).problem === undefined && hindrance(text) === undefined;
}

/**
 * What is wrong with the filter of an access log.
 *
 * @see istio/istio pkg/config/validation/validation_cel.go
 */
export function* logFilterFindings(at: Place, text: string): Generator<Finding> {
  const { problem } = celExpression(text);
  if (text.trim() === '') yield at.error('needs a CEL expression, as "response.code >= 400"');
  else if (problem !== undefined) yield at.error(`is no CEL, at character ${problem.column}: ${problem.message}`);
  else {
    const why = hindrance(text);
    if (why !== undefined) yield at.warning(`${why}: the log is left out until the expression does without`);
  }
}
