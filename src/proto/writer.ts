import { Buffer } from 'node:buffer';
import { EncodeError } from './errors.ts';
import { bytesOf, enumNumber, float, integer, long, refuse } from './scalars.ts';

/** Writes the fields of one message. `keys` counts the keys of `message` that are no fields (`@type` in an Any). */
export type WriteMessage = (writer: Writer, message: unknown, keys: number) => void;

export interface MessageEncoder {
  readonly write: WriteMessage;
  /** Whether its proto JSON is a value of its own, which an Any then holds under `value`. */
  readonly wellKnown: boolean;
}

/** A message that stands encoded already where a message is expected. */
export class EncodedMessage {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

const FLOATS = new DataView(new ArrayBuffer(8));
const FIRST_CAPACITY = 16_384;
/** A buffer that one large message has made grow beyond this is given back. */
const KEPT_CAPACITY = 4_194_304;
/** Above this length a native call beats a loop over the characters. */
const SHORT_TEXT = 48;

/**
 * Writes a message from its end to its start: the length of an embedded message, which stands in front of it, is then known
 * when it is written. What was written last stands first; a value is written before its tag.
 *
 * Values are those of proto JSON. @throws EncodeError (all methods) for a value that its type cannot hold
 */
export class Writer {
  readonly encoders: ReadonlyMap<string, MessageEncoder>;
  #buffer: Buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
  #start: number = FIRST_CAPACITY;

  constructor(encoders: ReadonlyMap<string, MessageEncoder>) {
    this.encoders = encoders;
  }

  /** Forgets what was written. */
  clear(): void {
    if (this.#buffer.length > KEPT_CAPACITY) this.#buffer = Buffer.allocUnsafeSlow(FIRST_CAPACITY);
    this.#start = this.#buffer.length;
  }

  /** A copy of what was written. */
  result(): Uint8Array {
    return Uint8Array.prototype.slice.call(this.#buffer, this.#start);
  }

  /** Bytes written so far. */
  size(): number {
    return this.#buffer.length - this.#start;
  }

  /** Tag and length in front of all that was written since `size` was taken. */
  head(size: number, tag: number): void {
    this.tag(this.size() - size);
    this.tag(tag);
  }

  /** An unsigned integer below 2^32 as varint: tags, lengths. */
  tag(value: number): void {
    let rest = value;
    let at = this.#reserve(rest < 0x80 ? 1 : rest < 0x4000 ? 2 : rest < 0x20_0000 ? 3 : rest < 0x1000_0000 ? 4 : 5);
    const buffer = this.#buffer;
    while (rest > 0x7f) {
      buffer[at++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    buffer[at] = rest;
  }

  raw(bytes: Uint8Array): void {
    // Making room may replace the buffer.
    const at = this.#reserve(bytes.length);
    this.#buffer.set(bytes, at);
  }

  int32(value: unknown): void {
    this.#signed(integer(value, -0x8000_0000, 0x7fff_ffff));
  }

  uint32(value: unknown): void {
    this.tag(integer(value, 0, 0xffff_ffff));
  }

  sint32(value: unknown): void {
    const number = integer(value, -0x8000_0000, 0x7fff_ffff);
    this.tag(((number << 1) ^ (number >> 31)) >>> 0);
  }

  fixed32(value: unknown): void {
    const at = this.#reserve(4);
    this.#buffer.writeUInt32LE(integer(value, 0, 0xffff_ffff), at);
  }

  sfixed32(value: unknown): void {
    const at = this.#reserve(4);
    this.#buffer.writeInt32LE(integer(value, -0x8000_0000, 0x7fff_ffff), at);
  }

  int64(value: unknown): void {
    if (typeof value === 'number' && Number.isSafeInteger(value)) this.#signed(value);
    else this.#varint64(BigInt.asUintN(64, long(value, -(2n ** 63n), 2n ** 63n)));
  }

  uint64(value: unknown): void {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) this.#signed(value);
    else this.#varint64(long(value, 0n, 2n ** 64n));
  }

  sint64(value: unknown): void {
    const number = long(value, -(2n ** 63n), 2n ** 63n);
    this.#varint64(BigInt.asUintN(64, (number << 1n) ^ (number >> 63n)));
  }

  fixed64(value: unknown): void {
    const number = long(value, 0n, 2n ** 64n);
    const at = this.#reserve(8);
    this.#buffer.writeBigUInt64LE(number, at);
  }

  sfixed64(value: unknown): void {
    const number = long(value, -(2n ** 63n), 2n ** 63n);
    const at = this.#reserve(8);
    this.#buffer.writeBigInt64LE(number, at);
  }

  float(value: unknown): void {
    FLOATS.setFloat32(0, float(value), true);
    const at = this.#reserve(4);
    for (let i = 0; i < 4; i++) this.#buffer[at + i] = FLOATS.getUint8(i);
  }

  double(value: unknown): void {
    FLOATS.setFloat64(0, float(value), true);
    const at = this.#reserve(8);
    for (let i = 0; i < 8; i++) this.#buffer[at + i] = FLOATS.getUint8(i);
  }

  bool(value: unknown): void {
    if (typeof value !== 'boolean') refuse(value, 'bool');
    const at = this.#reserve(1);
    this.#buffer[at] = value ? 1 : 0;
  }

  /** The number of an enum's value, given by its name or as a number. */
  enum(value: unknown, numbers: Readonly<Record<string, number | null>>): void {
    this.#signed(enumNumber(value, numbers));
  }

  /** Length and text in UTF-8. */
  string(value: unknown): void {
    if (typeof value !== 'string') refuse(value, 'string');
    const length = value.length <= SHORT_TEXT ? this.#ascii(value) : this.#utf8(value);
    this.tag(length);
  }

  /** Length and bytes, given as such or in base64. */
  bytes(value: unknown): void {
    const bytes = bytesOf(value);
    this.raw(bytes);
    this.tag(bytes.length);
  }

  /** The number of items of a repeated field. */
  list(value: unknown): number {
    if (!Array.isArray(value)) refuse(value, 'list');
    return value.length;
  }

  /**
   * Called when a message does not have as many keys as fields of it were found: absent values and messages that are
   * encoded already make no difference; anything else is a key that the message does not have.
   */
  check(message: unknown, found: number): void {
    if (message instanceof EncodedMessage) {
      this.raw(message.bytes);
      return;
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message)) refuse(message, 'message');
    let present = 0;
    let nulls = 0;
    for (const value of Object.values(message)) {
      if (value === null) nulls++;
      else if (value !== undefined) present++;
    }
    if (found < present || found > present + nulls) throw new EncodeError('a key is no field of the message');
  }

  /** @throws EncodeError always */
  refuse(reason: string): never {
    throw new EncodeError(reason);
  }

  /** Makes room for `count` bytes in front; returns where they start. */
  #reserve(count: number): number {
    if (this.#start < count) this.#grow(count);
    this.#start -= count;
    return this.#start;
  }

  #grow(count: number): void {
    const old = this.#buffer;
    const used = old.length - this.#start;
    const capacity = Math.max(old.length * 2, used + count);
    this.#buffer = Buffer.allocUnsafeSlow(capacity);
    old.copy(this.#buffer, capacity - used, this.#start);
    this.#start = capacity - used;
  }

  /** A safe integer as varint of 64 bits, negative numbers in two's complement. */
  #signed(value: number): void {
    if (value >= 0 && value <= 0xffff_ffff) this.tag(value);
    else this.#varint64(BigInt.asUintN(64, BigInt(value)));
  }

  #varint64(value: bigint): void {
    let length = 1;
    for (let rest = value >> 7n; rest > 0n; rest >>= 7n) length++;
    let at = this.#reserve(length);
    for (let rest = value; length > 0; length--, rest >>= 7n) {
      this.#buffer[at++] = Number(rest & 0x7fn) | (length > 1 ? 0x80 : 0);
    }
  }

  #ascii(text: string): number {
    let at = this.#reserve(text.length);
    const buffer = this.#buffer;
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i);
      if (code > 0x7f) {
        this.#start += text.length;
        return this.#utf8(text);
      }
      buffer[at++] = code;
    }
    return text.length;
  }

  #utf8(text: string): number {
    const length = Buffer.byteLength(text);
    const at = this.#reserve(length);
    this.#buffer.write(text, at, length, 'utf8');
    return length;
  }
}
