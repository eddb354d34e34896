import type { ProxyConfig } from '#generated/config/specs.ts';
import { isJsonObject } from '../base/json.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Mesh } from './mesh.ts';

/**
 * What the node says that it was started with, else the mesh's `defaultConfig`; the two are not mixed.
 * @see istio/istio pkg/model/proxy.go `ProxyConfigOrDefault`
 */
export function proxyConfigOf({ metadata }: Pick<ProxyScope, 'metadata'>, mesh: Pick<Mesh, 'facet'>): ProxyConfig {
  const said = metadata['PROXY_CONFIG'];
  return isJsonObject(said) ? (said as ProxyConfig) : (mesh.facet('defaultConfig') ?? {});
}
