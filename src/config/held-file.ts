import type { SourceLocation } from '../base/diagnostic.ts';
import type { Config, ConfigKey } from './config.ts';
import type { ParsedFile } from './parsed.ts';

/**
 * An object of a file as it may be served.
 *
 * - `valid`: as it stands in the file.
 * - `held`: its present version is refused, the last good one of this file counts.
 * - `presumed`: it may be the one that the file has in a form that can not be read; or its last good version is of another
 *   file. It counts only where no other file has the object.
 */
export interface Occurrence {
  readonly config: Config;
  readonly state: 'valid' | 'held' | 'presumed';
  /** Of the refused version, for `held` and identified `presumed` ones. */
  readonly refusedAt?: SourceLocation;
}

/** What a file contributes: what is right in it, and what it had last where it is wrong. */
export interface HeldFile {
  readonly parsed: ParsedFile;
  readonly objects: ReadonlyMap<ConfigKey, Occurrence>;
  /** Objects that stand again further down in the same file, with the later one. */
  readonly overridden: readonly { readonly config: Config; readonly by: Config }[];
}

export interface LastGood {
  /** What the file contributed before. */
  readonly ofFile: Iterable<Config>;
  /** What of the whole source is in force. */
  ofSource(key: ConfigKey): Config | undefined;
}

export function heldFile(parsed: ParsedFile, lastGood: LastGood): HeldFile {
  const objects = new Map<ConfigKey, Occurrence>();
  const overridden: { config: Config; by: Config }[] = [];
  for (const config of parsed.configs) {
    const earlier = objects.get(config.key);
    if (earlier !== undefined) overridden.push({ config: earlier.config, by: config });
    objects.set(config.key, { config, state: 'valid' });
  }
  if (parsed.refused.length === 0) return { parsed, objects, overridden };
  const before = new Map([...lastGood.ofFile].map((config) => [config.key, config]));
  for (const { key, location } of parsed.refused) {
    if (key === undefined || objects.has(key)) continue;
    const own = before.get(key);
    const config = own ?? lastGood.ofSource(key);
    if (config !== undefined) {
      objects.set(key, { config, state: own === undefined ? 'presumed' : 'held', refusedAt: location });
    }
  }
  if (parsed.refused.some(({ key }) => key === undefined)) {
    for (const [key, config] of before) if (!objects.has(key)) objects.set(key, { config, state: 'presumed' });
  }
  return { parsed, objects, overridden };
}
