const encoder = new TextEncoder();

/** FNV-1a, 32 bits, of a text in UTF-8: an unsigned integer. Fast and well spread; not for secrets. */
export function fnv1a32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of encoder.encode(text)) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}
