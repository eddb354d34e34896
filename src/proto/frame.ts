import { Buffer } from 'node:buffer';
import type { EncodedResource } from './resource-set.ts';

/** Sizes of fields in protobuf's wire format, and a buffer that they are written to. All tags are below 16. */

/** Of a tag, a length and as many bytes. */
export function lengthSize(length: number): number {
  return 1 + varintSize(length) + length;
}

function varintSize(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5;
}

/** Of a text field, which is not written when it is empty. */
export function textSize(text: string): number {
  return text === '' ? 0 : lengthSize(Buffer.byteLength(text));
}

/** A message, whole or in pieces of which the size is known. */
export type Pieces = Pick<EncodedResource, 'bytes' | 'pieces'>;

/** Where there are pieces, `bytes` is not looked at: it may put them together for whoever reads it. */
function contentSize(content: Pieces): number {
  return content.pieces === undefined ? content.bytes.length : content.pieces.size;
}

/** Of an Any's content. */
export function anySize(url: Uint8Array, content: Pieces): number {
  const size = contentSize(content);
  return lengthSize(url.length) + (size === 0 ? 0 : lengthSize(size));
}

/** A buffer of the exact size that is filled from front to back.  */
export class Frame {
  readonly buffer: Buffer;
  #at: number;

  constructor(size: number, start: number, allocate: (size: number) => Buffer = Buffer.allocUnsafe) {
    this.buffer = allocate(size);
    this.#at = start;
  }

  head(tag: number, length: number): void {
    const { buffer } = this;
    buffer[this.#at++] = tag;
    let rest = length;
    while (rest > 0x7f) {
      buffer[this.#at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    buffer[this.#at++] = rest;
  }

  bytes(tag: number, bytes: Uint8Array): void {
    this.head(tag, bytes.length);
    this.buffer.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  item(tag: number, text: string): void {
    this.head(tag, Buffer.byteLength(text));
    this.#at += this.buffer.write(text, this.#at);
  }

  text(tag: number, text: string): void {
    if (text !== '') this.item(tag, text);
  }

  any(tag: number, url: Uint8Array, content: Pieces): void {
    const size = contentSize(content);
    this.head(tag, lengthSize(url.length) + (size === 0 ? 0 : lengthSize(size)));
    this.bytes(0x0a, url);
    if (size === 0) return;
    this.head(0x12, size);
    for (const part of content.pieces?.parts() ?? [content.bytes]) {
      this.buffer.set(part, this.#at);
      this.#at += part.length;
    }
  }

  controlPlane(tag: number, identifier: Uint8Array): void {
    if (identifier.length === 0) return;
    this.head(tag, lengthSize(identifier.length));
    this.bytes(0x0a, identifier);
  }
}
