import type { Buffer } from 'node:buffer';
import { decode, type OptAnswer } from 'dns-packet';

/** A question as a resolver sends it: one name of one type. */
export interface Query {
  readonly id: number;
  /** In lower case, without the dot at its end; undefined where a label is not plain text, so that no table can have it. */
  readonly name: string | undefined;
  readonly type: number;
  readonly class: number;
  /** Name, type and class as they came: an answer repeats them byte by byte. */
  readonly question: Buffer;
  /** Of the flags, those that an answer repeats: recursion desired, checking disabled. */
  readonly flags: number;
  /** Bytes that the client takes over UDP; undefined: it knows no EDNS, and takes 512. */
  readonly payloadSize: number | undefined;
}

/** What can not be answered, with the code of the error; `undefined`: not even with an error. */
export interface BadQuery {
  readonly rcode: number | undefined;
}

export const RCODE = { noError: 0, formatError: 1, serverFailure: 2, notImplemented: 4, refused: 5 } as const;
export const TYPE = { a: 1, cname: 5, aaaa: 28, opt: 41 } as const;
export const CLASS_IN = 1;
/** Bytes before the question. */
export const HEADER = 12;
/** No question is longer. Bytes. */
export const LONGEST_QUESTION = 4096;

/** The flag that tells an answer from a question. */
export const RESPONSE = 0x8000;
const OPCODE = 0x7800;
/** RD and CD. */
const REPEATED_FLAGS = 0x0110;
/** Bytes of the labels of a name with their lengths, the last of them 0. */
const LONGEST_NAME = 255;

/** Of what comes over the network: never throws. Other records than a question and EDNS are read and passed over. */
export function readQuery(message: Buffer): Query | BadQuery {
  if (message.length < HEADER) return { rcode: undefined };
  const flags = message.readUInt16BE(2);
  // An answer to an answer would go on for ever.
  if ((flags & RESPONSE) !== 0) return { rcode: undefined };
  if ((flags & OPCODE) !== 0) return { rcode: RCODE.notImplemented };
  if (message.readUInt16BE(4) !== 1 || message.length > LONGEST_QUESTION) return { rcode: RCODE.formatError };
  const labels = labelsOf(message);
  const end = labels === undefined ? 0 : labels.end + 4;
  if (labels === undefined || end > message.length) return { rcode: RCODE.formatError };
  let payloadSize: number | undefined;
  try {
    const opt = decode(message).additionals?.find((record): record is OptAnswer => record.type === 'OPT');
    payloadSize = opt?.udpPayloadSize;
  } catch {
    return { rcode: RCODE.formatError };
  }
  return {
    id: message.readUInt16BE(0),
    name: labels.name,
    type: message.readUInt16BE(labels.end),
    class: message.readUInt16BE(labels.end + 2),
    question: message.subarray(HEADER, end),
    flags: flags & REPEATED_FLAGS,
    payloadSize,
  };
}

/** Of a message with a whole header. */
export function rcodeOf(message: Buffer): number {
  return message.readUInt16BE(2) & 0x000f;
}

export function isQuery(read: Query | BadQuery): read is Query {
  return 'question' in read;
}

/** The name behind the header; undefined when it is none. There is nothing before it that it could point to. */
function labelsOf(message: Buffer): { readonly name: string | undefined; readonly end: number } | undefined {
  const labels: string[] = [];
  let end = HEADER;
  for (;;) {
    const length = message[end];
    if (length === undefined || length > 63) return undefined;
    end += 1 + length;
    if (end > message.length || end - HEADER > LONGEST_NAME) return undefined;
    if (length === 0) break;
    labels.push(message.toString('latin1', end - length, end));
  }
  const isPlain = labels.every((label) => /^[!-~]+$/.test(label) && !label.includes('.'));
  return { name: isPlain ? labels.join('.').toLowerCase() : undefined, end };
}
