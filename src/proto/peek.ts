import { Reader } from './reader.ts';

/**
 * One number or enum of a message, without reading the rest.
 *
 * @param number of the field, which is none that is repeated
 * @returns 0, the default, when it is not there
 * @throws DecodeError when the bytes are no message
 */
export function peekNumber(bytes: Uint8Array, number: number): number {
  const wanted = number << 3;
  const reader = new Reader(bytes);
  let found = 0;
  while (reader.more()) {
    const tag = reader.tag();
    if (tag === wanted) found = reader.uint32();
    else reader.skip(tag);
  }
  return found;
}
