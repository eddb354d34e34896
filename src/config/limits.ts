interface Limits {
  readonly fileBytes: number;
  readonly documents: number;
  readonly nodes: number;
  readonly depth: number;
  readonly explainedBytes: number;
  readonly certificateBytes: number;
}

/** Bounds on what is read, so that no file can take the memory or the time of the process. */
export const LIMITS: Limits = {
  /** Bytes of a file. */
  fileBytes: 4 * 1024 * 1024,
  /** Documents of a file. */
  documents: 20_000,
  /** Nodes (keys, values, lists, maps) of a document, with what aliases repeat; of each item of a `List` on its own. */
  nodes: 10_000,
  /** Lists and maps within one another, with those that aliases lead to. */
  depth: 64,
  /** Bytes of a file with certificates. */
  certificateBytes: 1024 * 1024,
  /** Bytes of a document up to which the cause of a syntax error is looked for with a second, slower parser. */
  explainedBytes: 128 * 1024,
};
