import { Buffer } from 'node:buffer';

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

/** Of an Any's content. */
export function anySize(url: Uint8Array, bytes: Uint8Array): number {
  return lengthSize(url.length) + (bytes.length === 0 ? 0 : lengthSize(bytes.length));
}

/** A buffer of the exact size that is filled from front to back.  */
export class Frame {
  readonly buffer: Buffer;
  #at: number;

  constructor(size: number, start: number) {
    this.buffer = Buffer.allocUnsafe(size);
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

  any(tag: number, url: Uint8Array, bytes: Uint8Array): void {
    this.head(tag, anySize(url, bytes));
    this.bytes(0x0a, url);
    if (bytes.length > 0) this.bytes(0x12, bytes);
  }

  controlPlane(tag: number, identifier: Uint8Array): void {
    if (identifier.length === 0) return;
    this.head(tag, lengthSize(identifier.length));
    this.bytes(0x0a, identifier);
  }
}
