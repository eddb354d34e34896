import { Buffer } from 'node:buffer';
import {
  type ChannelCredentials,
  Client,
  type ClientDuplexStream,
  credentials,
  type StatusObject,
} from '@grpc/grpc-js';
import type { JsonObject } from '../../src/base/json.ts';
import { decodeMessage } from '../../src/proto/decode.ts';
import {
  type DeltaRequestParts,
  decodeDeltaDiscoveryResponse,
  decodeDiscoveryResponse,
  encodeDeltaDiscoveryRequest,
  encodeDiscoveryRequest,
  type RequestParts,
} from '../../src/proto/discovery.ts';
import { Reader } from '../../src/proto/reader.ts';
import { messageName, NAME_TABLE_TYPE } from '../../src/proto/type-urls.ts';
import type { Variant } from '../../src/xds/events.ts';

export interface ReceivedResource {
  readonly name: string;
  /** In the state-of-the-world variant that of the whole response. */
  readonly version: string;
  readonly bytes: Uint8Array;
}

/** A response in either variant. */
export interface Received {
  /** When it came: monotonic milliseconds, as of `performance.now`. */
  readonly at: number;
  readonly typeUrl: string;
  readonly version: string;
  readonly nonce: string;
  readonly resources: readonly ReceivedResource[];
  /** Names; empty in the state-of-the-world variant. */
  readonly removed: readonly string[];
}

/** A resource in proto JSON, with its `@type`. */
export function resourceJson(typeUrl: string, { bytes }: Pick<ReceivedResource, 'bytes'>): JsonObject {
  return { '@type': typeUrl, ...decodeMessage(messageName(typeUrl), bytes) };
}

const METHOD: Readonly<Record<Variant, string>> = {
  sotw: '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources',
  delta: '/envoy.service.discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources',
};

const asIs = (bytes: Buffer): Buffer => bytes;

/** One aggregated stream over a connection of its own. It sends nothing by itself. */
export class AdsStream {
  readonly variant: Variant;
  /** How the stream ended; it never rejects. */
  readonly ended: Promise<StatusObject>;
  readonly #client: Client;
  readonly #call: ClientDuplexStream<Buffer, Buffer>;
  #status: StatusObject | undefined;

  /** @param address `host:port`, plaintext, or `unix:` and the path of a socket */
  constructor(
    address: string,
    variant: Variant,
    onResponse: (received: Received) => void,
    channel: ChannelCredentials = credentials.createInsecure(),
  ) {
    this.variant = variant;
    this.#client = new Client(address, channel, {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': -1,
    });
    this.#call = this.#client.makeBidiStreamRequest(METHOD[variant], asIs, asIs);
    const read = variant === 'sotw' ? readSotw : readDelta;
    this.#call.on('data', (bytes: Buffer) => onResponse(read(bytes)));
    this.#call.on('error', () => {});
    this.ended = new Promise((resolve) => {
      this.#call.on('status', (status: StatusObject) => {
        this.#status = status;
        this.#client.close();
        resolve(status);
      });
    });
  }

  /** Undefined while it is open. */
  get status(): StatusObject | undefined {
    return this.#status;
  }

  sotw(request: RequestParts): void {
    this.#write(encodeDiscoveryRequest(request));
  }

  delta(request: DeltaRequestParts): void {
    this.#write(encodeDeltaDiscoveryRequest(request));
  }

  close(): void {
    this.#call.cancel();
  }

  #write(bytes: Uint8Array): void {
    if (this.#status === undefined) this.#call.write(Buffer.from(bytes));
  }
}

function readSotw(bytes: Uint8Array): Received {
  const { typeUrl, versionInfo, nonce, resources } = decodeDiscoveryResponse(bytes);
  return {
    at: performance.now(),
    typeUrl,
    version: versionInfo,
    nonce,
    resources: resources.map(({ value }) => ({ name: nameIn(typeUrl, value), version: versionInfo, bytes: value })),
    removed: [],
  };
}

function readDelta(bytes: Uint8Array): Received {
  const { typeUrl, systemVersionInfo, nonce, resources, removedResources } = decodeDeltaDiscoveryResponse(bytes);
  return {
    at: performance.now(),
    typeUrl,
    version: systemVersionInfo,
    nonce,
    resources: resources.flatMap(({ name, version, resource }) =>
      resource === undefined ? [] : [{ name, version, bytes: resource.value }],
    ),
    removed: removedResources,
  };
}

/** What a resource says its name is: field 1 in every type but the name table, which has none. */
function nameIn(typeUrl: string, bytes: Uint8Array): string {
  if (typeUrl === NAME_TABLE_TYPE) return typeUrl;
  const reader = new Reader(bytes);
  while (reader.more()) {
    const tag = reader.tag();
    if (tag === 0x0a) return reader.string();
    reader.skip(tag);
  }
  return '';
}
