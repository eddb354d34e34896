import { contentVersion } from '../base/hash.ts';
import { outboundRouteConfiguration } from '../envoy/routes/configuration.ts';
import { encodeMessage, type MessageOf } from '../proto/message.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import type { EncodedPart } from './virtual-hosts.ts';

const CONFIGURATION = 'envoy.config.route.v3.RouteConfiguration';

/** A route configuration. Its bytes are put together when they are sent: what is kept are the virtual hosts, which other configurations share. */
export class ComposedConfiguration implements EncodedResource {
  readonly name: string;
  readonly version: string;
  /** Fields of a message may be concatenated: all others first, then the virtual hosts. */
  readonly parts: readonly Uint8Array[];

  /** @param own all of it but the virtual hosts; names tell the kinds of configurations apart */
  constructor(
    name: string,
    virtualHosts: readonly EncodedPart[],
    own: MessageOf<typeof CONFIGURATION> = outboundRouteConfiguration(name, []),
  ) {
    this.name = name;
    this.version = contentVersion([name, ...virtualHosts.map(({ version }) => version)].join());
    const others = encodeMessage(CONFIGURATION, own);
    this.parts = [others, ...virtualHosts.map(({ field }) => field)];
  }

  get bytes(): Uint8Array {
    return Buffer.concat(this.parts);
  }
}
