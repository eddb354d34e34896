import { ALL_LISTENERS, isRequested, requestedListeners } from '../../envoy/grpc/listener-names.ts';
import type { ProxyScope } from '../../model/scope.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../proto/type-urls.ts';

/** What a client's request comes to. */
export interface Asked {
  readonly names: ReadonlySet<string>;
  /** Which resources besides the named ones belong to the answer; undefined: none. */
  readonly implies: ((name: string) => boolean) | undefined;
}

const BY_NAME: ReadonlySet<string> = new Set([CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE]);

/**
 * Names for which resources are to be made. gRPC without a proxy reads a few of a mesh's resources, so that they are made for
 * those who ask for them alone.
 *
 * @returns undefined where all resources of the type are there whoever asks
 */
export function askedOf(
  scope: ProxyScope,
  typeUrl: string,
  names: ReadonlySet<string>,
  wildcard: boolean,
): Asked | undefined {
  if (!scope.capabilities.grpc || !BY_NAME.has(typeUrl)) return undefined;
  if (typeUrl !== LISTENER_TYPE) return { names, implies: undefined };
  const requested = requestedListeners(wildcard ? [...names, ALL_LISTENERS] : names, scope);
  return { names: requested, implies: (name) => isRequested(requested, name) };
}
