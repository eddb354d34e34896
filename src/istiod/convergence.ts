import type { ConfigSink } from '../config/sink.ts';
import type { Node } from '../proto/discovery.ts';
import type { DiscoveryEvents } from '../xds/events.ts';
import type { Session } from '../xds/provider.ts';

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
  /** By the node object that a stream began with. */
  readonly #streams = new Map<Node, Followed>();
  #change: { readonly at: number; affected: number } | undefined;

  constructor(options: ConvergenceOptions) {
    this.#options = { now: () => performance.now(), ...options };
    this.events = {
      onPush: ({ node }, { typeUrl }) => void this.#streams.get(node)?.awaited.add(typeUrl),
      onAck: ({ node }, typeUrl) => this.#answered(node, typeUrl),
      onNack: ({ node }, typeUrl) => {
        const stream = this.#streams.get(node);
        // What it refused never arrives.
        if (stream !== undefined) stream.since = undefined;
        this.#answered(node, typeUrl);
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

  /** The same session, watched. */
  session(node: Node, session: Session): Session {
    const stream: Followed = { since: undefined, awaited: new Set() };
    this.#streams.set(node, stream);
    return {
      id: session.id,
      resources: (typeUrl) => session.resources(typeUrl),
      onChange: (listener) =>
        session.onChange(() => {
          if (this.#change !== undefined) this.#change.affected++;
          stream.since ??= this.#change?.at ?? this.#options.now();
          listener();
          if (stream.awaited.size === 0) stream.since = undefined;
        }),
      close: () => {
        this.#streams.delete(node);
        session.close();
      },
    };
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

  #answered(node: Node, typeUrl: string): void {
    const stream = this.#streams.get(node);
    if (stream === undefined) return;
    stream.awaited.delete(typeUrl);
    // What waited for this answer is sent before the microtask.
    queueMicrotask(() => {
      if (stream.since === undefined || stream.awaited.size > 0) return;
      this.#options.converged((this.#options.now() - stream.since) / 1000);
      stream.since = undefined;
    });
  }
}
