import { Buffer } from 'node:buffer';
import { CLASS_IN, HEADER, type Query, RCODE, rcodeOf, TYPE } from './query.ts';

/** What is said of a name. */
export interface Found {
  /** The name that it stands for, which has the addresses; undefined: it has them itself. In lower case, without a dot at its end. */
  readonly canonical: string | undefined;
  /** Bytes of addresses: 4 or 16 each. */
  readonly v4: readonly Uint8Array[];
  readonly v6: readonly Uint8Array[];
}

/** Response, authoritative, recursion available. */
const FLAGS = 0x8480;
const TRUNCATED = 0x0200;

/** Addresses change: whoever keeps them keeps them for a short time. Seconds. */
const TTL = 30;

/** Without EDNS; RFC 1035 4.2.1. */
const PLAIN_UDP = 512;
/** What is not cut to pieces on the way; DNS Flag Day 2020. */
const OWN_PAYLOAD = 1232;
const OPT_SIZE = 11;
const LARGEST = 65_535;

/** The name of a record is that of the question: a pointer behind the header. */
const QUESTION_NAME = 0xc000 | HEADER;

/**
 * What is known of a name. Over UDP what has no room is left out, and the client is told so: it asks again over TCP.
 *
 * Names that stood in the message before are pointed to. Packages that write messages write names out each time, which would
 * cut off lists of addresses that have room.
 *
 * @see istio/istio pkg/dns/client/dns.go `ServeDNS`, `lookupHost`
 */
export function foundResponse(query: Query, found: Found, protocol: 'udp' | 'tcp'): Buffer {
  const { type, question } = query;
  const addresses = type === TYPE.a ? found.v4 : found.v6;
  const records: Buffer[] = [];
  let owner = QUESTION_NAME;
  if (found.canonical !== undefined && addresses.length > 0) {
    records.push(record(owner, TYPE.cname, encodedName(found.canonical)));
    // Behind the record's name, type, class, TTL and length.
    owner = 0xc000 | (HEADER + question.length + 12);
  }
  for (const address of rotated(addresses)) records.push(record(owner, type, address));
  const limit = room(query, protocol);
  let size = HEADER + question.length;
  let count = 0;
  for (const { length } of records) {
    if (size + length > limit) break;
    size += length;
    count++;
  }
  const flags = FLAGS | query.flags | (count < records.length ? TRUNCATED : 0);
  return message(query, flags, records.slice(0, count));
}

export function errorResponse(query: Query, rcode: number): Buffer {
  return message(query, (FLAGS & ~0x0400) | query.flags | rcode, []);
}

/** An error about what is no question that could be repeated. @param bytes at least a header */
export function headerOnlyResponse(bytes: Buffer, rcode: number): Buffer {
  const response = Buffer.alloc(HEADER);
  bytes.copy(response, 0, 0, 2);
  response.writeUInt16BE((bytes.readUInt16BE(2) & 0x7900) | 0x8080 | rcode, 2);
  return response;
}

/** The same response as far as it fits, for a client that asks over UDP; what is too large is said to be cut off. */
export function fitted(query: Query, response: Buffer, protocol: 'udp' | 'tcp'): Buffer {
  if (protocol === 'tcp' || response.length <= Math.max(PLAIN_UDP, query.payloadSize ?? 0)) return response;
  const rcode = rcodeOf(response);
  return message(query, 0x8080 | query.flags | TRUNCATED | (rcode === RCODE.noError ? 0 : rcode), []);
}

function room({ payloadSize }: Query, protocol: 'udp' | 'tcp'): number {
  const whole = protocol === 'tcp' ? LARGEST : Math.max(PLAIN_UDP, payloadSize ?? 0);
  return whole - (payloadSize === undefined ? 0 : OPT_SIZE);
}

function message(query: Query, flags: number, answers: readonly Buffer[]): Buffer {
  const header = Buffer.alloc(HEADER);
  header.writeUInt16BE(query.id, 0);
  header.writeUInt16BE(flags, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers.length, 6);
  if (query.payloadSize === undefined) return Buffer.concat([header, query.question, ...answers]);
  header.writeUInt16BE(1, 10);
  const opt = Buffer.alloc(OPT_SIZE);
  opt.writeUInt16BE(TYPE.opt, 1);
  opt.writeUInt16BE(OWN_PAYLOAD, 3);
  return Buffer.concat([header, query.question, ...answers, opt]);
}

function record(owner: number, type: number, data: Uint8Array): Buffer {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt16BE(owner, 0);
  bytes.writeUInt16BE(type, 2);
  bytes.writeUInt16BE(CLASS_IN, 4);
  bytes.writeUInt32BE(TTL, 6);
  bytes.writeUInt16BE(data.length, 10);
  bytes.set(data, 12);
  return bytes;
}

function encodedName(name: string): Buffer {
  return Buffer.concat([
    ...name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')),
    Buffer.alloc(1),
  ]);
}

/** From a place of its own for each answer: clients that take the first one are spread over all. */
function rotated<T>(list: readonly T[]): readonly T[] {
  const start = Math.floor(Math.random() * list.length);
  return [...list.slice(start), ...list.slice(0, start)];
}
