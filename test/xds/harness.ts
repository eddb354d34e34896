import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import {
  Client,
  type ClientDuplexStream,
  credentials,
  Server,
  ServerCredentials,
  type StatusObject,
} from '@grpc/grpc-js';
import {
  type DeltaRequestParts,
  decodeDeltaDiscoveryResponse,
  decodeDiscoveryResponse,
  encodeDeltaDiscoveryRequest,
  encodeDiscoveryRequest,
  type RequestParts,
} from '../../src/proto/discovery.ts';
import type { DiscoveryEvents, Push, Variant } from '../../src/xds/events.ts';
import { serverOptions } from '../../src/xds/limits.ts';
import { DiscoveryServer, type DiscoveryServerOptions } from '../../src/xds/server.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { type FakeProvider, readFakeResource } from '../support/fake-provider.ts';

export const NODE = { id: 'sidecar~10.0.0.1~a.b~b.svc.cluster.local', cluster: 'a.b' };

/** A response in either variant, by names. */
export interface Received {
  readonly typeUrl: string;
  readonly version: string;
  readonly nonce: string;
  /** Name to text. */
  readonly resources: Readonly<Record<string, string>>;
  /** Name to version; empty in the state-of-the-world variant. */
  readonly versions: Readonly<Record<string, string>>;
  readonly removed: readonly string[];
}

/** One stream of a client that answers nothing by itself. */
export class TestStream {
  readonly #call: ClientDuplexStream<Buffer, Buffer>;
  readonly #variant: Variant;
  readonly #queue: Received[] = [];
  #waiting: ((received: Received) => void) | undefined;
  #barriers = 0;
  #status: StatusObject | undefined;
  #onStatus: (status: StatusObject) => void = () => {};

  constructor(call: ClientDuplexStream<Buffer, Buffer>, variant: Variant) {
    this.#call = call;
    this.#variant = variant;
    call.on('data', (bytes: Buffer) => this.#received(bytes));
    call.on('error', () => {});
    call.on('status', (status: StatusObject) => {
      this.#status = status;
      this.#onStatus(status);
    });
  }

  /** Stops reading: responses stay in the windows of HTTP/2. */
  pause(): void {
    this.#call.pause();
  }

  resume(): void {
    this.#call.resume();
  }

  write(bytes: Uint8Array): void {
    this.#call.write(Buffer.from(bytes));
  }

  sotw(request: RequestParts): void {
    this.write(encodeDiscoveryRequest(request));
  }

  delta(request: DeltaRequestParts): void {
    this.write(encodeDeltaDiscoveryRequest(request));
  }

  /** Sends `names` in the stream's variant: the whole list, or names to add. */
  subscribe(typeUrl: string, names: readonly string[] = [], node: typeof NODE | 'none' = NODE): void {
    const who = node === 'none' ? {} : { node };
    if (this.#variant === 'sotw') this.sotw({ ...who, typeUrl, resourceNames: names });
    else this.delta({ ...who, typeUrl, resourceNamesSubscribe: names });
  }

  ack(received: Received, names: readonly string[] = []): void {
    const { typeUrl, nonce, version } = received;
    if (this.#variant === 'sotw')
      this.sotw({ typeUrl, versionInfo: version, resourceNames: names, responseNonce: nonce });
    else this.delta({ typeUrl, responseNonce: nonce });
  }

  nack(received: Received, message: string, names: readonly string[] = []): void {
    const { typeUrl, nonce } = received;
    const errorDetail = { code: 13, message };
    if (this.#variant === 'sotw') this.sotw({ typeUrl, resourceNames: names, responseNonce: nonce, errorDetail });
    else this.delta({ typeUrl, responseNonce: nonce, errorDetail });
  }

  /** The next response. Rejects when the stream ends first. */
  next(): Promise<Received> {
    const queued = this.#queue.shift();
    if (queued !== undefined) return Promise.resolve(queued);
    return new Promise((resolve, reject) => {
      this.#waiting = resolve;
      this.ended().then(({ code, details }) => reject(new Error(`the stream ended: ${code} ${details}`)), reject);
    });
  }

  /** The next response, which it acknowledges. */
  async taken(names: readonly string[] = []): Promise<Received> {
    const received = await this.next();
    this.ack(received, names);
    return received;
  }

  /**
   * All responses that the server sends because of what was done so far. The server answers a first request for a type at
   * once and in order: when that answer is here, there is nothing else on its way.
   */
  async settled(): Promise<readonly Received[]> {
    const typeUrl = `type.googleapis.com/test.Barrier${++this.#barriers}`;
    this.subscribe(typeUrl, [], 'none');
    const before: Received[] = [];
    for (;;) {
      const received = await this.next();
      if (received.typeUrl === typeUrl) return before;
      before.push(received);
    }
  }

  ended(): Promise<StatusObject> {
    if (this.#status !== undefined) return Promise.resolve(this.#status);
    return new Promise((resolve) => {
      const previous = this.#onStatus;
      this.#onStatus = (status) => {
        previous(status);
        resolve(status);
      };
    });
  }

  end(): void {
    this.#call.end();
  }

  cancel(): void {
    this.#call.cancel();
  }

  #received(bytes: Buffer): void {
    const received = this.#variant === 'sotw' ? readSotw(bytes) : readDelta(bytes);
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting === undefined) this.#queue.push(received);
    else waiting(received);
  }
}

function readSotw(bytes: Uint8Array): Received {
  const { typeUrl, versionInfo, nonce, resources } = decodeDiscoveryResponse(bytes);
  const read = resources.map(({ value }) => readFakeResource(value));
  const texts = Object.fromEntries(read.map(({ name, text }) => [name, text]));
  if (Object.keys(texts).length !== resources.length) throw new Error('a response has a name twice');
  return { typeUrl, version: versionInfo, nonce, resources: texts, versions: {}, removed: [] };
}

function readDelta(bytes: Uint8Array): Received {
  const { typeUrl, systemVersionInfo, nonce, resources, removedResources } = decodeDeltaDiscoveryResponse(bytes);
  const texts = Object.fromEntries(
    resources.map(({ name, resource }) => [name, readFakeResource(resource?.value ?? new Uint8Array()).text]),
  );
  const names = [...resources.map(({ name }) => name), ...removedResources];
  if (new Set(names).size !== names.length) throw new Error('a response has a name twice');
  return {
    typeUrl,
    version: systemVersionInfo,
    nonce,
    resources: texts,
    versions: Object.fromEntries(resources.map(({ name, version }) => [name, version])),
    removed: removedResources,
  };
}

const asBytes = (message: Uint8Array): Buffer => Buffer.from(message);

/** One connection to a server. */
export class TestClient {
  readonly address: string;
  readonly #client: Client;

  constructor(address: string) {
    this.address = address;
    this.#client = new Client(address, credentials.createInsecure(), {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': -1,
    });
  }

  /** A stream of all types, or of the method that is named. */
  stream(
    variant: Variant,
    method: string = variant === 'sotw'
      ? 'discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources'
      : 'discovery.v3.AggregatedDiscoveryService/DeltaAggregatedResources',
  ): TestStream {
    return new TestStream(this.#client.makeBidiStreamRequest(`/envoy.service.${method}`, asBytes, asBytes), variant);
  }

  /** One answer to one request. */
  fetch(method: string, request: Uint8Array): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(`/envoy.service.${method}`, asBytes, asBytes, request, (error, answer) => {
        if (answer === undefined) reject(error ?? new Error('no answer'));
        else resolve(answer);
      });
    });
  }

  close(): void {
    this.#client.close();
  }
}

/** A server with a fake provider, and clients for it. Everything ends with the test. */
export class Fixture {
  readonly discovery: DiscoveryServer;
  readonly provider: FakeProvider;
  readonly clock: FakeClock = new FakeClock();
  readonly pushes: Push[] = [];
  readonly #server: Server;
  readonly #clients: TestClient[] = [];
  #address = '';

  constructor(provider: FakeProvider, options: Partial<DiscoveryServerOptions> = {}) {
    this.provider = provider;
    const events: DiscoveryEvents = {
      ...options.events,
      onPush: (stream, push) => {
        this.pushes.push(push);
        options.events?.onPush?.(stream, push);
      },
    };
    const limits = { maxTypes: 10_000, ...options.limits };
    this.discovery = new DiscoveryServer({ clock: this.clock, ...options, provider, events, limits });
    this.#server = new Server(serverOptions(limits));
    this.discovery.register(this.#server);
  }

  get address(): string {
    return this.#address;
  }

  async start(): Promise<this> {
    const port = await new Promise<number>((resolve, reject) => {
      this.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    this.#address = `127.0.0.1:${port}`;
    return this;
  }

  /** A client with a connection of its own. */
  client(): TestClient {
    const client = new TestClient(this.#address);
    this.#clients.push(client);
    return client;
  }

  stream(variant: Variant, client: TestClient = this.client()): TestStream {
    return client.stream(variant);
  }

  stop(): void {
    for (const client of this.#clients) client.close();
    this.#server.forceShutdown();
  }
}

export interface Case {
  readonly variant: Variant;
  readonly directWrites: boolean;
}

/** Longer than any test takes; a test that hangs shall end. */
const TIMEOUT_MS = 300_000;

export const VARIANTS: readonly Variant[] = ['sotw', 'delta'];

/** Runs a test in the given variants and on both ways of writing. */
export function xdsTest(
  name: string,
  run: (
    start: (provider: FakeProvider, options?: Partial<DiscoveryServerOptions>) => Promise<Fixture>,
    which: Case,
  ) => Promise<void>,
  variants: readonly Variant[] = VARIANTS,
): void {
  for (const variant of variants) {
    for (const directWrites of [true, false]) {
      test(`${name} (${variant}, ${directWrites ? 'direct' : 'call.write'})`, { timeout: TIMEOUT_MS }, async () => {
        const fixtures: Fixture[] = [];
        try {
          await run(
            async (provider, options) => {
              const fixture = new Fixture(provider, { directWrites, ...options });
              fixtures.push(fixture);
              return await fixture.start();
            },
            { variant, directWrites },
          );
        } finally {
          for (const fixture of fixtures) fixture.stop();
        }
      });
    }
  }
}
