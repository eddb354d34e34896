import type { Telemetry } from '#generated/config/specs.ts';
import type { Graph } from '../derive/graph.ts';
import type { MeshFacts } from '../model/analysis/facts.ts';
import type { ProviderKind } from '../model/analysis/provider-abilities.ts';
import type { Mesh } from './mesh.ts';

export type TelemetryFacts = Pick<MeshFacts, 'providerKind' | 'tracesSomewhere' | 'hasEnvoyWithoutMetrics'>;

/** What analyzers ask about providers, and about who takes part in telemetry. */
export function deriveTelemetryFacts(graph: Graph, mesh: Mesh): TelemetryFacts {
  /** Key: a name in lower case. */
  const kinds = graph.derived<string, ProviderKind | undefined>('providerKind', (name) => {
    const provider = (mesh.facet('extensionProviders') ?? []).find((one) => (one.name ?? '').toLowerCase() === name);
    return Object.keys(provider ?? {}).find((field) => field !== 'name') as ProviderKind | undefined;
  });
  const traces = graph.derived<string, boolean>('tracesSomewhere', (namespace) => {
    if ((mesh.facet('defaultProviders')?.tracing ?? []).length > 0) return true;
    return [mesh.rootNamespace(), namespace].some((from) =>
      mesh
        .ofKindIn<Telemetry>('Telemetry', from)
        .some(({ spec }) => (spec.tracing ?? []).some(({ providers = [] }) => providers.length > 0)),
    );
  });
  const withoutMetrics = mesh.proxies.index<string>('withoutMetrics', ({ capabilities, namespace }) =>
    capabilities.istioStats || capabilities.grpc ? [] : ['*', namespace],
  );
  /** Key: a namespace, or `*`. */
  const lacking = graph.derived<string, boolean>(
    'hasEnvoyWithoutMetrics',
    (namespace) => withoutMetrics.get(namespace).length > 0,
  );
  return {
    providerKind: (name) => kinds.get(name.toLowerCase()),
    tracesSomewhere: (namespace) => traces.get(namespace),
    hasEnvoyWithoutMetrics: (namespace) => lacking.get(namespace),
  };
}
