import type { MeshFile } from '#generated/config/specs.ts';
import type { Config } from './config.ts';

export interface WatchedNamespaces {
  /** Whether objects of this namespace count; always true for cluster-scoped ones (empty) and the root namespace. */
  has(namespace: string): boolean;
  /** Equal for equal sets. */
  readonly key: string;
}

/**
 * The namespaces that are served: those of `namespaces` in mesh.yaml, or else those of the server's own options; none means
 * all. The root namespace is always served: its policies protect the whole mesh.
 */
export function watchedNamespaces(
  mesh: Config<MeshFile> | undefined,
  options: { readonly rootNamespace: string; readonly watchNamespaces: readonly string[] },
): WatchedNamespaces {
  const chosen = mesh?.spec.namespaces ?? options.watchNamespaces;
  if (chosen.length === 0) return { has: () => true, key: '' };
  const names = new Set(['', rootNamespaceOf(mesh, options.rootNamespace), ...chosen]);
  return { has: (namespace) => names.has(namespace), key: [...names].sort().join() };
}

export function rootNamespaceOf(mesh: Config<MeshFile> | undefined, byDefault: string): string {
  return mesh?.spec.rootNamespace || byDefault;
}
