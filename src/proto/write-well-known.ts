import { EncodeError, UnknownMessageError } from './errors.ts';
import { refuse, sortedKeys } from './scalars.ts';
import { messageName } from './type-urls.ts';
import { EncodedMessage, type Writer } from './writer.ts';

/** The messages that proto JSON writes in a form of their own (protobuf.dev, "ProtoJSON format"). */

const SECONDS_TAG = 0x08;
const NANOS_TAG = 0x10;
/** 10,000 years. */
const MAX_SECONDS = 315_576_000_000;
const DURATION = /^(-?)(\d+)(?:\.(\d{1,9}))?s$/;

/** A `google.protobuf.Duration`: `5s`, `-0.250s`. */
export function writeDuration(writer: Writer, value: unknown): void {
  const whole = typeof value === 'string' ? wholeSeconds(value) : undefined;
  if (whole === undefined) writeFractionalDuration(writer, value);
  else writeSeconds(writer, whole, 0);
}

function writeFractionalDuration(writer: Writer, value: unknown): void {
  const match = typeof value === 'string' ? DURATION.exec(value) : null;
  const seconds = Number(match?.[2]);
  if (match === null || seconds > MAX_SECONDS) refuse(value, 'duration in seconds (1.5s)');
  const sign = match[1] === '-' ? -1 : 1;
  const nanos = match[3] === undefined ? 0 : sign * Number(match[3].padEnd(9, '0'));
  writeSeconds(writer, sign * seconds, nanos);
}

/** Of the usual durations (`5s`), without the cost of an expression. */
function wholeSeconds(text: string): number | undefined {
  const digits = text.length - 1;
  if (digits < 1 || digits > 9 || text.charCodeAt(digits) !== 0x73) return undefined;
  let seconds = 0;
  for (let i = 0; i < digits; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return undefined;
    seconds = seconds * 10 + digit;
  }
  return seconds;
}

const TIMESTAMP = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/;

/** A `google.protobuf.Timestamp`: RFC 3339, up to nanoseconds. */
export function writeTimestamp(writer: Writer, value: unknown): void {
  const match = typeof value === 'string' ? TIMESTAMP.exec(value) : null;
  const [, date, time, fraction = '', zone = ''] = match ?? [];
  const milliseconds = Date.parse(`${date}T${time}${zone.toUpperCase()}`);
  if (match === null || Number.isNaN(milliseconds)) refuse(value, 'time as of RFC 3339');
  writeSeconds(writer, milliseconds / 1000, Number(fraction.padEnd(9, '0')));
}

function writeSeconds(writer: Writer, seconds: number, nanos: number): void {
  if (nanos !== 0) {
    writer.int32(nanos);
    writer.tag(NANOS_TAG);
  }
  // Not only 0 but -0 is the default of an integer.
  if (seconds !== 0) {
    writer.int64(seconds);
    writer.tag(SECONDS_TAG);
  }
}

/** A `google.protobuf.Struct`: any JSON object. Keys are sorted, absent values left out. */
export function writeStruct(writer: Writer, value: unknown): void {
  const keys = sortedKeys(value, 'string');
  for (let i = keys.length - 1; i >= 0; i--) {
    const key = keys[i] as string;
    const entry = writer.size();
    const item = writer.size();
    writeValue(writer, (value as Readonly<Record<string, unknown>>)[key]);
    writer.head(item, 0x12);
    writer.string(key);
    writer.tag(0x0a);
    writer.head(entry, 0x0a);
  }
}

/** A `google.protobuf.ListValue`: any JSON array. */
export function writeListValue(writer: Writer, value: unknown): void {
  if (!Array.isArray(value)) refuse(value, 'list');
  for (let i = value.length - 1; i >= 0; i--) {
    const item = writer.size();
    writeValue(writer, value[i] ?? null);
    writer.head(item, 0x0a);
  }
}

/** A `google.protobuf.Value`: any JSON. */
export function writeValue(writer: Writer, value: unknown): void {
  const start = writer.size();
  if (typeof value === 'string') {
    writer.string(value);
    writer.tag(0x1a);
  } else if (typeof value === 'number') {
    writer.double(value);
    writer.tag(0x11);
  } else if (typeof value === 'boolean') {
    writer.bool(value);
    writer.tag(0x20);
  } else if (value === null) {
    writer.tag(0);
    writer.tag(0x08);
  } else if (Array.isArray(value)) {
    writeListValue(writer, value);
    writer.head(start, 0x32);
  } else {
    writeStruct(writer, value);
    writer.head(start, 0x2a);
  }
}

/**
 * A `google.protobuf.Any`: the message with its type URL under `@type`; a well-known one under `value`. A message whose type
 * is not known may be given encoded, as bytes under `value`.
 *
 * @throws UnknownMessageError when the type is not known and `value` holds no bytes
 */
export function writeAny(writer: Writer, message: unknown): void {
  if (typeof message !== 'object' || message === null) refuse(message, 'message with a type URL');
  const { '@type': url, value } = message as { readonly '@type'?: unknown; readonly value?: unknown };
  if (typeof url !== 'string') {
    if (message instanceof EncodedMessage) writer.raw(message.bytes);
    else if (Object.keys(message).length > 0) throw new EncodeError('a packed message has no "@type"');
    return;
  }
  const encoder = writer.encoders.get(messageName(url));
  const start = writer.size();
  if (encoder === undefined) {
    if (!(value instanceof Uint8Array)) throw new UnknownMessageError(messageName(url));
    writer.raw(value);
  } else if (encoder.wellKnown) {
    encoder.write(writer, value, 0);
  } else {
    encoder.write(writer, message, 1);
  }
  if (writer.size() !== start) writer.head(start, 0x12);
  if (url !== '') {
    writer.string(url);
    writer.tag(0x0a);
  }
}
