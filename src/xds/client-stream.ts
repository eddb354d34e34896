import { Buffer } from 'node:buffer';
import type { ChannelCredentials, ChannelOptions, Client, ClientDuplexStream } from '@grpc/grpc-js';
import type { JsonObject } from '../base/json.ts';
import {
  type DiscoveryResponse,
  decodeDiscoveryResponse,
  encodeDiscoveryRequest,
  type RequestParts,
} from '../proto/discovery.ts';
import { controlPlaneClient, metadataOf } from './client.ts';
import { AGGREGATED_SERVICE } from './services.ts';

const METHOD = `/${AGGREGATED_SERVICE.name}/${AGGREGATED_SERVICE.stream}`;
const asIs = (bytes: Buffer): Buffer => bytes;

/** Milliseconds before the first new attempt; each further one waits twice as long, up to the last. */
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;

export interface ClientStreamOptions {
  /** `host:port`, or `unix:` and a path. */
  readonly address: string;
  /** Asked for at each attempt, as certificates are renewed. What it throws is why there is no connection. */
  credentials(): ChannelCredentials;
  readonly channel?: ChannelOptions;
  /** Sent with each new stream (`authorization`). */
  headers?(): Readonly<Record<string, string>>;
  readonly node: JsonObject;
  readonly typeUrls: readonly string[];
  /** @returns why it is refused; undefined: it is taken */
  onResponse(response: DiscoveryResponse): string | undefined;
  /** @param reason of the end; undefined: the stream is open and has been answered */
  onState(reason: string | undefined): void;
}

/**
 * Asks a control plane for all resources of some types, and again whenever the stream ends, until it is told to stop.
 * State of the world.
 */
export class ClientStream {
  readonly #options: ClientStreamOptions;
  #client: Client | undefined;
  #call: ClientDuplexStream<Buffer, Buffer> | undefined;
  #pause = FIRST_PAUSE;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(options: ClientStreamOptions) {
    this.#options = options;
    this.#begin();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#call?.cancel();
    this.#client?.close();
  }

  #begin(): void {
    try {
      this.#open();
    } catch (error) {
      this.#again(error instanceof Error ? error.message : String(error));
    }
  }

  #again(reason: string): void {
    this.#client?.close();
    this.#options.onState(reason);
    this.#timer = setTimeout(() => this.#begin(), this.#pause);
    this.#timer.unref();
    this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
  }

  #open(): void {
    const { address, channel, node, typeUrls, onState, headers } = this.#options;
    const client = controlPlaneClient(address, this.#options.credentials(), channel);
    this.#client = client;
    const call = client.makeBidiStreamRequest(METHOD, asIs, asIs, metadataOf(headers?.() ?? {}));
    this.#call = call;
    let isAnswered = false;
    call.on('data', (bytes: Buffer) => {
      if (!isAnswered) onState(undefined);
      isAnswered = true;
      this.#pause = FIRST_PAUSE;
      this.#receive(call, bytes);
    });
    call.on('error', () => {});
    call.on('status', ({ details }) => {
      if (!this.#stopped) this.#again(details || 'the stream ended');
    });
    // A version of an earlier stream means nothing to a server that has begun anew.
    for (const typeUrl of typeUrls) send(call, { node, typeUrl });
  }

  #receive(call: ClientDuplexStream<Buffer, Buffer>, bytes: Buffer): void {
    let response: DiscoveryResponse;
    try {
      response = decodeDiscoveryResponse(bytes);
    } catch {
      call.cancel();
      return;
    }
    const { typeUrl, nonce: responseNonce, versionInfo } = response;
    const refused = this.#options.onResponse(response);
    if (refused === undefined) send(call, { typeUrl, versionInfo, responseNonce });
    else send(call, { typeUrl, responseNonce, errorDetail: { code: 3, message: refused } });
  }
}

function send(call: ClientDuplexStream<Buffer, Buffer>, request: RequestParts): void {
  call.write(Buffer.from(encodeDiscoveryRequest(request)));
}
