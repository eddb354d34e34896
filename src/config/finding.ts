import type { Severity } from '../base/diagnostic.ts';
import type { Code } from './codes.ts';

/** Keys and indexes that lead from the root of a document to a value. */
export type Path = readonly (string | number)[];

/** What is wrong in a document, before it is known in which file and line the path stands. */
export interface Finding {
  readonly severity: Severity;
  readonly code: Code;
  readonly path: Path;
  /** What is wrong, and what to write instead. */
  readonly message: string;
  /** Only that part of the object is left out which the path names; an error otherwise forbids taking the object. */
  readonly inPart?: true;
}

/** Whether the object can not be taken. */
export function refuses({ severity, inPart }: Finding): boolean {
  return severity === 'error' && inPart !== true;
}

/** A place in a document, and findings about it. */
export interface Place {
  readonly path: Path;
  at(...path: Path): Place;
  /** The object can not be taken. */
  error(message: string, code?: Code): Finding;
  /** The object is taken, though it is likely a mistake. */
  warning(message: string, code?: Code): Finding;
  info(message: string, code: Code): Finding;
}

export function placeOf(path: Path): Place {
  return {
    path,
    at: (...more) => placeOf([...path, ...more]),
    error: (message, code = 'IST0106') => ({ severity: 'error', code, path, message }),
    warning: (message, code = 'IST0133') => ({ severity: 'warning', code, path, message }),
    info: (message, code) => ({ severity: 'info', code, path, message }),
  };
}

/** `spec.http[0].match`, the way a path is shown. Keys that are no plain names are quoted. */
export function fieldPath(path: Path): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    if (!/^[A-Za-z_][\w-]*$/.test(part)) return `${text}[${JSON.stringify(part)}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
}
