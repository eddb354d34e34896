/** Where something stands in a file: line and column count from 1. */
export interface SourceLocation {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export type Severity = 'error' | 'warning' | 'info';

/**
 * One finding about the configuration. Findings are data: they are collected, never thrown.
 * `code` is Istio's own where one exists (istio/istio pkg/config/analysis/msg/messages.yaml).
 */
export interface Diagnostic {
  readonly severity: Severity;
  readonly code: string;
  /** What is wrong, and what to write instead. */
  readonly message: string;
  readonly location: SourceLocation;
  /** The field, as `spec.http[0].route[0].weight`; absent when the whole document is meant. */
  readonly path?: string;
  /** `Kind/namespace/name` of the object that it is about. */
  readonly resource?: string;
}

export function formatLocation({ file, line, column }: SourceLocation): string {
  return `${file}:${line}:${column}`;
}

/** `file:line:column: severity CODE: path: message`, the one form of a finding in logs and in `istiod check`: a line. */
export function formatDiagnostic({ severity, code, message, location, path }: Diagnostic): string {
  const where = path === undefined ? '' : `${path}: `;
  return oneLine(`${formatLocation(location)}: ${severity} ${code}: ${where}${message}`);
}

const CONTROL = /[\p{Cc}\u2028\u2029]/u;

/** A text from elsewhere with its control characters as JSON writes them, so that it ends no line and moves no cursor. */
export function oneLine(text: string): string {
  return CONTROL.test(text) ? text.replace(new RegExp(CONTROL, 'gu'), escaped) : text;
}

function escaped(character: string): string {
  const code = character.charCodeAt(0);
  return code < 0x20 ? JSON.stringify(character).slice(1, -1) : `\\u${code.toString(16).padStart(4, '0')}`;
}
