import { Buffer } from 'node:buffer';
import { EncodeError } from './errors.ts';

/** What the fields of messages may hold in proto JSON. Every function here throws EncodeError for anything else. */

export function refuse(value: unknown, type: string): never {
  const text = typeof value === 'string' ? JSON.stringify(value) : Array.isArray(value) ? 'a list' : String(value);
  throw new EncodeError(`${text} is no ${type}`);
}

/** An integer within the bounds, both included; proto JSON allows it as text. */
export function integer(value: unknown, lowest: number, highest: number): number {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number) && number >= lowest && number <= highest) return number;
  return refuse(value, `integer from ${lowest} to ${highest}`);
}

/** An integer from `lowest` to below `end`, of up to 64 bits. */
export function long(value: unknown, lowest: bigint, end: bigint): bigint {
  const plain = typeof value === 'bigint' || Number.isSafeInteger(value) || INTEGER.test(String(value));
  if (plain) {
    const number = BigInt(value as bigint | number | string);
    if (number >= lowest && number < end) return number;
  }
  return refuse(value, `integer from ${lowest} to below ${end}`);
}

const INTEGER = /^-?\d+$/;

/** A floating point number; those that JSON has no notation for are texts. */
export function float(value: unknown): number {
  if (typeof value === 'number') return value;
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
  if (typeof value === 'string' && value.trim() !== '' && !Number.isNaN(Number(value))) return Number(value);
  return refuse(value, 'number');
}

/** Bytes, given as such or in base64 of either alphabet. */
export function bytesOf(value: unknown): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string' && BASE64.test(value)) return Buffer.from(value, 'base64');
  return refuse(value, 'base64 text');
}

const BASE64 = /^[\w+/-]*={0,2}$/;

/** The number of an enum's value, given by its name or as a number. */
export function enumNumber(value: unknown, numbers: Readonly<Record<string, number | null>>): number {
  const number = typeof value === 'string' ? numbers[value] : value;
  if (typeof number === 'number') return integer(number, -0x8000_0000, 0x7fff_ffff);
  return refuse(value, `value of the enum (${Object.keys(numbers).join(', ')})`);
}

/** The number of an object's keys; -1 for what is no object, or a list. */
export function keyCount(message: unknown): number {
  if (typeof message !== 'object' || Array.isArray(message)) return -1;
  let count = 0;
  for (const _ in message) count++;
  return count;
}

/** The keys of a map field's present values, in the order in which protobuf writes them deterministically. */
export function sortedKeys(map: unknown, type: string): readonly string[] {
  if (typeof map !== 'object' || map === null || Array.isArray(map)) refuse(map, 'map');
  const keys: string[] = [];
  let inOrder = true;
  for (const key in map) {
    if ((map as Readonly<Record<string, unknown>>)[key] === undefined) continue;
    inOrder &&= keys.length === 0 || (keys.at(-1) as string) < key;
    keys.push(key);
  }
  if (type === 'string' || type === 'bool') return inOrder ? keys : keys.sort();
  return keys.sort((a, b) => Number(long(a, MIN, MAX) - long(b, MIN, MAX)));
}

const MIN = -(2n ** 63n);
const MAX = 2n ** 64n;
