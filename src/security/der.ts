import { Buffer } from 'node:buffer';

/** Tags of ASN.1 values as DER has them. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8String: 0x0c,
  printableString: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** The tag of `[number]`. */
export function contextTag(number: number, constructed: boolean): number {
  return (constructed ? 0xa0 : 0x80) | number;
}

/** Bytes that are no DER, or not that which is expected. */
export class DerError extends Error {
  override readonly name: string = 'DerError';
}

/** One value. */
export interface Der {
  readonly tag: number;
  readonly content: Uint8Array;
  /** With its tag and length. */
  readonly whole: Uint8Array;
}

/**
 * Reads the one value that the bytes are.
 * @throws DerError when they are none, or more than one
 */
export function readDer(bytes: Uint8Array): Der {
  const der = readAt(bytes, 0);
  if (der.whole.length !== bytes.length) throw new DerError('bytes follow the end of a value');
  return der;
}

/**
 * The values in a constructed value.
 * @param tag that it must have
 * @param most how many there may be; more are a mistake
 * @throws DerError
 */
export function childrenOf(der: Der | undefined, tag: number = TAG.sequence, most: number = 256): readonly Der[] {
  const content = contentOf(der, tag);
  const children: Der[] = [];
  for (let at = 0; at < content.length; ) {
    if (children.length === most) throw new DerError(`a value has more than ${most} parts`);
    const child = readAt(content, at);
    children.push(child);
    at += child.whole.length;
  }
  return children;
}

/** @throws DerError unless the value has the tag */
export function contentOf(der: Der | undefined, tag: number): Uint8Array {
  if (der?.tag !== tag) throw new DerError('a value is of another kind than expected');
  return der.content;
}

/** The bytes of a bit string of whole bytes. @throws DerError */
export function bitsOf(der: Der | undefined): Uint8Array {
  const content = contentOf(der, TAG.bitString);
  if (content[0] !== 0) throw new DerError('a bit string is not of whole bytes');
  return content.subarray(1);
}

/** An object identifier as numbers with dots. @throws DerError */
export function oidOf(der: Der | undefined): string {
  const content = contentOf(der, TAG.oid);
  const arcs: number[] = [];
  let arc = 0;
  for (const [i, byte] of content.entries()) {
    if (arc > 0x1ffffff) throw new DerError('an object identifier has a number that is too large');
    arc = arc * 128 + (byte & 0x7f);
    if ((byte & 0x80) !== 0) {
      if (i === content.length - 1) throw new DerError('an object identifier is cut off');
      continue;
    }
    if (arcs.length === 0) {
      const first = Math.min(2, Math.floor(arc / 40));
      arcs.push(first, arc - 40 * first);
    } else arcs.push(arc);
    arc = 0;
  }
  return arcs.join('.');
}

function readAt(bytes: Uint8Array, start: number): Der {
  const tag = bytes[start];
  const first = bytes[start + 1];
  if (tag === undefined || first === undefined) throw new DerError('a value is cut off');
  if ((tag & 0x1f) === 0x1f) throw new DerError('a tag is of more than one byte');
  let at = start + 2;
  let length = first;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4) throw new DerError('a length is not as DER has it');
    length = 0;
    for (let i = 0; i < count; i++) length = length * 256 + (bytes[at + i] ?? 0);
    at += count;
    if (length < 0x80 || length < 256 ** (count - 1)) throw new DerError('a length is longer than needed');
  }
  const end = at + length;
  if (end > bytes.length) throw new DerError('a value is cut off');
  return { tag, content: bytes.subarray(at, end), whole: bytes.subarray(start, end) };
}

/** A value of parts that are values, or bytes. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(length)]), ...parts]);
}

function lengthBytes(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256);
  return [0x80 | bytes.length, ...bytes];
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(TAG.sequence, ...parts);
}

/** @param magnitude big-endian, not negative */
export function integer(magnitude: Uint8Array): Buffer {
  let start = 0;
  while (start < magnitude.length - 1 && magnitude[start] === 0) start++;
  const bytes = magnitude.subarray(start);
  return der(TAG.integer, ...((bytes[0] ?? 0) >= 0x80 ? [Buffer.from([0])] : []), bytes);
}

export function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  const bytes = [40 * first + second, ...rest].flatMap((arc) => {
    const groups = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      groups.unshift(0x80 | (left & 0x7f));
    return groups;
  });
  return der(TAG.oid, Buffer.from(bytes));
}

/** @param unused bits at the end of the last byte */
export function bitString(bytes: Uint8Array, unused: number = 0): Buffer {
  return der(TAG.bitString, Buffer.from([unused]), bytes);
}

export function utf8String(text: string): Buffer {
  return der(TAG.utf8String, Buffer.from(text, 'utf8'));
}

export const TRUE: Buffer = der(TAG.boolean, Buffer.from([0xff]));

/** A time of RFC 5280: of two digits for a year before 2050. @param time milliseconds since 1970, cut to seconds */
export function time(time: number): Buffer {
  const digits = `${new Date(time).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`;
  const isShort = new Date(time).getUTCFullYear() < 2050;
  return der(isShort ? TAG.utcTime : TAG.generalizedTime, Buffer.from(isShort ? digits.slice(2) : digits, 'latin1'));
}
