import { Buffer } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { DecodeError } from './errors.ts';

/** As deep as protobuf's own decoders go by default. */
const MAX_DEPTH = 100;

const VARINT = 0;
const FIXED64 = 1;
const LENGTH = 2;
const START_GROUP = 3;
const END_GROUP = 4;
const FIXED32 = 5;

const STRICT_UTF8: TextDecoder = new TextDecoder('utf-8', { fatal: true });
const REPLACEMENT = '\ufffd';

/**
 * Reads protobuf's wire format from bytes that may be anything: every method stays within the current message.
 *
 * @throws DecodeError (all methods) when the bytes are not well-formed
 */
export class Reader {
  readonly #buffer: Buffer;
  #at: number = 0;
  #end: number;
  #depth: number;

  /** @param depth of the message among those that it is nested in */
  constructor(bytes: Uint8Array, depth = 0) {
    this.#depth = depth;
    this.#buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#end = bytes.byteLength;
  }

  /** Whether the current message has more fields. */
  more(): boolean {
    return this.#at < this.#end;
  }

  /** Number and wire type of the next field. */
  tag(): number {
    const tag = this.uint32();
    if (tag >>> 3 === 0) throw new DecodeError('a field has number 0');
    return tag;
  }

  /** The lower 32 bits of a varint. */
  uint32(): number {
    const buffer = this.#buffer;
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      if (this.#at >= this.#end) throw new DecodeError('a number ends early');
      const byte = buffer[this.#at++] as number;
      if (shift < 32) value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value >>> 0;
    }
    throw new DecodeError('a number is longer than ten bytes');
  }

  int32(): number {
    return this.uint32() | 0;
  }

  /** All 64 bits of a varint. */
  uint64(): bigint {
    const buffer = this.#buffer;
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      if (this.#at >= this.#end) throw new DecodeError('a number ends early');
      const byte = buffer[this.#at++] as number;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw new DecodeError('a number is longer than ten bytes');
  }

  bool(): boolean {
    return this.uint64() !== 0n;
  }

  double(): number {
    return this.#buffer.readDoubleLE(this.#advance(8));
  }

  float(): number {
    return this.#buffer.readFloatLE(this.#advance(4));
  }

  fixed32(): number {
    return this.#buffer.readUInt32LE(this.#advance(4));
  }

  fixed64(): bigint {
    return this.#buffer.readBigUInt64LE(this.#advance(8));
  }

  string(): string {
    const length = this.uint32();
    const start = this.#advance(length);
    const text = this.#buffer.toString('utf8', start, start + length);
    // Only then can the bytes have been no UTF-8.
    if (text.includes(REPLACEMENT)) {
      try {
        STRICT_UTF8.decode(this.#buffer.subarray(start, start + length));
      } catch (cause) {
        throw new DecodeError('a text is not UTF-8', { cause });
      }
    }
    return text;
  }

  /** A view of the bytes that are read from. */
  bytes(): Uint8Array {
    const length = this.uint32();
    const start = this.#advance(length);
    return this.#buffer.subarray(start, start + length);
  }

  /** What `read` makes of an embedded message, beyond which it cannot read. */
  nested<T>(read: (reader: Reader) => T): T {
    const length = this.uint32();
    const end = this.#end;
    if (length > end - this.#at) throw new DecodeError('a message ends early');
    if (++this.#depth > MAX_DEPTH) throw new DecodeError(`messages are nested more than ${MAX_DEPTH} deep`);
    this.#end = this.#at + length;
    const value = read(this);
    this.#depth--;
    this.#at = this.#end;
    this.#end = end;
    return value;
  }

  /** What `read` makes of a message in bytes that were read as such: an Any's value. Depth goes on counting. */
  inside<T>(bytes: Uint8Array, read: (reader: Reader) => T): T {
    if (this.#depth >= MAX_DEPTH) throw new DecodeError(`messages are nested more than ${MAX_DEPTH} deep`);
    return read(new Reader(bytes, this.#depth + 1));
  }

  /** An entry of a map of texts. */
  entry(map: Map<string, string>): void {
    this.nested((reader) => {
      let key = '';
      let value = '';
      while (reader.more()) {
        const tag = reader.tag();
        if (tag === 0x0a) key = reader.string();
        else if (tag === 0x12) value = reader.string();
        else reader.skip(tag);
      }
      map.set(key, value);
    });
  }

  /** Passes over the value of a field that is not known. */
  skip(tag: number): void {
    switch (tag & 7) {
      case VARINT:
        this.uint64();
        break;
      case FIXED64:
        this.#advance(8);
        break;
      case LENGTH:
        this.#advance(this.uint32());
        break;
      case START_GROUP:
        this.#skipGroup(tag);
        break;
      case FIXED32:
        this.#advance(4);
        break;
      default:
        throw new DecodeError(`a field has wire type ${tag & 7}`);
    }
  }

  #skipGroup(start: number): void {
    if (++this.#depth > MAX_DEPTH) throw new DecodeError(`messages are nested more than ${MAX_DEPTH} deep`);
    const end = start - START_GROUP + END_GROUP;
    for (let tag = this.tag(); tag !== end; tag = this.tag()) this.skip(tag);
    this.#depth--;
  }

  /** Passes over `length` bytes; returns where they start. */
  #advance(length: number): number {
    const start = this.#at;
    if (length > this.#end - start) throw new DecodeError('a value ends early');
    this.#at = start + length;
    return start;
  }
}
