const encoder = new TextEncoder();
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/** FNV-1a, 32 bits, of a text in UTF-8: an unsigned integer. Fast and well spread; not for secrets. */
export function fnv1a32(text: string): number {
  let hash = OFFSET;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    // Up to here the units are the bytes: names are hardly ever anything else, and encoding costs more than the rest.
    if (unit >= 0x80) return ofBytes(encoder.encode(text));
    hash = Math.imul(hash ^ unit, PRIME);
  }
  return hash >>> 0;
}

function ofBytes(bytes: Uint8Array): number {
  let hash = OFFSET;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, PRIME);
  return hash >>> 0;
}
