import { Buffer } from 'node:buffer';
import { readFileSync, renameSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { contentVersion } from '../../base/hash.ts';
import { parsedObject } from '../../base/json.ts';
import {
  type DeltaResource,
  decodeDeltaDiscoveryResponse,
  encodeDeltaDiscoveryResponse,
} from '../../proto/discovery.ts';
import type { EncodedResource } from '../../proto/resource-set.ts';

const FORMAT = 1;
const NAME = 'xds-cache';
/** No header is longer. Bytes. */
const LONGEST_HEADER = 4096;

/** Resources of one type. */
export interface CachedType {
  readonly typeUrl: string;
  readonly resources: Iterable<EncodedResource>;
}

export interface CacheFileOptions {
  /** Made with mode 0700 when it is not there: secrets may be among the resources. */
  readonly directory: string;
  /** Whose resources they are: what another one was sent is not used. */
  readonly owner: string;
  readonly log: { warn(message: string): void };
}

/**
 * What an Envoy was sent last, in one file: a line of JSON (`format`, `owner`, `size`, `hash`), then for each type its length in
 * four bytes and its resources as a `DeltaDiscoveryResponse`. A file that is damaged is put aside.
 */
export class CacheFile {
  readonly #options: CacheFileOptions;
  #hasFailed = false;

  constructor(options: CacheFileOptions) {
    this.#options = options;
  }

  /** Empty when there is nothing that can be used. */
  load(): readonly CachedType[] {
    let bytes: Buffer;
    try {
      bytes = readFileSync(this.#path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#warn('can not be read', error);
      return [];
    }
    try {
      return this.#read(bytes);
    } catch (error) {
      this.#warn(`is damaged and kept as ${NAME}.damaged`, error);
      try {
        renameSync(this.#path, `${this.#path}.damaged`);
      } catch {
        // It is written over, then.
      }
      return [];
    }
  }

  /** Never rejects: a failure is told of once. */
  async save(types: readonly CachedType[]): Promise<void> {
    const { directory, owner } = this.#options;
    const parts = types.flatMap(({ typeUrl, resources }) => {
      const message = encodeDeltaDiscoveryResponse({
        typeUrl,
        resources: [...resources],
        removedResources: [],
        systemVersionInfo: '',
        nonce: '',
      });
      const length = Buffer.alloc(4);
      length.writeUInt32BE(message.length);
      return [length, message];
    });
    const body = Buffer.concat(parts);
    const header = { format: FORMAT, owner, size: body.length, hash: contentVersion(body) };
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      const file = await open(`${this.#path}.new`, 'w', 0o600);
      try {
        await file.writeFile(`${JSON.stringify(header)}\n`);
        await file.writeFile(body);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${this.#path}.new`, this.#path);
      this.#hasFailed = false;
    } catch (error) {
      if (!this.#hasFailed) this.#warn('is not kept for a restart', error);
      this.#hasFailed = true;
    }
  }

  #read(bytes: Buffer): readonly CachedType[] {
    const end = bytes.subarray(0, LONGEST_HEADER).indexOf('\n');
    const header = parsedObject(bytes.toString('utf8', 0, Math.max(0, end)));
    if (typeof header?.['format'] !== 'number' || typeof header['owner'] !== 'string')
      throw new Error('it has no header');
    if (header['format'] !== FORMAT || header['owner'] !== this.#options.owner) return [];
    const body = bytes.subarray(end + 1);
    if (body.length !== header['size'] || contentVersion(body) !== header['hash'])
      throw new Error('it is cut off or changed');
    const types: CachedType[] = [];
    for (let at = 0; at < body.length; ) {
      const length = body.readUInt32BE(at);
      const { typeUrl, resources } = decodeDeltaDiscoveryResponse(body.subarray(at + 4, at + 4 + length));
      types.push({ typeUrl, resources: resources.flatMap((one) => encodedResources(one, typeUrl)) });
      at += 4 + length;
    }
    return types;
  }

  #warn(what: string, error: unknown): void {
    this.#options.log.warn(
      `the configuration of Envoy in ${NAME} ${what}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }

  get #path(): string {
    return join(this.#options.directory, NAME);
  }
}

/** One, with bytes of its own; none when only its name is known to the server. */
export function encodedResources(
  { name, version, resource }: DeltaResource,
  typeUrl: string,
): readonly EncodedResource[] {
  if (resource === undefined) return [];
  const bytes = Uint8Array.from(resource.value);
  return [{ name, version, bytes, ...(resource.typeUrl === typeUrl ? {} : { typeUrl: resource.typeUrl }) }];
}
