import type { google } from '#generated/proto/types.ts';
import type { JsonObject } from '../../base/json.ts';
import { merged, mergedAny } from '../../proto/merge.ts';
import type { Patch } from './patch.ts';

export function isMerge({ operation }: Patch): boolean {
  return operation === 'MERGE' || operation === 'MERGE_AND_REPLACE_LIST';
}

/** The patch's value merged into an object as a whole. */
export function mergedWhole<T extends object>(fullName: string, target: T, { operation, value }: Patch): T {
  const lists = operation === 'MERGE_AND_REPLACE_LIST' ? 'replace' : 'append';
  return merged(fullName, target as JsonObject, value, lists) as T;
}

interface Configured {
  readonly name?: string | undefined;
  readonly typedConfig?: google.protobuf.Any | undefined;
}

/**
 * A filter with the configuration of a patch merged into its own. The patch may give it another name. Undefined where it has
 * no configuration to merge into, as it comes by discovery.
 */
export function mergedFilter<T extends Configured>(filter: T, { value }: Patch): T | undefined {
  if (filter.typedConfig === undefined) return undefined;
  const { name = '', typedConfig } = value as Configured;
  return {
    ...filter,
    ...(name === '' ? {} : { name }),
    ...(typedConfig && { typedConfig: mergedConfig(filter.typedConfig, typedConfig) }),
  };
}

export function mergedConfig(target: google.protobuf.Any, source: google.protobuf.Any): google.protobuf.Any {
  return mergedAny(target as JsonObject, source as JsonObject) as google.protobuf.Any;
}
