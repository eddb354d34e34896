import type { WasmConfig } from '#generated/config/specs.ts';
import { moduleFile, moduleUrl } from '../envoy/filters/wasm.ts';
import type { Mesh } from './mesh.ts';

/**
 * The cluster over which Envoy itself fetches a module: it does over http and https, of services that it knows, what has a hash.
 * A file is there already.
 *
 * @returns or why it can not have it
 */
export function envoyFetch(
  { url, sha256 = '' }: Pick<WasmConfig, 'url' | 'sha256'>,
  mesh: Pick<Mesh, 'findCluster'>,
): { readonly cluster?: string } | { readonly problem: string; readonly isImage: boolean } {
  if (moduleFile(url) !== undefined) return {};
  const parsed = URL.parse(moduleUrl(url));
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    const problem = 'images (oci://) are fetched by nobody yet: write file://, or http:// or https:// with sha256';
    return { problem, isImage: true };
  }
  const withoutAgent = (problem: string) => ({ problem, isImage: false });
  if (sha256 === '') return withoutAgent('Envoy fetches a module only when it knows its hash: add sha256');
  const found = mesh.findCluster(parsed.hostname, Number(parsed.port) || (parsed.protocol === 'https:' ? 443 : 80));
  if ('problem' in found) {
    return withoutAgent(`Envoy fetches modules from services alone, and ${found.problem}: add a ServiceEntry`);
  }
  return { cluster: found.cluster };
}
