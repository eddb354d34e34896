import type { ParsedFile } from './parsed.ts';

/** Where a source puts what it reads. */
export interface ConfigSink {
  /** The whole state of the source: what is not in it is gone. The first call says that the source is ready. */
  replace(files: readonly ParsedFile[]): void;
  /** One whole file; undefined when it is gone. */
  apply(file: string, parsed: ParsedFile | undefined): void;
  /** Several changes at once: an object that moves from one file to another in them never leaves the mesh. */
  batch(change: () => void): void;
  /** Namespace of objects that stand in no namespace's directory, as the mesh configuration in force has it. */
  readonly rootNamespace: string;
}
