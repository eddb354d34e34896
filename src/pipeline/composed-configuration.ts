import { contentVersion } from '../base/hash.ts';
import { outboundRouteConfiguration } from '../envoy/routes/configuration.ts';
import { encodeMessage, type MessageOf } from '../proto/message.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import type { EncodedPart } from './virtual-hosts.ts';

const CONFIGURATION = 'envoy.config.route.v3.RouteConfiguration';

/** Virtual hosts that several configurations hold, one after the other. */
export interface SharedHosts {
  readonly version: string;
  readonly bytes: Uint8Array;
  /** Where each begins; after the last one, where it ends. */
  readonly starts: readonly number[];
}

export function sharedHosts(hosts: readonly EncodedPart[]): SharedHosts {
  const starts = [0];
  for (const { field } of hosts) starts.push((starts.at(-1) ?? 0) + field.length);
  const version = contentVersion(hosts.map((host) => host.version).join());
  return { version, bytes: Buffer.concat(hosts.map(({ field }) => field)), starts };
}

/** What a configuration is composed of. */
export interface Composition {
  readonly shared?: SharedHosts;
  /** These stand at their places instead of the shared ones. */
  readonly own?: ReadonlyMap<number, EncodedPart>;
  /** After the shared ones. */
  readonly others: readonly EncodedPart[];
}

/**
 * A route configuration. Its bytes are put together when they are sent: what is kept are virtual hosts, which other
 * configurations share.
 */
export class ComposedConfiguration implements EncodedResource {
  readonly name: string;
  readonly version: string;
  readonly pieces: NonNullable<EncodedResource['pieces']>;

  /** @param fields all of it but the virtual hosts; names tell the kinds of configurations apart */
  constructor(
    name: string,
    composition: Composition,
    fields: MessageOf<typeof CONFIGURATION> = outboundRouteConfiguration(name, []),
  ) {
    const { shared, own = NONE, others } = composition;
    const versions = [
      ...(shared ? [shared.version, ...Array.from(own, ([place, { version }]) => `${place} ${version}`)] : []),
      ...others.map(({ version }) => version),
    ];
    this.name = name;
    this.version = contentVersion([name, ...versions].join());
    const head = encodeMessage(CONFIGURATION, fields);
    this.pieces = { size: head.length + sizeOf(composition), parts: () => [head, ...partsOf(composition)] };
  }

  get bytes(): Uint8Array {
    return Buffer.concat(this.pieces.parts());
  }
}

/** Fields of a message may be concatenated: the virtual hosts come after all others. */
function partsOf({ shared, own = NONE, others }: Composition): readonly Uint8Array[] {
  const parts: Uint8Array[] = [];
  if (shared !== undefined) {
    const { bytes, starts } = shared;
    let from = 0;
    for (const [place, { field }] of [...own].sort(([a], [b]) => a - b)) {
      parts.push(bytes.subarray(from, starts[place]), field);
      from = starts[place + 1] ?? bytes.length;
    }
    parts.push(bytes.subarray(from));
  }
  return [...parts, ...others.map(({ field }) => field)];
}

function sizeOf({ shared, own = NONE, others }: Composition): number {
  let size = shared?.bytes.length ?? 0;
  for (const [place, { field }] of own) {
    size += field.length - ((shared?.starts[place + 1] ?? 0) - (shared?.starts[place] ?? 0));
  }
  for (const { field } of others) size += field.length;
  return size;
}

const NONE: ReadonlyMap<number, EncodedPart> = new Map();
