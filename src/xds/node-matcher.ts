import type { envoy } from '#generated/proto/types.ts';
import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { Node } from '../proto/discovery.ts';
import { ConnectError } from './provider.ts';

type NodeMatcher = envoy.type.matcher.v3.NodeMatcher;
type StringMatcher = envoy.type.matcher.v3.StringMatcher;
type StructMatcher = envoy.type.matcher.v3.StructMatcher;

/**
 * Whether a node is one of those that are asked for; without matchers every node is.
 * @throws ConnectError INVALID_ARGUMENT for a matcher that is not understood
 */
export function matchesNode({ id, metadata }: Node, matchers: readonly NodeMatcher[]): boolean {
  if (matchers.length === 0) return true;
  return matchers.some(
    ({ nodeId, nodeMetadatas = [] }) =>
      (nodeId === undefined || matchesText(id, nodeId)) &&
      nodeMetadatas.every((matcher) => matchesStruct(metadata, matcher)),
  );
}

function matchesText(text: string, matcher: StringMatcher): boolean {
  const fold = (value: string): string => (matcher.ignoreCase ? value.toLowerCase() : value);
  const subject = fold(text);
  const { exact, prefix, suffix, contains } = matcher;
  if (exact !== undefined) return subject === fold(exact);
  if (prefix !== undefined) return subject.startsWith(fold(prefix));
  if (suffix !== undefined) return subject.endsWith(fold(suffix));
  if (contains !== undefined) return subject.includes(fold(contains));
  throw notUnderstood('texts are matched by exact, prefix, suffix or contains');
}

function matchesStruct(metadata: JsonValue | undefined, { path = [], value = {} }: StructMatcher): boolean {
  const found = path.reduce<JsonValue | undefined>(
    (at, { key = '' }) => (isJsonObject(at) ? at[key] : undefined),
    metadata,
  );
  const { stringMatch, boolMatch, presentMatch } = value;
  if (stringMatch !== undefined) return typeof found === 'string' && matchesText(found, stringMatch);
  if (boolMatch !== undefined) return found === boolMatch;
  if (presentMatch !== undefined) return (found !== undefined) === presentMatch;
  throw notUnderstood('metadata is matched by string_match, bool_match or present_match');
}

function notUnderstood(what: string): ConnectError {
  return new ConnectError('INVALID_ARGUMENT', `a node matcher is not understood: ${what}`);
}
