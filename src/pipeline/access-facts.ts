import type { AuthorizationPolicy } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import type { Config } from '../config/config.ts';
import type { Graph } from '../derive/graph.ts';
import type { CustomPolicy, MeshFacts } from '../model/analysis/facts.ts';
import { objectName } from '../model/analysis/names.ts';
import { externalAuthorizer } from './authorizers.ts';
import { type Mesh, ONE } from './mesh.ts';
import { envoyFetch } from './module-fetch.ts';

export type AccessFacts = Pick<
  MeshFacts,
  'keySet' | 'authorizerProblem' | 'customPolicies' | 'severalAuthorizers' | 'unfetchedModule'
>;

/** What analyzers ask about keys, authorizers and modules. */
export function deriveAccessFacts(graph: Graph, mesh: Mesh): AccessFacts {
  const problems = graph.derived<string, string | undefined>('authorizerProblem', (name) => {
    const found = externalAuthorizer(name, mesh);
    return 'problem' in found ? found.problem : undefined;
  });
  const custom = graph.derived<string, readonly CustomPolicy[]>(
    'customPolicies',
    (namespace) =>
      mesh
        .ofKindIn<AuthorizationPolicy>('AuthorizationPolicy', namespace)
        .filter(({ spec }) => spec.action === 'CUSTOM')
        .map((config: Config<AuthorizationPolicy>) => ({
          name: objectName(config),
          provider: config.spec.provider?.name ?? '',
          labels: config.spec.selector?.matchLabels ?? {},
        })),
    { equals: deepEqual },
  );
  const fetching = mesh.proxies.index<''>('fetchesModules', ({ capabilities }) =>
    capabilities.istioExtensions || capabilities.grpc ? [] : [ONE],
  );
  /** Some proxy has nobody who fetches modules for it. */
  const someFetch = graph.derived<'', boolean>('anyFetchesModules', () => fetching.get(ONE).length > 0);
  return {
    keySet: (rule) => mesh.keySets.problemOf(rule),
    authorizerProblem: (name) => problems.get(name),
    customPolicies: (namespace) => custom.get(namespace),
    unfetchedModule: (wasm) => {
      const found = envoyFetch(wasm, mesh);
      return 'problem' in found && (found.isImage || someFetch.get(ONE)) ? found : undefined;
    },
    severalAuthorizers: () => mesh.options.listeners.severalAuthorizers,
  };
}
