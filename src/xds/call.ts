import type { Buffer } from 'node:buffer';
import type { Node } from '../proto/discovery.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { HEALTH_TYPE } from '../proto/type-urls.ts';
import type { Client } from './client-status.ts';
import type { StreamInfo } from './events.ts';
import { TokenBucket } from './limits.ts';
import { type AnyRequest, type Protocol, TypeState } from './protocol.ts';
import { ConnectError, type Peer, type ResourceProvider } from './provider.ts';
import { answerFrame, type Questions } from './questions.ts';
import { checkNames, decoded, nodeOf, typeOf } from './request-checks.ts';
import { DiscoveryStream, type StreamContext } from './stream.ts';
import type { RawCall, StatusName, Transport } from './transport.ts';

/** What a client reads when the fault is ours. */
export const MISTAKE = 'the control plane made a mistake; its log says more';

/** What a server gives to its calls. */
export interface CallContext extends StreamContext {
  readonly provider: ResourceProvider;
  readonly questions: Questions | undefined;
  readonly controlPlane: string;
  nextId(): number;
}

/**
 * One streaming call: reads its requests no faster than allowed, refuses those that are no requests, and hands the others to
 * the stream that the first one opens. Whatever a client sends, at worst its own call ends.
 */
export class DiscoveryCall<Request extends AnyRequest> {
  readonly #call: RawCall;
  readonly #transport: Transport;
  readonly #protocol: Protocol<Request>;
  readonly #onlyType: string | undefined;
  readonly #context: CallContext;
  readonly #onEnd: () => void;
  readonly #bucket: TokenBucket;
  #stream: DiscoveryStream<Request> | undefined;
  /** Who asked, where there is no stream. */
  #asker: Node | undefined;
  #asked = 0;
  #cancelThrottle: () => void = () => {};
  readonly #cancelDeadline: () => void;
  #ended = false;

  constructor(
    call: RawCall,
    transport: Transport,
    protocol: Protocol<Request>,
    onlyType: string | undefined,
    context: CallContext,
    onEnd: () => void,
  ) {
    const { clock, limits } = context;
    this.#call = call;
    this.#transport = transport;
    this.#protocol = protocol;
    this.#onlyType = onlyType;
    this.#context = context;
    this.#onEnd = onEnd;
    this.#bucket = new TokenBucket(limits.requestsPerSecond, limits.requestBurst, clock.now());
    this.#cancelDeadline = clock.after(limits.firstRequestMs, () =>
      this.refuse('DEADLINE_EXCEEDED', `no request came within ${limits.firstRequestMs} ms`),
    );
    call.on('cancelled', () => this.#end('the client went away'));
    call.on('error', () => this.#end('the call failed'));
    call.on('end', () => {
      this.#end('the client ended the stream');
      transport.end();
    });
  }

  /** The client's state, once it said who it is. */
  get client(): Client | undefined {
    return this.#stream && { status: this.#stream.status(), types: this.#stream.states };
  }

  /** Begins to read. */
  start(peer: Peer): void {
    this.#call.on('data', (bytes: Buffer) => {
      this.#guarded(() => this.#receive(bytes, peer));
    });
  }

  /** Whatever goes wrong ends this call alone. */
  #guarded(work: () => void): void {
    if (this.#ended) return;
    try {
      work();
    } catch (error) {
      this.abort(error);
    }
  }

  /** Ends the call because of an error: what a ConnectError says, or INTERNAL for any other. */
  abort(error: unknown): void {
    if (error instanceof ConnectError) this.refuse(error.code, error.message);
    else {
      this.#context.events.onError?.(error, this.#stream?.info);
      this.refuse('INTERNAL', MISTAKE);
    }
  }

  refuse(code: StatusName, message: string): void {
    if (this.#ended) return;
    const { proxy } = this.#stream?.info ?? {};
    this.#context.events.onReject?.({ peer: this.#transport.address, proxy, code, message });
    this.#end(`${code}: ${message}`);
    this.#transport.fail(code, message);
  }

  #receive(bytes: Buffer, peer: Peer): void {
    const request = decoded(bytes, this.#protocol.decode, this.#context.limits);
    // An agent tells of its workload: an answer would be passed on to its Envoy, which knows no such type.
    if (request.typeUrl === HEALTH_TYPE) {
      this.#throttle();
      return;
    }
    // It came, however long it waits for its turn.
    this.#cancelDeadline();
    if (this.#asksForMore(request)) {
      this.#call.pause();
      this.#context.turns.run(() =>
        this.#guarded(() => {
          this.#call.resume();
          this.#take(request, peer);
        }),
      );
    } else this.#take(request, peer);
  }

  /** Whether an answer may take long: it is no mere acknowledgement. */
  #asksForMore(request: Request): boolean {
    const state = this.#stream?.state(request.typeUrl);
    return state === undefined || this.#protocol.sizeAfter(request, state) !== state.subscription.size;
  }

  #take(request: Request, peer: Peer): void {
    this.#answerOrServe(request, peer);
    this.#throttle();
  }

  #answerOrServe(request: Request, peer: Peer): void {
    const { limits, questions } = this.#context;
    if (this.#onlyType === undefined && questions?.has(request.typeUrl)) {
      this.#answer(request, peer, questions);
      return;
    }
    const stream = this.#stream ?? this.#open(request, peer);
    const typeUrl = typeOf(request, this.#onlyType, limits);
    const state = stream.state(typeUrl);
    if (state === undefined && stream.types >= limits.maxTypes) {
      throw new ConnectError('RESOURCE_EXHAUSTED', `a stream has at most ${limits.maxTypes} types`);
    }
    const sizeAfter = this.#protocol.sizeAfter(request, state ?? new TypeState(typeUrl));
    checkNames(this.#protocol.namesOf(request), sizeAfter, limits);
    stream.receive(request, typeUrl);
  }

  #nodeOf(request: Request): Node {
    return request.node === undefined && this.#asker !== undefined
      ? this.#asker
      : nodeOf(request, this.#context.limits);
  }

  /** What the client says of an answer counts for nothing: there is no better one. */
  #answer(request: Request, peer: Peer, questions: Questions): void {
    if (request.responseNonce !== '') return;
    const { limits, controlPlane } = this.#context;
    const node = this.#stream?.info.node ?? this.#nodeOf(request);
    const names = this.#protocol.namesOf(request);
    checkNames(names, names.length, limits);
    if (this.#transport.congested) {
      throw new ConnectError('RESOURCE_EXHAUSTED', 'the answers to earlier questions are not read yet');
    }
    this.#asker = node;
    const { typeUrl } = request;
    const send = (resources: readonly EncodedResource[]): void => {
      if (this.#ended) return;
      const about = { count: ++this.#asked, controlPlane };
      this.#transport.send(answerFrame(this.#protocol, typeUrl, resources, about));
    };
    const answer = questions.answer({ typeUrl, names, node, peer });
    if (answer instanceof Promise) answer.then(send).catch((error: unknown) => this.abort(error));
    else send(answer);
  }

  #open(request: Request, peer: Peer): DiscoveryStream<Request> {
    const { limits, provider, clock, events } = this.#context;
    const node = this.#nodeOf(request);
    typeOf(request, this.#onlyType, limits);
    const session = provider.connect(node, peer);
    const info: StreamInfo = {
      id: this.#context.nextId(),
      proxy: session.id,
      node,
      peer,
      variant: this.#protocol.variant,
      onlyType: this.#onlyType,
      since: clock.date(),
    };
    const abort = (error: unknown): void => this.abort(error);
    this.#stream = new DiscoveryStream(info, this.#protocol, this.#context, this.#transport, session, abort);
    events.onStreamOpen?.(info);
    return this.#stream;
  }

  #throttle(): void {
    const { clock, events } = this.#context;
    const delay = this.#bucket.take(clock.now());
    if (delay === 0 || this.#ended) return;
    this.#call.pause();
    if (this.#stream !== undefined) events.onThrottle?.(this.#stream.info, delay);
    this.#cancelThrottle = clock.after(delay, () => this.#call.resume());
  }

  #end(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelThrottle();
    this.#cancelDeadline();
    const stream = this.#stream;
    stream?.close();
    this.#onEnd();
    if (stream !== undefined) this.#context.events.onStreamClose?.(stream.info, reason);
  }
}
