import { deepEqual } from '../../base/equal.ts';
import { compareStrings } from '../../base/order.ts';
import { type FileSecret, fileSecretsIn, fileSecretsOfServer } from '../../config/file-secrets.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import type { ProxyScope } from '../../model/scope.ts';
import type { Mesh, ONE } from '../mesh.ts';

/** Files with certificates that configuration names. */
export interface FileSecrets {
  /** All of them, sorted by name: those that are read and watched. */
  readonly named: Derived<typeof ONE, readonly FileSecret[]>;
  /**
   * Those that a proxy may have: of a router what its Gateways name, and what DestinationRules of its own and of the root
   * namespace name; roots, which are public, of all. None for a proxy with an agent, which reads its own machine's files.
   */
  readonly of: Derived<ProxyScope, readonly FileSecret[]>;
}

export function deriveFileSecrets(
  graph: Graph,
  mesh: Pick<Mesh, 'configs' | 'config' | 'rootNamespace' | 'mergedGateway'>,
): FileSecrets {
  /** Objects that name files, by kind. */
  const naming = mesh.configs.index<string>('namesFiles', (config) =>
    fileSecretsIn(config).length > 0 ? [config.kind] : [],
  );
  const ofKind = (kind: string) => naming.get(kind).flatMap((key) => mesh.config(key) ?? []);
  const ofGateways = (scope: ProxyScope): readonly FileSecret[] =>
    naming.get('Gateway').length === 0
      ? []
      : (mesh.mergedGateway.get(scope)?.ports ?? []).flatMap(({ servers }) =>
          servers.flatMap(({ tls }) => fileSecretsOfServer(tls)),
        );
  const ofRules = ({ namespace }: ProxyScope): readonly FileSecret[] =>
    ofKind('DestinationRule').flatMap((config) => {
      const isOwn = config.namespace === namespace || config.namespace === mesh.rootNamespace();
      return fileSecretsIn(config).filter((secret) => isOwn || 'roots' in secret);
    });
  return {
    named: graph.derived(
      'namedFiles',
      () => distinct(['Gateway', 'DestinationRule'].flatMap((kind) => ofKind(kind).flatMap(fileSecretsIn))),
      { equals: deepEqual },
    ),
    of: graph.derived(
      'filesOfProxy',
      (scope) => (scope.capabilities.sds ? [] : distinct([...ofGateways(scope), ...ofRules(scope)])),
      { equals: deepEqual },
    ),
  };
}

function distinct(secrets: readonly FileSecret[]): readonly FileSecret[] {
  const byName = new Map(secrets.map((secret) => [secret.name, secret]));
  return [...byName.values()].sort((a, b) => compareStrings(a.name, b.name));
}
