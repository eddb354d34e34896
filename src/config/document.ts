import { isUtf8 } from 'node:buffer';
import type { Severity } from '../base/diagnostic.ts';
import type { Code } from './codes.ts';
import type { RawDocument } from './config.ts';

/** What is wrong with the text of a document, before anything is made of it. */
export interface TextProblem {
  readonly severity: Severity;
  readonly code: Code;
  /** Of the document's text, in UTF-16 units. */
  readonly offset: number;
  readonly message: string;
}

/** A document of a file, and whether its text can be read at all. */
export interface SplitDocument {
  readonly raw: RawDocument;
  readonly problem?: TextProblem;
}

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const DASH = 0x2d;
const DOT = 0x2e;

/**
 * The documents of a file in order, without those that hold nothing but comments. Line ends become `\n`. Each text is a
 * string of its own, so that a document keeps no other in memory.
 *
 * As in YAML, a line that begins with `---` or `...` ends a document whatever it stands in. What follows `---` on its line
 * belongs to the document that it begins, and so do directives (`%YAML`) before it.
 */
export function splitDocuments(file: string, bytes: Uint8Array): readonly SplitDocument[] {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const documents: SplitDocument[] = [];
  let line = 1;
  let start = BYTE_ORDER_MARK.every((byte, i) => buffer[i] === byte) ? BYTE_ORDER_MARK.length : 0;
  const take = (end: number, linesBefore: number): void => {
    const document = decoded(file, linesBefore, buffer.subarray(start, end));
    if (document !== undefined) documents.push(document);
  };
  for (let marker = nextMarker(buffer, start); marker !== -1; marker = nextMarker(buffer, afterLine(buffer, marker))) {
    const isEnd = buffer[marker] === DOT;
    const hasDirectives = !isEnd && holdsOnlyDirectives(buffer.subarray(start, marker));
    if (!hasDirectives) take(marker, line);
    const next = isEnd || !hasContent(buffer, marker) ? afterLine(buffer, marker) : marker;
    if (hasDirectives) continue;
    line += newlines(buffer, start, next);
    start = next;
  }
  take(buffer.length, line);
  return documents;
}

/** Where the next line begins that is a marker; -1 when there is none. */
function nextMarker(buffer: Buffer, from: number): number {
  for (let at = from; at < buffer.length; ) {
    const byte = buffer[at];
    if ((byte === DASH || byte === DOT) && isMarker(buffer, at, byte)) return at;
    const newline = buffer.indexOf(NEWLINE, at);
    if (newline === -1) return -1;
    at = newline + 1;
  }
  return -1;
}

function isMarker(buffer: Buffer, at: number, byte: number): boolean {
  if (buffer[at + 1] !== byte || buffer[at + 2] !== byte) return false;
  const after = buffer[at + 3];
  return after === undefined || after === 0x20 || after === 0x09 || after === NEWLINE || after === 0x0d;
}

/** Whether more than a comment follows the marker on its line. */
function hasContent(buffer: Buffer, marker: number): boolean {
  return !/^...\s*(?:\s#.*)?$/.test(buffer.toString('latin1', marker, afterLine(buffer, marker)).trimEnd());
}

function holdsOnlyDirectives(part: Buffer): boolean {
  if (!part.includes(0x25)) return false;
  const lines = part.toString('latin1').split('\n');
  return lines.some((text) => text.startsWith('%')) && lines.every((text) => /^(?:%.*|\s*(?:#.*)?)$/.test(text));
}

function afterLine(buffer: Buffer, at: number): number {
  const newline = buffer.indexOf(NEWLINE, at);
  return newline === -1 ? buffer.length : newline + 1;
}

function newlines(buffer: Buffer, from: number, to: number): number {
  let count = 0;
  for (let at = buffer.indexOf(NEWLINE, from); at !== -1 && at < to; at = buffer.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that YAML forbids.
const FORBIDDEN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;
/** A line that is neither empty nor a comment. */
const CONTENT = /^[^\S\n]*[^\s#]/m;

function decoded(file: string, line: number, bytes: Buffer): SplitDocument | undefined {
  const whole = bytes.toString('utf8');
  const text = whole.includes('\r') ? whole.replace(/\r\n?/g, '\n') : whole;
  if (!CONTENT.test(text)) return undefined;
  const raw: RawDocument = { file, line, text };
  const message = badEncoding(bytes, text);
  if (message !== undefined) return { raw, problem: textProblem(Math.max(0, text.indexOf('\ufffd')), message) };
  const forbidden = FORBIDDEN.exec(text);
  if (forbidden === null) return { raw };
  const code = forbidden[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return {
    raw,
    problem: textProblem(
      forbidden.index,
      `the character U+${code} is not allowed in YAML: remove it, or write it as "\\u${code}"`,
    ),
  };
}

function textProblem(offset: number, message: string): TextProblem {
  return { severity: 'error', code: 'VM0103', offset, message };
}

function badEncoding(bytes: Buffer, text: string): string | undefined {
  const isUtf16 = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  if (isUtf16) return 'the file is in UTF-16: save it as UTF-8';
  return !text.includes('\ufffd') || isUtf8(bytes) ? undefined : 'the text is not UTF-8: save the file as UTF-8';
}
