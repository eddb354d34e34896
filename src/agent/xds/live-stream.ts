import { Buffer } from 'node:buffer';
import {
  type ChannelCredentials,
  type ChannelOptions,
  type Client,
  type ClientDuplexStream,
  connectivityState,
  Metadata,
  status,
} from '@grpc/grpc-js';
import {
  type DeltaDiscoveryResponse,
  decodeDeltaDiscoveryRequest,
  decodeDeltaDiscoveryResponse,
  encodeDeltaDiscoveryRequest,
  type PackedMessage,
} from '../../proto/discovery.ts';
import { controlPlaneClient, metadataOf } from '../../xds/client.ts';
import { FRAME_HEADER, withHeader } from '../../xds/protocol.ts';
import { AGGREGATED_SERVICE } from '../../xds/services.ts';
import type { RawCall } from '../../xds/transport.ts';
import { Accepted } from './accepted.ts';
import type { XdsCache } from './cache.ts';

const METHOD = `/${AGGREGATED_SERVICE.name}/${AGGREGATED_SERVICE.delta}`;
const asIs = (bytes: Buffer): Buffer => bytes;

/** How long a connection to istiod may take to come about, and how long it is waited for when it is looked for. Milliseconds. */
const CONNECT_WITHIN = 5000;
const LOOK_FOR = 2000;

/** What is needed to connect. */
export interface Upstream {
  /** As gRPC takes it. */
  readonly target: string;
  readonly channelOptions: ChannelOptions;
  /** @throws Error with a message for people */
  credentials(): ChannelCredentials;
  headers(): Readonly<Record<string, string>>;
}

/** A client of istiod. @throws Error with a message for people */
export function upstreamClient(upstream: Upstream): Client {
  return controlPlaneClient(upstream.target, upstream.credentials(), upstream.channelOptions);
}

/** Resolves when it is connected. */
export function connected(client: Client): Promise<void> {
  return new Promise((resolve, reject) => {
    client.waitForReady(Date.now() + LOOK_FOR, (error) => (error === undefined ? resolve() : reject(error)));
  });
}

/** Takes what a response of its type holds. @returns why it is refused; undefined: it is taken */
export type TakeOwn = (resources: readonly PackedMessage[]) => string | undefined;
export type OwnTypes = ReadonlyMap<string, TakeOwn>;

export interface LiveStreamOptions {
  readonly upstream: Upstream;
  readonly cache: XdsCache;
  /** What the agent itself asks for on Envoy's stream, by type. */
  readonly own: OwnTypes;
  /** istiod has answered. */
  onAnswer(): void;
  /** The stream is over; `reason` undefined: Envoy ended it. */
  onEnd(reason: string | undefined): void;
}

/**
 * One stream of an Envoy, passed on to istiod and back as it is, so that istiod hears the proxy itself: what it asks, takes and
 * refuses. What it took is kept.
 *
 * @see istio/istio pkg/istio-agent/xds_proxy_delta.go
 */
export class LiveStream {
  readonly #call: RawCall;
  readonly #options: LiveStreamOptions;
  readonly #accepted: Accepted;
  #client: Client | undefined;
  #upstream: ClientDuplexStream<Buffer, Buffer> | undefined;
  #hasAskedForOwn = false;
  #isOver = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(call: RawCall, options: LiveStreamOptions) {
    this.#call = call;
    this.#options = options;
    this.#accepted = new Accepted(options.cache);
    call.on('error', () => this.#end(undefined));
    call.on('cancelled', () => this.#end(undefined));
    call.on('end', () => this.#end(undefined));
  }

  /** Connects, and passes on from then on. */
  start(): void {
    const { upstream } = this.#options;
    try {
      const client = upstreamClient(upstream);
      this.#client = client;
      this.#timer = setTimeout(() => {
        if (client.getChannel().getConnectivityState(false) !== connectivityState.READY)
          this.#end(`no connection within ${CONNECT_WITHIN} ms`);
      }, CONNECT_WITHIN);
      this.#passOn(client.makeBidiStreamRequest(METHOD, asIs, asIs, metadataOf(upstream.headers())));
    } catch (error) {
      this.#end(error instanceof Error ? error.message : String(error));
    }
  }

  /** Ends it, so that Envoy comes again. */
  end(reason: string): void {
    this.#end(reason);
  }

  #passOn(upstream: ClientDuplexStream<Buffer, Buffer>): void {
    this.#upstream = upstream;
    const call = this.#call;
    upstream.on('error', () => {});
    upstream.on('status', ({ details }) => this.#end(details || 'istiod ended the stream'));
    upstream.on('data', (bytes: Buffer) => this.#response(bytes, upstream));
    upstream.on('drain', () => call.resume());
    call.on('drain', () => upstream.resume());
    call.on('data', (bytes: Buffer) => this.#request(bytes, upstream));
  }

  #request(bytes: Buffer, upstream: ClientDuplexStream<Buffer, Buffer>): void {
    if (this.#isOver) return;
    try {
      this.#accepted.request(decodeDeltaDiscoveryRequest(bytes));
    } catch {
      this.#end('Envoy sent what is no request');
      return;
    }
    if (!upstream.write(bytes)) this.#call.pause();
    if (this.#hasAskedForOwn) return;
    this.#hasAskedForOwn = true;
    for (const typeUrl of this.#options.own.keys())
      upstream.write(Buffer.from(encodeDeltaDiscoveryRequest({ typeUrl })));
  }

  #response(bytes: Buffer, upstream: ClientDuplexStream<Buffer, Buffer>): void {
    if (this.#isOver) return;
    let response: DeltaDiscoveryResponse;
    try {
      response = decodeDeltaDiscoveryResponse(bytes);
    } catch {
      this.#end('istiod sent what is no response');
      return;
    }
    this.#options.onAnswer();
    const take = this.#options.own.get(response.typeUrl);
    if (take !== undefined) {
      this.#takeOwn(take, response, upstream);
      return;
    }
    this.#accepted.response(response);
    if (!this.#call.write(framed(bytes))) upstream.pause();
  }

  #takeOwn(take: TakeOwn, response: DeltaDiscoveryResponse, upstream: ClientDuplexStream<Buffer, Buffer>): void {
    const { typeUrl, nonce: responseNonce, resources } = response;
    const message = take(resources.flatMap(({ resource }) => resource ?? []));
    const refused = message === undefined ? {} : { errorDetail: { code: status.INVALID_ARGUMENT, message } };
    upstream.write(Buffer.from(encodeDeltaDiscoveryRequest({ typeUrl, responseNonce, ...refused })));
  }

  #end(reason: string | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#upstream?.cancel();
    this.#client?.close();
    if (reason !== undefined)
      this.#call.emit('error', { code: status.UNAVAILABLE, details: reason, metadata: new Metadata() });
    this.#options.onEnd(reason);
  }
}

/** The gRPC header is put before each message by hand, as the service's responses are whole frames. */
function framed(bytes: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER + bytes.length);
  bytes.copy(frame, FRAME_HEADER);
  return withHeader(frame);
}
