import type { ConfigSink } from '../config/sink.ts';
import type { DiscoveryEvents, StreamInfo } from '../xds/events.ts';

export interface ConvergenceOptions {
  /** Counts changes of what is in force. */
  readonly revision: () => number;
  /** A proxy has acknowledged all that a change brought it; the time since the change was read. */
  readonly converged: (seconds: number) => void;
  /** A change concerned none of so many open streams. */
  readonly unaffected: (streams: number) => void;
  /** Milliseconds that never go back. */
  readonly now?: () => number;
}

/** What is known of one stream. */
interface Followed {
  /** When the change that is under way was read. */
  since: number | undefined;
  /** Types of which an answer is awaited. */
  readonly awaited: Set<string>;
}

/** Follows each change of the configuration from the file to the proxies that it concerns. */
export class Convergence {
  readonly events: DiscoveryEvents;
  readonly #options: Required<ConvergenceOptions>;
  readonly #streams = new Map<StreamInfo, Followed>();
  #change: { readonly at: number; affected: number } | undefined;

  constructor(options: ConvergenceOptions) {
    this.#options = { now: () => performance.now(), ...options };
    this.events = {
      onStreamOpen: (stream) => void this.#streams.set(stream, { since: undefined, awaited: new Set() }),
      onStreamClose: (stream) => void this.#streams.delete(stream),
      onChange: (stream) => this.#changed(stream),
      onPush: (stream, { typeUrl }) => void this.#streams.get(stream)?.awaited.add(typeUrl),
      onAck: (stream, typeUrl) => this.#answered(stream, typeUrl),
      onNack: (stream, typeUrl) => {
        const followed = this.#streams.get(stream);
        // What it refused never arrives.
        if (followed !== undefined) followed.since = undefined;
        this.#answered(stream, typeUrl);
      },
    };
  }

  /** The same sink, watched. */
  sink(sink: ConfigSink): ConfigSink {
    return {
      get rootNamespace() {
        return sink.rootNamespace;
      },
      replace: (files) => this.#during(() => sink.replace(files)),
      apply: (file, parsed) => this.#during(() => sink.apply(file, parsed)),
      batch: (change) => this.#during(() => sink.batch(change)),
    };
  }

  #changed(stream: StreamInfo): void {
    const followed = this.#streams.get(stream);
    if (followed === undefined) return;
    if (this.#change !== undefined) this.#change.affected++;
    followed.since ??= this.#change?.at ?? this.#options.now();
    this.#settle(followed, () => undefined);
  }

  #during(change: () => void): void {
    if (this.#change !== undefined) {
      change();
      return;
    }
    const { now, revision, unaffected } = this.#options;
    const current = { at: now(), affected: 0 };
    const before = revision();
    this.#change = current;
    try {
      change();
    } finally {
      // Sessions are told in a microtask that the change has queued.
      queueMicrotask(() => {
        this.#change = undefined;
        if (revision() !== before) unaffected(Math.max(0, this.#streams.size - current.affected));
      });
    }
  }

  #answered(stream: StreamInfo, typeUrl: string): void {
    const followed = this.#streams.get(stream);
    if (followed === undefined) return;
    followed.awaited.delete(typeUrl);
    this.#settle(followed, (since) => this.#options.converged((this.#options.now() - since) / 1000));
  }

  /** Ends a change when nothing is awaited. What is owed now is sent before the microtask. */
  #settle(followed: Followed, settled: (since: number) => void): void {
    queueMicrotask(() => {
      const { since, awaited } = followed;
      if (since === undefined || awaited.size > 0) return;
      settled(since);
      followed.since = undefined;
    });
  }
}
