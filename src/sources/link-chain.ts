import { readlinkSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve, sep } from 'node:path';

/** An entry of a directory: what `path` leads to changes when this entry does. */
export interface ChainEntry {
  readonly directory: string;
  readonly name: string;
}

/** More links in a row are a circle, as for the kernel. */
const MOST_LINKS = 40;
/** Of a path without links only so many of the last entries are named; those above hardly ever change. */
const LAST_ENTRIES = 4;

/**
 * The directory entries through which a path is reached: each symbolic link on the way, where it stands, and what it leads
 * to. Ends at the first entry that does not exist. Absolute paths.
 */
export function linkChain(path: string): readonly ChainEntry[] {
  const chain: ChainEntry[] = [];
  let links = 0;
  const walk = (from: string, rest: string): void => {
    const names = rest.split(sep).filter((name) => name !== '' && name !== '.');
    let directory = from;
    for (const [i, name] of names.entries()) {
      if (name === '..') {
        directory = dirname(directory);
        continue;
      }
      const target = linkTarget(join(directory, name));
      if (target !== undefined || names.length - i <= LAST_ENTRIES) chain.push({ directory, name });
      if (target === undefined) {
        directory = join(directory, name);
        continue;
      }
      if (++links > MOST_LINKS) return;
      walk(isAbsolute(target) ? sep : directory, join(target, ...names.slice(i + 1)));
      return;
    }
  };
  walk(sep, resolve(path));
  return chain;
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
