import { shortType } from '../../admin/short-type.ts';
import { type Diagnostic, formatDiagnostic } from '../../base/diagnostic.ts';
import type { JsonValue } from '../../base/json.ts';
import type { JsonDifference } from '../../base/json-difference.ts';
import type { ProxyChanges, ResourceChange } from './compare.ts';

export interface Difference {
  readonly groups: readonly ProxyChanges[];
  /** Proxies that were compared. */
  readonly proxies: number;
  /** Errors that were not there before. */
  readonly errors: readonly Diagnostic[];
}

/** Places of one resource, and proxies of one group, that are shown. */
const MOST_FIELDS = 12;
const MOST_PROXIES = 10;
/** Characters of a value that are shown. */
const MOST_TEXT = 100;

const MARK = { added: '+', changed: '~', removed: '-' } as const;

/** One line for each resource, and below it one for each place that changes. */
export function textReport({ groups, proxies, errors }: Difference): string {
  const changed = groups.reduce((sum, group) => sum + group.proxies.length, 0);
  const lines = [
    ...errors.map((error) => `new error, served as before: ${formatDiagnostic(error)}`),
    ...groups.flatMap((group) => [...groupLines(group), '']),
    changed === 0
      ? `nothing changes for ${proxies} ${proxies === 1 ? 'proxy' : 'proxies'}`
      : `something changes for ${changed} of ${proxies} proxies`,
  ];
  return `${lines.join('\n')}\n`;
}

export function jsonReport({ groups, proxies, errors }: Difference): string {
  return `${JSON.stringify({ proxies, errors, groups }, null, 2)}\n`;
}

function groupLines({ proxies, changes }: ProxyChanges): readonly string[] {
  const shown = proxies.slice(0, MOST_PROXIES).join(', ');
  const more = proxies.length > MOST_PROXIES ? ` and ${proxies.length - MOST_PROXIES} more` : '';
  const count = proxies.length > 1 ? ` (${proxies.length} proxies)` : '';
  return [`${shown}${more}${count}`, ...changes.flatMap(changeLines)];
}

function changeLines({ typeUrl, name, change, fields }: ResourceChange): readonly string[] {
  const more = fields.length - MOST_FIELDS;
  return [
    `  ${MARK[change]} ${shortType(typeUrl).toUpperCase().padEnd(4)} ${name}`,
    ...fields.slice(0, MOST_FIELDS).map((field) => `           ${fieldLine(field)}`),
    ...(more > 0 ? [`           and in ${more} more places`] : []),
  ];
}

function fieldLine({ path, before, after }: JsonDifference): string {
  if (before === undefined) return `${path}: + ${shown(after)}`;
  if (after === undefined) return `${path}: - ${shown(before)}`;
  return `${path}: ${shown(before)} -> ${shown(after)}`;
}

function shown(value: JsonValue | undefined): string {
  const text = JSON.stringify(value) ?? '';
  return text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text;
}
