import type { Config } from '../../config/config.ts';
import type { ObjectName } from './facts.ts';

export function objectName({ namespace, name }: Pick<Config, 'namespace' | 'name'>): ObjectName {
  return `${namespace}/${name}`;
}

/** Names in one message; more are counted. */
const MOST = 5;

/** `a, b and c`, `a, b, c, d, e and 12 more`. */
export function listed(names: readonly string[]): string {
  if (names.length > MOST) return `${names.slice(0, MOST).join(', ')} and ${names.length - MOST} more`;
  if (names.length < 2) return names[0] ?? '';
  return `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** `key: value, key: value`. */
export function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}: ${value}`)
    .join(', ');
}
