import type { envoy } from '#generated/proto/types.ts';
import type { PatchSet } from './patch.ts';

type TypedExtensionConfig = envoy.config.core.v3.TypedExtensionConfig;

/**
 * Configs of extensions by name; of two of a name the last one.
 *
 * @see istio/istio pilot/pkg/networking/core/envoyfilter/extension_configuration_patch.go
 */
export function addedExtensionConfigs({ patches }: PatchSet): ReadonlyMap<string, TypedExtensionConfig> {
  const configs = patches
    .filter(({ applyTo, operation }) => applyTo === 'EXTENSION_CONFIG' && operation === 'ADD')
    .map(({ value }) => value as TypedExtensionConfig);
  return new Map(configs.flatMap((config) => (config.name === undefined ? [] : [[config.name, config]])));
}
