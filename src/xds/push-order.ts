import {
  CLUSTER_TYPE,
  ENDPOINT_TYPE,
  EXTENSION_CONFIG_TYPE,
  LISTENER_TYPE,
  ROUTE_TYPE,
  SECRET_TYPE,
  VIRTUAL_HOST_TYPE,
} from '../proto/type-urls.ts';

/** How the resources of a type are asked for, grouped and ordered. */
export interface TypeRule {
  /**
   * Whether an empty first request subscribes to everything. It does not for types that other resources refer to by name:
   * Envoy sends such a request when it has nothing to ask for (xDS protocol, "How the client specifies what resources to
   * return"; istio/istio pkg/xds/server.go `IsWildcardTypeURL`).
   */
  readonly wildcardByDefault: boolean;
  /** Whether a state-of-the-world response holds all resources, so that an absent one is a removed one. */
  readonly whole: boolean;
  /** Whether a client that has a resource is told of its removal. */
  readonly removes: boolean;
  /** Nothing of this type is sent while a response of those types is not answered. */
  readonly waitsFor: readonly string[];
  /** Nothing of this type is removed while those types have something to send, or a response that is not answered. */
  readonly removalsWaitFor: readonly string[];
}

const NAMED: TypeRule = {
  wildcardByDefault: false,
  whole: false,
  removes: true,
  waitsFor: [],
  removalsWaitFor: [],
};

const LISTED: TypeRule = { ...NAMED, wildcardByDefault: true, whole: true };

/**
 * Make before break (xDS protocol, "Eventual consistency considerations"). Within one change the types go out in the order
 * of this list, and
 *
 * - listeners and routes wait until clusters are acknowledged: Envoy holds back that answer while a cluster is warming, for
 *   this very use (envoy source/common/upstream/cluster_manager_impl.cc `updateClusterCounts`), so that no request is
 *   routed to a cluster that is not ready;
 * - clusters are removed only when the listeners and routes that stopped naming them are acknowledged, and endpoints when
 *   their clusters are gone;
 * - endpoints never wait: a warming cluster needs them before its acknowledgement comes.
 *
 * Each wait is bounded by `ackPatienceMs`.
 *
 * Extension configs are never removed from a client that has them: Envoy would take the filter out of a listener that still
 * names it (envoyproxy/envoy#32823).
 */
const PUSH_ORDER: readonly (readonly [typeUrl: string, rule: TypeRule])[] = [
  [SECRET_TYPE, NAMED],
  [CLUSTER_TYPE, { ...LISTED, removalsWaitFor: [LISTENER_TYPE, ROUTE_TYPE] }],
  [ENDPOINT_TYPE, { ...NAMED, removalsWaitFor: [CLUSTER_TYPE] }],
  [EXTENSION_CONFIG_TYPE, { ...NAMED, removes: false }],
  [LISTENER_TYPE, { ...LISTED, waitsFor: [CLUSTER_TYPE] }],
  [ROUTE_TYPE, { ...NAMED, waitsFor: [CLUSTER_TYPE] }],
  [VIRTUAL_HOST_TYPE, { ...NAMED, waitsFor: [CLUSTER_TYPE] }],
];

const RULES: ReadonlyMap<string, TypeRule> = new Map(PUSH_ORDER);
const RANKS: ReadonlyMap<string, number> = new Map(PUSH_ORDER.map(([typeUrl], rank) => [typeUrl, rank]));

/** The rule of a type. Types that are not in the order (Istio's own) are lists that depend on nothing. */
export function ruleOf(typeUrl: string): TypeRule {
  return RULES.get(typeUrl) ?? LISTED;
}

/** The place of a type in the order; types that are not in it come last. */
export function rankOf(typeUrl: string): number {
  return RANKS.get(typeUrl) ?? PUSH_ORDER.length;
}
