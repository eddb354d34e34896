import type { Node } from '../proto/discovery.ts';
import type { ResourceSet } from '../proto/resource-set.ts';

/** Who is at the other end of a stream, as far as the transport and its credentials prove it. */
export interface Peer {
  /** `ip:port`, or the path of a socket. */
  readonly address: string;
  readonly encrypted: boolean;
  /** Over a socket of this machine, which its mode lets only some users reach. */
  readonly local?: boolean;
  /** Proven identities, SPIFFE URIs as a rule; empty when nothing is proven. */
  readonly identities: readonly string[];
  /** A proxy passes on what somebody else says, whose address this is not. Default: false. */
  readonly forwarded?: boolean;
}

/** gRPC status codes that a provider or an authenticator answers a stream with. */
export type RefusalCode =
  | 'INVALID_ARGUMENT'
  | 'PERMISSION_DENIED'
  | 'UNAUTHENTICATED'
  | 'RESOURCE_EXHAUSTED'
  | 'FAILED_PRECONDITION'
  | 'UNAVAILABLE';

/** A stream is refused: the client gets `code` and `message`, no other stream is touched. */
export class ConnectError extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConnectError';
    this.code = code;
  }
}

export interface ResourceVersion {
  readonly name: string;
  readonly version: string;
}

/** A response that a client took over. */
export interface Ack {
  readonly nonce: string;
  readonly version: string;
}

/** A response that a client refused. */
export interface Nack {
  readonly nonce: string;
  /** `google.rpc.Code`. */
  readonly code: number;
  /** The client's words, cut to 4,096 characters. */
  readonly message: string;
  /**
   * What is withheld from now on until its version changes. When the client's words name resources of the response these
   * alone (`named`), else all that was new in the response.
   */
  readonly resources: readonly ResourceVersion[];
  readonly named: boolean;
}

/** Serves nodes with sets of resources. */
export interface ResourceProvider {
  /**
   * Called once per stream, with its first request. A synchronous call that must not be slow.
   * @throws ConnectError when the node is refused; anything else ends the stream with INTERNAL
   */
  connect(node: Node, peer: Peer): Session;
}

/** What one stream is served from. */
export interface Session {
  /** The proxy's name in logs and in /debug. */
  readonly id: string;
  /**
   * The set of a type as it is now, undefined for a type that is not served: the client is told once that nothing exists.
   * The call makes the type live for this session. Names and versions identify content: two resources of equal name and
   * version have equal bytes.
   */
  resources(typeUrl: string): ResourceSet | undefined;
  /**
   * Told after each request what the stream wants of a type now, before `resources` is read for the answer: what is made for
   * those who ask for it alone is in the set from then on.
   *
   * @param names live: a copy is what may be kept
   * @returns which resources besides the named ones belong to the answer; undefined: none
   */
  ask?(typeUrl: string, names: ReadonlySet<string>, wildcard: boolean): ((name: string) => boolean) | undefined;
  /**
   * Registers the one listener: called after each batch that changed a live set of this session or put another set in its
   * place, never from within `resources`. The listener reads the sets at once and does not throw.
   */
  onChange(listener: () => void): void;
  onAck?(typeUrl: string, ack: Ack): void;
  onNack?(typeUrl: string, nack: Nack): void;
  /** The stream has ended. */
  close(): void;
}
