import type {
  ApplyTo,
  EnvoyConfigObjectMatch,
  EnvoyConfigObjectPatch,
  EnvoyFilterPatchOperation,
  PatchContext,
} from '#generated/config/specs.ts';
import type { JsonObject } from '../../base/json.ts';
import type { ConfigKey } from '../../config/config.ts';
import { messageDescriptor } from '../../proto/descriptors.ts';
import type { WrittenMessage } from '../../proto/written.ts';

/** A change to Envoy's objects that can be made, apart from the proxies that it is for. */
export interface Patch {
  /** The EnvoyFilter that it is of. */
  readonly source: ConfigKey;
  readonly applyTo: ApplyTo;
  readonly context: PatchContext;
  readonly match: Pick<EnvoyConfigObjectMatch, 'listener' | 'routeConfiguration' | 'cluster'>;
  readonly operation: EnvoyFilterPatchOperation;
  /** In proto JSON; empty for what is only removed. */
  readonly value: JsonObject;
  /** Full names of the messages of extensions in the value. */
  readonly packed: readonly string[];
  /** Those of them that nothing is known of, and that are not written as a TypedStruct, which is passed on as it is. */
  readonly unknown: readonly string[];
}

/** Patches in the order in which they are made. */
export interface PatchSet {
  readonly patches: readonly Patch[];
}

/** Where patches look for a place in a list that has an order. */
const ORDERED: ReadonlySet<ApplyTo> = new Set(['HTTP_FILTER', 'NETWORK_FILTER', 'HTTP_ROUTE', 'LISTENER_FILTER']);
const INSERTS: ReadonlySet<EnvoyFilterPatchOperation> = new Set(['INSERT_BEFORE', 'INSERT_AFTER', 'INSERT_FIRST']);

/**
 * Undefined for one that can do nothing.
 *
 * @param read its value; no message where it has none, or it could not be read
 * @see istio/istio pilot/pkg/model/envoyfilter.go `convertToEnvoyFilterWrapper`
 */
export function patchOf(
  { applyTo = 'INVALID', match = {}, patch }: EnvoyConfigObjectPatch,
  read: Pick<WrittenMessage, 'message' | 'packed' | 'structs'>,
  source: ConfigKey,
): Patch | undefined {
  const { operation = 'INVALID' } = patch ?? {};
  const { message: value, packed, structs } = read;
  if (applyTo === 'INVALID' || operation === 'INVALID') return undefined;
  if (value === undefined && (operation !== 'REMOVE' || patch?.value !== undefined)) return undefined;
  const { context = 'ANY', listener, routeConfiguration, cluster } = match;
  return {
    source,
    applyTo,
    context,
    match: {
      ...(listener && { listener }),
      ...(routeConfiguration && { routeConfiguration }),
      ...(cluster && { cluster }),
    },
    operation: INSERTS.has(operation) && !ORDERED.has(applyTo) ? 'ADD' : operation,
    value: value ?? {},
    packed,
    unknown: packed.filter((name) => !structs.includes(name) && messageDescriptor(name) === undefined),
  };
}
