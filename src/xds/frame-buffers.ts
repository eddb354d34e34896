import { Buffer } from 'node:buffer';

/** Less than this is left to the allocator. */
const LEAST_BYTES = 64 * 1024;

/**
 * Buffers for large frames, which are used again. Memory outside of the heap makes V8 collect the whole heap once it has grown
 * by some ten MB, and an edit of a route may mean as much: a configuration of every virtual host for each namespace.
 */
export class FrameBuffers {
  readonly #maxFreeBytes: number;
  /** The whole buffers, the one that was given back last at the end. */
  readonly #free: Buffer[] = [];
  #freeBytes = 0;

  /** @param maxFreeBytes of buffers that nobody uses; more are left to the garbage collector */
  constructor(maxFreeBytes: number) {
    this.#maxFreeBytes = maxFreeBytes;
  }

  /** A buffer of `size` bytes with whatever was in it before. */
  take(size: number): Buffer {
    if (size < LEAST_BYTES) return Buffer.allocUnsafe(size);
    // One that is far too large is kept for what needs it.
    const at = this.#free.findLastIndex(({ length }) => length >= size && length <= 2 * size);
    if (at < 0) return Buffer.allocUnsafeSlow(roundedUp(size)).subarray(0, size);
    const [found] = this.#free.splice(at, 1) as [Buffer];
    this.#freeBytes -= found.length;
    return found.subarray(0, size);
  }

  /** Nobody reads what `take` returned any more. */
  give(buffer: Buffer): void {
    if (buffer.length < LEAST_BYTES) return;
    const { byteLength } = buffer.buffer;
    if (this.#freeBytes + byteLength > this.#maxFreeBytes) return;
    this.#free.push(Buffer.from(buffer.buffer, 0, byteLength));
    this.#freeBytes += byteLength;
  }
}

/** A configuration that grows by a virtual host should still fit. */
function roundedUp(size: number): number {
  return Math.ceil(size / LEAST_BYTES) * LEAST_BYTES;
}
