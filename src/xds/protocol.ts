import type { Buffer } from 'node:buffer';
import type { Node, Status } from '../proto/discovery.ts';
import type { EncodedResource, ResourceDelta } from '../proto/resource-set.ts';
import type { Variant } from './events.ts';
import { Exchange } from './exchange.ts';
import { Holdings } from './holdings.ts';
import type { NameSets } from './name-sets.ts';
import { ruleOf, type TypeRule } from './push-order.ts';
import type { Snapshot, Snapshots } from './snapshot.ts';
import { Subscription } from './subscription.ts';

/** All that a stream knows of one type. */
export class TypeState {
  readonly typeUrl: string;
  readonly rule: TypeRule;
  readonly subscription: Subscription;
  readonly holdings: Holdings = new Holdings();
  readonly exchange: Exchange = new Exchange();
  /** Whether the client came with what it had from an earlier stream. */
  reconnected = false;
  /** State of the world: the version of all that the client says it has. */
  claimedVersion = '';
  /** Since when something of this type waits for another type; monotonic milliseconds. */
  heldSince: number | undefined;
  removalsHeldSince: number | undefined;

  /** @param sets the names that streams of the same server ask for; default: shared with nobody */
  constructor(typeUrl: string, sets?: NameSets) {
    this.subscription = new Subscription(sets);
    this.typeUrl = typeUrl;
    this.rule = ruleOf(typeUrl);
  }
}

/** What is to be sent of one type. */
export interface Plan {
  /**
   * Resources (`changed`) and removed names of the response; undefined when there is nothing to say. Equal content is one
   * object where that comes cheap.
   */
  readonly content: ResourceDelta | undefined;
  /** Those of the resources that the client does not have in this version. */
  readonly fresh: readonly EncodedResource[];
  /** Names whose removal is not told yet. */
  readonly untold: readonly string[] | undefined;
}

export interface ResponseContent {
  readonly typeUrl: string;
  readonly version: string;
  readonly nonce: string;
  readonly content: ResourceDelta;
  readonly controlPlane: string;
  readonly allocate?: (size: number) => Buffer;
}

/** What both kinds of request have. */
export interface AnyRequest {
  readonly node: Node | undefined;
  readonly typeUrl: string;
  readonly responseNonce: string;
  readonly errorDetail: Status | undefined;
}

/** How the two variants of the protocol differ. */
export interface Protocol<Request extends AnyRequest = AnyRequest> {
  readonly variant: Variant;
  /** @throws DecodeError */
  decode(bytes: Uint8Array): Request;
  /** The names that a request adds or lists. */
  namesOf(request: Request): readonly string[];
  /** Names that the subscription would hold after the request, at most. */
  sizeAfter(request: Request, state: TypeState): number;
  /**
   * Takes the request's names into the state.
   * @param first whether it is the first request for the type on the stream
   * @param canonical the one string object for a name, so that a thousand streams do not hold a thousand copies
   */
  subscribe(state: TypeState, request: Request, first: boolean, canonical: (name: string) => string): void;
  /** Whether removals of the type are told to clients. */
  tellsRemovals(rule: TypeRule): boolean;
  /** What to send so that the client has `to`. Changes nothing. */
  plan(state: TypeState, to: Snapshot, snapshots: Snapshots, holdRemovals: boolean): Plan;
  /** What a refused response leaves in doubt. */
  suspects(state: TypeState, content: ResourceDelta): readonly EncodedResource[];
  /** The message, behind `FRAME_HEADER` free bytes. */
  encode(response: ResponseContent): Buffer;
}

/** Bytes before a message on a gRPC stream: a flag and the length. */
export const FRAME_HEADER = 5;

/** A response as it goes over the wire: the gRPC header, then the message. */
export function framed(protocol: Pick<Protocol, 'encode'>, response: ResponseContent): Buffer {
  return withHeader(protocol.encode(response));
}

/** Writes the gRPC header into the free bytes before a message. */
export function withHeader(bytes: Buffer): Buffer {
  bytes.writeUInt8(0, 0);
  bytes.writeUInt32BE(bytes.length - FRAME_HEADER, 1);
  return bytes;
}

/** The items that pass, and the very list when all do: shared lists stay shared. */
export function kept<T>(list: readonly T[], test: (item: T) => boolean): readonly T[] {
  return list.every(test) ? list : list.filter(test);
}
