import type { Diagnostic, SourceLocation } from '../base/diagnostic.ts';
import type { Config, ConfigKey, RawDocument } from './config.ts';

/** An object that can not be taken, though it stands in a file. */
export interface RefusedObject {
  /** Absent when it can not be told which object it is. */
  readonly key?: ConfigKey;
  readonly location: SourceLocation;
}

/** What became of one document: objects that are right, objects that are not, and findings about both. */
export interface ParsedDocument {
  readonly raw: RawDocument;
  /** One, or the items of a List. */
  readonly configs: readonly Config[];
  readonly refused: readonly RefusedObject[];
  readonly diagnostics: readonly Diagnostic[];
}

/** What became of a file. */
export interface ParsedFile {
  readonly file: string;
  /** Of its objects that say none; empty for files that hold no objects. */
  readonly namespace: string;
  readonly documents: readonly ParsedDocument[];
  /** Of all documents, in order. */
  readonly configs: readonly Config[];
  readonly refused: readonly RefusedObject[];
  readonly diagnostics: readonly Diagnostic[];
}

export function parsedFile(file: string, namespace: string, documents: readonly ParsedDocument[]): ParsedFile {
  const [only] = documents;
  if (only !== undefined && documents.length === 1) return { file, namespace, documents, ...contentOf(only) };
  return {
    file,
    namespace,
    documents,
    configs: documents.flatMap(({ configs }) => configs),
    refused: documents.flatMap(({ refused }) => refused),
    diagnostics: documents.flatMap(({ diagnostics }) => diagnostics),
  };
}

function contentOf({ configs, refused, diagnostics }: ParsedDocument): Omit<ParsedDocument, 'raw'> {
  return { configs, refused, diagnostics };
}

/** A file of which nothing can be told but one finding: what it held before is not known to be gone. */
export function unreadFile(file: string, namespace: string, diagnostic: Diagnostic): ParsedFile {
  const raw: RawDocument = { file, line: 1, text: '' };
  const document = { raw, configs: [], refused: [{ location: diagnostic.location }], diagnostics: [diagnostic] };
  return parsedFile(file, namespace, [document]);
}

/** The same document at another line of its file. */
export function movedDocument(document: ParsedDocument, line: number): ParsedDocument {
  const by = line - document.raw.line;
  if (by === 0) return document;
  const raw: RawDocument = { ...document.raw, line };
  const moved = (location: SourceLocation): SourceLocation => ({ ...location, line: location.line + by });
  return {
    raw,
    configs: document.configs.map((c) => Object.freeze({ ...c, document: raw, location: moved(c.location) })),
    refused: document.refused.map((refused) => ({ ...refused, location: moved(refused.location) })),
    diagnostics: document.diagnostics.map((d) => ({ ...d, location: moved(d.location) })),
  };
}
