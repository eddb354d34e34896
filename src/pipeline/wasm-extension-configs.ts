import type { TrafficExtension, WasmPlugin } from '#generated/config/specs.ts';
import { Interner } from '../base/intern.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Graph } from '../derive/graph.ts';
import { type ModuleFetch, wasmExtensionConfig } from '../envoy/filters/wasm.ts';
import type { ProxyScope } from '../model/scope.ts';
import { wasmOf } from '../model/traffic-extension.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import type { Mesh } from './mesh.ts';
import { envoyFetch } from './module-fetch.ts';
import type { ScopedResources } from './resource-types.ts';

/** One module as proxies of a kind have it. Interned. */
interface ModulePart {
  readonly key: ConfigKey;
  /** Istio's agent fetches modules; else Envoy does. */
  readonly hasAgent: boolean;
}

const TYPED_EXTENSION_CONFIG = 'envoy.config.core.v3.TypedExtensionConfig';

/** What filters that run modules are configured with. */
export function deriveWasmExtensionConfigs(graph: Graph, mesh: Mesh): ScopedResources {
  const parts = new Interner<ModulePart>();
  const configs = graph.derived<ModulePart, EncodedResource | undefined>(
    'wasmExtensionConfig',
    ({ key, hasAgent }) => {
      const config = mesh.config(key) as Config<WasmPlugin> | Config<TrafficExtension> | undefined;
      const head = mesh.trafficExtensions.head.get(key);
      const wasm = config && wasmOf(config);
      if (config === undefined || head === undefined || wasm === undefined) return undefined;
      const fetch: ModuleFetch = hasAgent ? 'agent' : envoyFetch(wasm, mesh);
      const { resourceName, id } = head;
      const input = { resourceName, id, wasm, version: config.hash, fetch };
      return encodedResource(TYPED_EXTENSION_CONFIG, resourceName, wasmExtensionConfig(input));
    },
    { equals: (a, b) => a === b || (a !== undefined && b !== undefined && sameVersion(a, b)) },
  );
  return graph.collectionOfParts<ProxyScope, string, ModulePart, EncodedResource>('wasmExtensionConfigs', {
    parts: (scope) =>
      new Map(
        (mesh.trafficExtensions.of(scope) ?? []).flatMap((key) => {
          const head = mesh.trafficExtensions.head.get(key);
          if (head === undefined || head.script !== undefined) return [];
          const part = parts.intern({ key, hasAgent: scope.capabilities.istioExtensions });
          return [[head.resourceName, part] as const];
        }),
      ),
    value: (_name, part) => configs.get(part),
    equals: sameVersion,
  });
}
