import type { Buffer } from 'node:buffer';
import {
  type Server,
  type ServerUnaryCall,
  type ServiceDefinition,
  type sendUnaryData,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { bytesMethod } from './bytes-method.ts';
import { type CallContext, DiscoveryCall, MISTAKE } from './call.ts';
import { type Authenticate, callerOf, certificateIdentities } from './caller.ts';
import type { Client } from './client-status.ts';
import { delta } from './delta.ts';
import type { DiscoveryEvents, StreamStatus } from './events.ts';
import { fetched } from './fetch.ts';
import { Frames } from './frames.ts';
import { type Clock, DEFAULT_LIMITS, type Limits, SYSTEM_CLOCK } from './limits.ts';
import { NameSets } from './name-sets.ts';
import { type AnyRequest, FRAME_HEADER, type Protocol } from './protocol.ts';
import { ConnectError, type Peer, type ResourceProvider } from './provider.ts';
import type { Questions } from './questions.ts';
import { SendWindow } from './send-window.ts';
import { AGGREGATED_SERVICE, DISCOVERY_SERVICES, type DiscoveryService } from './services.ts';
import { Snapshots } from './snapshot.ts';
import { sotw } from './sotw.ts';
import { type RawCall, type StatusName, Transport } from './transport.ts';
import { Turns } from './turns.ts';

export interface DiscoveryServerOptions {
  readonly provider: ResourceProvider;
  readonly events?: DiscoveryEvents;
  /** Default: none are answered. */
  readonly questions?: Questions;
  /** Who a caller is; the default believes client certificates that the TLS layer verified, and nothing else. */
  readonly authenticate?: Authenticate;
  readonly limits?: Partial<Limits>;
  /** `control_plane.identifier` of each response; default: none. */
  readonly controlPlane?: string;
  /** Whether frames may bypass `call.write`; default true. */
  readonly directWrites?: boolean;
  readonly clock?: Clock;
}

/**
 * Serves the xDS protocol, over a provider of resource sets: aggregated and single-type services, in both variants. One
 * object can be registered on several grpc-js servers; create those with `serverOptions()`.
 */
export class DiscoveryServer {
  readonly #context: CallContext;
  readonly #authenticate: Authenticate;
  readonly #directWrites: boolean;
  readonly #calls = new Set<{
    readonly client: Client | undefined;
    refuse(code: StatusName, text: string): void;
  }>();
  readonly #perConnection = new Map<object | string, number>();
  #closing: string | undefined;

  constructor(options: DiscoveryServerOptions) {
    const limits = { ...DEFAULT_LIMITS, ...options.limits };
    const clock = options.clock ?? SYSTEM_CLOCK;
    const window = new SendWindow(limits.sendWindowBytes, limits.sendPatienceMs, clock);
    let id = 0;
    this.#context = {
      provider: options.provider,
      questions: options.questions,
      controlPlane: options.controlPlane ?? '',
      events: options.events ?? {},
      limits,
      clock,
      window,
      nameSets: new NameSets(),
      turns: new Turns(clock),
      snapshots: new Snapshots(),
      frames: new Frames(limits.frameCacheBytes, options.controlPlane ?? '', window),
      nextId: () => ++id,
    };
    this.#authenticate = options.authenticate ?? certificateIdentities;
    this.#directWrites = options.directWrites ?? true;
  }

  /**
   * Adds the discovery services to a server.
   * @param local whether it serves a socket of this machine alone: `Peer.local` of all who call there
   */
  register(server: Server, local: boolean = false): void {
    for (const service of DISCOVERY_SERVICES)
      server.addService(definitionOf(service), this.#handlersOf(service, local));
  }

  /** Serves one call of `incrementalService`, for a server that decides for each call who serves it. */
  serveIncremental(call: RawCall): void {
    this.#accept(call, delta, undefined, true);
  }

  /** The open streams that said who they are, in the order of their opening; for /debug/syncz. */
  streams(): readonly StreamStatus[] {
    return this.clients().map(({ status }) => status);
  }

  /** The same with all that is known of each type. */
  clients(): readonly Client[] {
    return [...this.#calls].flatMap(({ client }) => client ?? []);
  }

  /** Ends all streams with UNAVAILABLE, and each new one likewise: clients go to another server, or come back later. */
  close(reason: string): void {
    this.#closing = reason;
    for (const call of this.#calls) call.refuse('UNAVAILABLE', reason);
  }

  #handlersOf(service: DiscoveryService, local: boolean): UntypedServiceImplementation {
    return {
      [service.stream]: (call: RawCall) => this.#accept(call, sotw, service.onlyType, local),
      [service.delta]: (call: RawCall) => this.#accept(call, delta, service.onlyType, local),
      ...(service.fetch !== undefined && {
        [service.fetch]: (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) =>
          this.#fetch(call, service.onlyType, local, callback),
      }),
    };
  }

  #accept<Request extends AnyRequest>(
    raw: RawCall,
    protocol: Protocol<Request>,
    onlyType: string | undefined,
    local: boolean,
  ): void {
    const transport = new Transport(raw, this.#directWrites);
    const { connection } = transport;
    const call = new DiscoveryCall(raw, transport, protocol, onlyType, this.#context, () => {
      this.#calls.delete(call);
      const rest = (this.#perConnection.get(connection) ?? 1) - 1;
      if (rest > 0) this.#perConnection.set(connection, rest);
      else this.#perConnection.delete(connection);
    });
    this.#calls.add(call);
    const ofConnection = (this.#perConnection.get(connection) ?? 0) + 1;
    this.#perConnection.set(connection, ofConnection);
    try {
      this.#admit(ofConnection);
      const peer = this.#authenticate(callerOf(raw));
      const start = (known: Peer): void => call.start({ ...known, local });
      if (peer instanceof Promise) peer.then(start).catch((error: unknown) => call.abort(error));
      else start(peer);
    } catch (error) {
      call.abort(error);
    }
  }

  /** @throws ConnectError when there are streams enough */
  #admit(ofConnection: number): void {
    const { maxStreams, maxStreamsPerConnection } = this.#context.limits;
    if (this.#closing !== undefined) throw new ConnectError('UNAVAILABLE', this.#closing);
    if (this.#calls.size > maxStreams) {
      throw new ConnectError('RESOURCE_EXHAUSTED', `${maxStreams} streams are open, and no more are allowed`);
    }
    if (ofConnection > maxStreamsPerConnection) {
      throw new ConnectError(
        'RESOURCE_EXHAUSTED',
        `${maxStreamsPerConnection} streams are open on this connection, and no more are allowed`,
      );
    }
  }

  #fetch(
    call: ServerUnaryCall<Buffer, Buffer>,
    onlyType: string | undefined,
    local: boolean,
    callback: sendUnaryData<Buffer>,
  ): void {
    const refuse = (error: unknown): void => {
      const known = error instanceof ConnectError;
      if (!known) this.#context.events.onError?.(error, undefined);
      const code = known ? error.code : 'INTERNAL';
      const details = (known ? error.message : MISTAKE).toWellFormed();
      this.#context.events.onReject?.({ peer: call.getPeer(), proxy: undefined, code, message: details });
      callback({ code: status[code], details });
    };
    const answer = (peer: Peer): void =>
      callback(null, fetched(call.request, onlyType, { ...peer, local }, this.#context));
    try {
      if (this.#closing !== undefined) throw new ConnectError('UNAVAILABLE', this.#closing);
      const peer = this.#authenticate(callerOf(call));
      if (peer instanceof Promise) peer.then(answer).catch(refuse);
      else answer(peer);
    } catch (error) {
      refuse(error);
    }
  }
}

/** The aggregated service in its incremental variant alone. Responses are whole gRPC frames. */
export function incrementalService(): ServiceDefinition {
  const { name, delta: incremental } = AGGREGATED_SERVICE;
  return { [incremental]: bytesMethod(`/${name}/${incremental}`, true, withoutFrame) };
}

const withoutFrame = (frame: Buffer): Buffer => frame.subarray(FRAME_HEADER);

function definitionOf({ name, stream, delta: deltaMethod, fetch }: DiscoveryService): ServiceDefinition {
  return {
    [stream]: bytesMethod(`/${name}/${stream}`, true, withoutFrame),
    [deltaMethod]: bytesMethod(`/${name}/${deltaMethod}`, true, withoutFrame),
    ...(fetch !== undefined && { [fetch]: bytesMethod(`/${name}/${fetch}`, false) }),
  };
}
