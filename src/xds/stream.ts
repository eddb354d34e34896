import type { Status } from '../proto/discovery.ts';
import type { EncodedResource, ResourceDelta } from '../proto/resource-set.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE } from '../proto/type-urls.ts';
import type { DiscoveryEvents, StreamInfo, StreamStatus, TypeStatus } from './events.ts';
import type { Frames } from './frames.ts';
import type { Clock, Limits } from './limits.ts';
import { refusalOf } from './nack.ts';
import type { NameSets } from './name-sets.ts';
import { type AnyRequest, type Protocol, TypeState } from './protocol.ts';
import type { Session } from './provider.ts';
import { rankOf } from './push-order.ts';
import type { SendWindow } from './send-window.ts';
import type { Snapshot, Snapshots } from './snapshot.ts';
import type { Transport } from './transport.ts';
import type { Turns } from './turns.ts';

/** What all streams of a server share. */
export interface StreamContext {
  readonly events: DiscoveryEvents;
  readonly limits: Limits;
  readonly clock: Clock;
  readonly snapshots: Snapshots;
  readonly frames: Frames;
  readonly window: SendWindow;
  readonly nameSets: NameSets;
  readonly turns: Turns;
}

/**
 * The conversation with one client that said who it is. It remembers per type what the client wants, what it has, and the
 * one response that is under way: no second response of a type is sent before the first is answered, so what changes
 * meanwhile is merged into the next, however slow the client is.
 */
export class DiscoveryStream<Request extends AnyRequest> {
  readonly info: StreamInfo;
  readonly #protocol: Protocol<Request>;
  readonly #context: StreamContext;
  readonly #transport: Transport;
  readonly #session: Session;
  /** In push order. */
  readonly #states: TypeState[] = [];
  #flushing = false;
  #closed = false;
  #wakeAt = Number.POSITIVE_INFINITY;
  #timerAt = Number.POSITIVE_INFINITY;
  #cancelTimer: () => void = () => {};

  /** @param onError ends the stream: the provider threw */
  constructor(
    info: StreamInfo,
    protocol: Protocol<Request>,
    context: StreamContext,
    transport: Transport,
    session: Session,
    onError: (error: unknown) => void,
  ) {
    this.info = info;
    this.#protocol = protocol;
    this.#context = context;
    this.#transport = transport;
    this.#session = session;
    const flush = (): void => {
      try {
        this.#flush();
      } catch (error) {
        onError(error);
      }
    };
    this.#flushSoon = flush;
    this.#flushLater = (ms) =>
      context.clock.after(ms, () => {
        this.#timerAt = Number.POSITIVE_INFINITY;
        flush();
      });
    transport.onDrain(() => context.turns.run(flush));
    session.onChange(() => {
      context.events.onChange?.(info);
      flush();
    });
  }

  readonly #flushSoon: () => void;
  readonly #flushLater: (ms: number) => () => void;

  /** The type's state on this stream, if the client has asked for it. */
  state(typeUrl: string): TypeState | undefined {
    return this.#states.find((state) => state.typeUrl === typeUrl);
  }

  /** All of them, in push order. */
  get states(): readonly TypeState[] {
    return this.#states;
  }

  get types(): number {
    return this.#states.length;
  }

  /** Answers a request: its acknowledgement or refusal, its names, and what is owed then. */
  receive(request: Request, typeUrl: string): void {
    if (this.#closed) return;
    const known = this.state(typeUrl);
    const state = known ?? this.#open(typeUrl);
    if (known !== undefined && request.responseNonce !== '' && request.responseNonce === state.exchange.nonce) {
      if (request.errorDetail === undefined) this.#acked(state);
      else this.#refused(state, request.errorDetail);
    }
    const set = this.#session.resources(typeUrl);
    const canonical = (name: string): string => set?.get(name)?.name ?? name;
    this.#protocol.subscribe(state, request, known === undefined, canonical);
    this.#ask(state);
    this.#flush();
  }

  /** What comes with the names that are asked for now is owed, when it did not before. */
  #ask({ typeUrl, subscription }: TypeState): void {
    const implies = this.#session.ask?.(typeUrl, subscription.names, subscription.wildcard);
    if (implies !== undefined) {
      for (const { name } of this.#snapshot(typeUrl).whole.changed) {
        if (implies(name) && !subscription.covers(name)) subscription.owe(name);
      }
    }
    subscription.imply(implies);
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelTimer();
    this.#context.window.forget(this.#flushSoon);
    this.#session.close();
  }

  status(): StreamStatus {
    return { ...this.info, types: this.#states.map(typeStatus) };
  }

  #open(typeUrl: string): TypeState {
    const state = new TypeState(typeUrl, this.#context.nameSets);
    const at = this.#states.findIndex((other) => rankOf(other.typeUrl) > rankOf(typeUrl));
    this.#states.splice(at === -1 ? this.#states.length : at, 0, state);
    if (this.#session.resources(typeUrl) === undefined) this.#context.events.onUnservedType?.(this.info, typeUrl);
    return state;
  }

  #acked(state: TypeState): void {
    const { clock, events } = this.#context;
    const { content } = state.exchange;
    const latency = state.exchange.ack(clock.date(), clock.now());
    const { acked } = state.exchange;
    if (latency === undefined || acked === undefined) return;
    if (state.rule.whole && this.#protocol.variant === 'sotw') state.holdings.accept(content.changed);
    const ack = { nonce: acked.nonce, version: acked.version };
    this.#session.onAck?.(state.typeUrl, ack);
    events.onAck?.(this.info, state.typeUrl, ack, latency);
  }

  #refused(state: TypeState, error: Status): void {
    const nack = refusalOf(this.#protocol, state, error);
    state.exchange.refuse(nack, this.#context.clock.date());
    this.#session.onNack?.(state.typeUrl, nack);
    this.#context.events.onNack?.(this.info, state.typeUrl, nack);
  }

  /** Sends all that is owed and may be sent now, in push order. */
  #flush(): void {
    if (this.#flushing || this.#closed) return;
    this.#flushing = true;
    this.#wakeAt = Number.POSITIVE_INFINITY;
    try {
      for (const state of this.#states) {
        if (this.#transport.congested) break;
        this.#push(state);
      }
    } finally {
      this.#flushing = false;
    }
    this.#arm();
  }

  #push(state: TypeState): void {
    const to = this.#snapshot(state.typeUrl);
    if (state.holdings.settledAt(to) && !state.subscription.owes) return;
    if (this.#awaitsAnswer(state)) {
      this.#wake(state.exchange.awaitedSince);
      return;
    }
    this.#release(state, to);
    const holdRemovals = this.#holdsRemovals(state, to);
    const plan = this.#protocol.plan(state, to, this.#context.snapshots, holdRemovals);
    if (plan.content !== undefined) {
      if (this.#waits(state) || !this.#hasRoom(state, plan.content)) return;
      this.#send(state, plan.content, plan.fresh);
    }
    state.heldSince = undefined;
    state.holdings.moveTo(to, plan.untold);
    state.subscription.settle();
  }

  /** Whether a response may be made now; if not, it will be when others have left. */
  #hasRoom({ typeUrl, exchange }: TypeState, content: ResourceDelta): boolean {
    const { frames, window } = this.#context;
    if (frames.hasRoom(this.#protocol.variant, typeUrl, content, exchange.nonce)) return true;
    window.wait(this.#flushSoon);
    return false;
  }

  #send(state: TypeState, content: ResourceDelta, fresh: readonly EncodedResource[]): void {
    const { clock, events, frames } = this.#context;
    const frame = frames.frame(this.#protocol, state.typeUrl, content, state.exchange.nonce);
    const { nonce, version, bytes, shared } = frame;
    state.exchange.send({ nonce, version, at: clock.date() }, content, clock.now());
    this.#transport.send(bytes, frame.release);
    events.onPush?.(this.info, {
      typeUrl: state.typeUrl,
      nonce,
      version,
      resources: content.changed.length,
      removed: content.removed.length,
      bytes: bytes.length,
      shared,
      fallback: !this.#transport.direct,
    });
    if (state.typeUrl === CLUSTER_TYPE && state.claimedVersion !== version) this.#oweEndpoints(fresh);
    state.claimedVersion = '';
  }

  /**
   * A cluster that changes waits in Envoy until its endpoints are sent again, though they are the same, and Envoy does not
   * always ask (envoyproxy/envoy#13009, #33607; envoyproxy/go-control-plane#245).
   */
  #oweEndpoints(clusters: readonly EncodedResource[]): void {
    const endpoints = this.state(ENDPOINT_TYPE);
    if (endpoints === undefined) return;
    const { subscription } = endpoints;
    const set = subscription.wildcard ? this.#session.resources(ENDPOINT_TYPE) : undefined;
    for (const { name } of clusters) {
      if (subscription.has(name) || set?.get(name) !== undefined) subscription.owe(name);
    }
  }

  /** Ends refusals that a change has overtaken: what was withheld is owed again. */
  #release(state: TypeState, to: Snapshot): void {
    const { holdings, subscription, rule } = state;
    const names = holdings.release(to);
    if (names.length > 0 && rule.whole && this.#protocol.variant === 'sotw') subscription.oweAnswer();
    else for (const name of names) if (subscription.covers(name)) subscription.owe(name);
  }

  #awaitsAnswer({ exchange }: TypeState): boolean {
    return exchange.awaitedSince !== undefined && !this.#overdue(exchange.awaitedSince);
  }

  /** Whether the state has to wait for the answer to a type that comes before it. */
  #waits(state: TypeState): boolean {
    const waits = state.rule.waitsFor.some((typeUrl) => {
      const other = this.state(typeUrl);
      return other !== undefined && this.#awaitsAnswer(other);
    });
    if (!waits) return false;
    state.heldSince ??= this.#context.clock.now();
    if (this.#overdue(state.heldSince)) return false;
    this.#wake(state.heldSince);
    return true;
  }

  #holdsRemovals(state: TypeState, to: Snapshot): boolean {
    const { holdings, rule } = state;
    const removes =
      rule.removalsWaitFor.length > 0 &&
      this.#protocol.tellsRemovals(rule) &&
      (holdings.lingering.size > 0 || holdings.difference(to, this.#context.snapshots).removed.length > 0);
    if (!removes || !rule.removalsWaitFor.some((typeUrl) => this.#unsettled(typeUrl, state))) {
      state.removalsHeldSince = undefined;
      return false;
    }
    state.removalsHeldSince ??= this.#context.clock.now();
    if (this.#overdue(state.removalsHeldSince)) return false;
    this.#wake(state.removalsHeldSince);
    return true;
  }

  /** Whether a type has something to send or an answer to come; one that a reconnecting client will yet ask for has, too. */
  #unsettled(typeUrl: string, by: TypeState): boolean {
    const state = this.state(typeUrl);
    if (state === undefined) return by.reconnected && this.info.onlyType === undefined;
    if (this.#awaitsAnswer(state)) return true;
    return this.#protocol.plan(state, this.#snapshot(typeUrl), this.#context.snapshots, false).content !== undefined;
  }

  #snapshot(typeUrl: string): Snapshot {
    return this.#context.snapshots.of(this.#session.resources(typeUrl));
  }

  #overdue(since: number): boolean {
    return this.#context.clock.now() - since >= this.#context.limits.ackPatienceMs;
  }

  #wake(since: number | undefined): void {
    if (since !== undefined) this.#wakeAt = Math.min(this.#wakeAt, since + this.#context.limits.ackPatienceMs);
  }

  /** One timer a stream, and only while something waits. */
  #arm(): void {
    if (this.#wakeAt === this.#timerAt) return;
    this.#cancelTimer();
    this.#timerAt = this.#wakeAt;
    if (this.#wakeAt === Number.POSITIVE_INFINITY) {
      this.#cancelTimer = () => {};
      return;
    }
    this.#cancelTimer = this.#flushLater(Math.max(0, this.#wakeAt - this.#context.clock.now()));
  }
}

function typeStatus({ typeUrl, exchange, subscription, holdings, reconnected }: TypeState): TypeStatus {
  return {
    typeUrl,
    // A client that came back with all that there is was sent nothing, and lacks nothing.
    state: exchange.state === 'unsent' && reconnected && !subscription.owes ? 'synced' : exchange.state,
    wildcard: subscription.wildcard,
    subscribed: subscription.size,
    sent: exchange.sent,
    acked: exchange.acked,
    nack: exchange.nack,
    withheld: holdings.refusals.size,
  };
}
