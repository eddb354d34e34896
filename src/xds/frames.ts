import type { Buffer } from 'node:buffer';
import { contentVersion } from '../base/hash.ts';
import type { ResourceDelta } from '../proto/resource-set.ts';
import type { Variant } from './events.ts';
import { FrameBuffers } from './frame-buffers.ts';
import { framed, type Protocol } from './protocol.ts';
import type { SendWindow } from './send-window.ts';

/** Making a smaller frame again costs less than keeping it. */
const LEAST_KEPT_BYTES = 1_024;

/** A response as it goes over the wire: the gRPC frame around the message. The same bytes serve every stream. */
export interface Frame {
  readonly version: string;
  readonly nonce: string;
  readonly bytes: Buffer;
  readonly shared: boolean;
  /**
   * To be called when nobody reads the bytes any more on behalf of this call, at most once: they are written over then. A frame
   * that is never released is left to the garbage collector.
   */
  release(): void;
}

/** Responses of fewer bytes are made whatever is under way: a change must not wait for clients that connect. */
const LEAST_COUNTED_BYTES = 64 * 1_024;

/** Bytes with the number of streams that read them. */
interface Held {
  readonly bytes: Buffer;
  readers: number;
  cached: boolean;
  /** Gives back their place in the window. */
  leave: () => void;
}

const NOTHING = (): void => {};

/**
 * Makes each response once for all streams that are sent the same.
 *
 * Versions are hashes of the names and versions of the content, and the nonce is the version: so equal responses are equal
 * bytes, in every stream and after a restart. A nonce has to tell a response from the one before it on the same stream and
 * type; since the next is sent only when the one before is answered (or given up), that is enough. When the same content is
 * sent twice in a row, the second nonce has a mark.
 */
export class Frames {
  readonly #maxBytes: number;
  readonly #controlPlane: string;
  readonly #versions = new WeakMap<ResourceDelta, string>();
  /** The least recently used first. */
  readonly #cache = new Map<string, Held>();
  readonly #buffers: FrameBuffers;
  readonly #window: SendWindow;
  #bytes = 0;

  /**
   * @param maxBytes of frames to keep; the newest is always kept
   * @param window counts those that streams read
   */
  constructor(maxBytes: number, controlPlane: string, window: SendWindow) {
    this.#maxBytes = maxBytes;
    this.#window = window;
    this.#buffers = new FrameBuffers(maxBytes);
    this.#controlPlane = controlPlane;
  }

  /** Whether `frame` for the same arguments takes no room, or there is some. */
  hasRoom(variant: Variant, typeUrl: string, content: ResourceDelta, lastNonce: string): boolean {
    if (!this.#window.full || atMost(content, LEAST_COUNTED_BYTES)) return true;
    return this.#cache.has(this.#about(variant, typeUrl, content, lastNonce).key);
  }

  /** @param lastNonce of the response before on the same stream and type, empty when there is none */
  frame(
    protocol: Pick<Protocol, 'variant' | 'encode'>,
    typeUrl: string,
    content: ResourceDelta,
    lastNonce: string,
  ): Frame {
    const { version, nonce, key } = this.#about(protocol.variant, typeUrl, content, lastNonce);
    const known = this.#cache.get(key);
    if (known !== undefined) {
      this.#cache.delete(key);
      this.#cache.set(key, known);
      return this.#read(known, { version, nonce, shared: true });
    }
    const bytes = framed(protocol, {
      typeUrl,
      version,
      nonce,
      content,
      controlPlane: this.#controlPlane,
      allocate: (size) => this.#buffers.take(size),
    });
    const held = { bytes, readers: 0, cached: false, leave: NOTHING };
    const frame = this.#read(held, { version, nonce, shared: false });
    this.#keep(key, held);
    return frame;
  }

  #about(variant: Variant, typeUrl: string, content: ResourceDelta, lastNonce: string) {
    const version = this.version(content);
    const nonce = version === lastNonce ? `${version}'` : version;
    return { version, nonce, key: `${variant} ${typeUrl} ${nonce}` };
  }

  #read(held: Held, about: Omit<Frame, 'bytes' | 'release'>): Frame {
    const { length } = held.bytes;
    if (held.readers === 0 && length > LEAST_COUNTED_BYTES) held.leave = this.#window.hold(length);
    held.readers++;
    return { ...about, bytes: held.bytes, release: () => this.#release(held) };
  }

  #release(held: Held): void {
    held.readers--;
    if (held.readers > 0) return;
    if (!held.cached) this.#buffers.give(held.bytes);
    held.leave();
  }

  /** The content hash of a response. */
  version(content: ResourceDelta): string {
    const known = this.#versions.get(content);
    if (known !== undefined) return known;
    // Lengths, so that no name can look like the end of another.
    const parts: (string | number)[] = [content.changed.length];
    for (const { name, version } of content.changed) parts.push(name.length, name, version.length, version);
    for (const name of content.removed) parts.push(name.length, name);
    const version = contentVersion(parts.join('\n'));
    this.#versions.set(content, version);
    return version;
  }

  #keep(key: string, held: Held): void {
    if (held.bytes.length < LEAST_KEPT_BYTES) return;
    held.cached = true;
    this.#cache.set(key, held);
    this.#bytes += held.bytes.length;
    for (const [oldest, other] of this.#cache) {
      if (this.#bytes <= this.#maxBytes || oldest === key) break;
      this.#cache.delete(oldest);
      this.#bytes -= other.bytes.length;
      other.cached = false;
      if (other.readers === 0) this.#buffers.give(other.bytes);
    }
  }
}

/** Whether the resources have no more bytes than that, without counting all of them. */
function atMost({ changed }: ResourceDelta, bytes: number): boolean {
  let sum = 0;
  for (const resource of changed) {
    sum += resource.bytes.length;
    if (sum > bytes) return false;
  }
  return true;
}
