import type { envoy } from '#generated/proto/types.ts';
import type { ExtensionHead, ExtensionPhase } from '../../model/traffic-extension.ts';
import { packed } from '../../proto/message.ts';

type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
type NetworkFilter = envoy.config.listener.v3.Filter;
type ExtensionConfigSource = envoy.config.core.v3.ExtensionConfigSource;

/**
 * The configuration is asked for over the stream that the listener came by, and waited for: a filter may be what keeps somebody
 * out. Where a module can not be had, rules that let all or none through take its place.
 */
function discovered(kind: 'http' | 'network'): ExtensionConfigSource {
  const types = [`envoy.extensions.filters.${kind}.wasm.v3.Wasm`, `envoy.extensions.filters.${kind}.rbac.v3.RBAC`];
  return {
    configSource: { ads: {}, initialFetchTimeout: '0s', resourceApiVersion: 'V3' },
    typeUrls: types.map((type) => `type.googleapis.com/${type}`),
  };
}

function httpExtension({ resourceName, script }: ExtensionHead): HttpFilter {
  if (script === undefined) return { name: resourceName, configDiscovery: discovered('http') };
  return {
    name: resourceName,
    typedConfig: packed('envoy.extensions.filters.http.lua.v3.Lua', { defaultSourceCode: { inlineString: script } }),
  };
}

/** The filters of a phase, in order. @see istio/istio pilot/pkg/networking/core/extension/extensionfilter.go */
export function httpExtensions(extensions: readonly ExtensionHead[], phase: ExtensionPhase): readonly HttpFilter[] {
  return extensions.filter((extension) => extension.phase === phase).map(httpExtension);
}

/** The same for connections. Scripts know of requests alone. */
export function networkExtensions(
  extensions: readonly ExtensionHead[],
  phase: ExtensionPhase,
): readonly NetworkFilter[] {
  return extensions
    .filter((extension) => extension.phase === phase)
    .map(({ resourceName }) => ({ name: resourceName, configDiscovery: discovered('network') }));
}
