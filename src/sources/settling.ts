import type { ConfigKey } from '../config/config.ts';
import { type ParsedDocument, type ParsedFile, parsedFile, type RefusedObject } from '../config/parsed.ts';
import type { FileStamp } from './file-tree.ts';

/** What was heard of a file since it was last read. */
export interface Heard {
  /** How often it came, went or was replaced, and how often it was written. */
  readonly renames: number;
  readonly changes: number;
  /** Another entry of the directory went away just now, which may have become this file. */
  readonly hasDeparted: boolean;
}

/**
 * Whether a file that has changed is surely complete: it was put in its place by one step, or nobody has written to it for
 * some time. Else it may be caught while it is written, and what it lacks may only not be there yet.
 *
 * @param before absent when the file is new, or was gone for a moment
 * @param date now, in milliseconds since 1970
 * @param settle how long a file must be still, in milliseconds
 */
export function isComplete(
  now: FileStamp,
  before: FileStamp | undefined,
  heard: Heard | undefined,
  date: number,
  settle: number,
): boolean {
  const still = date - now.mtimeMs;
  if (still >= settle) return true;
  const isOtherFile = before !== undefined && before.inode !== now.inode;
  // A link was set to another file, or a directory to another directory.
  if (isOtherFile && (now.isLink || now.directoryId !== before.directoryId)) return true;
  const isPutInPlace = heard !== undefined && heard.renames === 1 && heard.changes === 0;
  if (isPutInPlace && (isOtherFile || (before === undefined && heard.hasDeparted))) return true;
  // A rename sets the one time and not the other; so do those who set mode and times of a file when they have written it.
  return now.size > 0 && now.ctimeMs > now.mtimeMs;
}

/**
 * What of a file may be taken that may still be written: all documents but the last, and of what it held before all that is
 * not in them.
 *
 * @param served what is served of the file
 * @returns undefined when the file can be taken as it is: nothing is missing in it, and its last document is not new
 */
export function unsettled(next: ParsedFile, served: ParsedFile | undefined): ParsedFile | undefined {
  const last = next.documents.at(-1);
  const isLastKnown = last !== undefined && hasText(served, last.raw.text);
  const ready = isLastKnown ? next.documents : next.documents.slice(0, -1);
  const keys = keysOf(ready);
  const kept = (served?.documents ?? []).flatMap((document) => withoutKeys(document, keys));
  if (isLastKnown && kept.length === 0) return undefined;
  return parsedFile(next.file, next.namespace, [...kept, ...ready]);
}

/** So much longer a file must be still that looks cut off. */
const CAUTION = 4;
/** A file that loses more than this many objects, and a third of them all, looks cut off. */
const FEW_OBJECTS = 10;

/**
 * How many times the usual time a file must be still: a writer that is slow for a moment must not take half of the mesh away.
 *
 * @param isCut the file ends within a line, unlike before
 */
export function patience(next: ParsedFile, served: ParsedFile | undefined, isCut: boolean): number {
  if (served === undefined) return 1;
  const keys = keysOf(next.documents);
  const lost = served.configs.filter(({ key }) => !keys.has(key)).length;
  const isMuch = lost > FEW_OBJECTS && 3 * lost > served.configs.length;
  return isMuch || (lost > 0 && isCut) ? CAUTION : 1;
}

function hasText(file: ParsedFile | undefined, text: string): boolean {
  return file?.documents.some(({ raw }) => raw.text === text) ?? false;
}

function keysOf(documents: readonly ParsedDocument[]): ReadonlySet<ConfigKey> {
  const keys = new Set<ConfigKey>();
  for (const { configs, refused } of documents) {
    for (const { key } of configs) keys.add(key);
    for (const { key } of refused) if (key !== undefined) keys.add(key);
  }
  return keys;
}

/** What of a document is not in `keys`; nothing when all is. Findings about it may be out of date and are left out. */
function withoutKeys(
  { raw, configs, refused }: ParsedDocument,
  keys: ReadonlySet<ConfigKey>,
): readonly ParsedDocument[] {
  const isOpen = ({ key }: RefusedObject): boolean => key === undefined || !keys.has(key);
  const kept = {
    raw,
    configs: configs.filter(({ key }) => !keys.has(key)),
    refused: refused.filter(isOpen),
    diagnostics: [],
  };
  return kept.configs.length + kept.refused.length > 0 ? [kept] : [];
}
