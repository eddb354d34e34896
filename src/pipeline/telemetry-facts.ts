import type { Telemetry } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import type { Graph } from '../derive/graph.ts';
import type { MeshFacts, NeededTracer } from '../model/analysis/facts.ts';
import type { ProviderKind } from '../model/analysis/provider-abilities.ts';
import { type Mesh, ONE } from './mesh.ts';

export type TelemetryFacts = Pick<
  MeshFacts,
  'providerKind' | 'tracesSomewhere' | 'neededTracers' | 'hasEnvoyWithoutMetrics'
>;

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
  /** Names of tracers that Telemetries use, in lower case. */
  const named = graph.derived<'', readonly string[]>(
    'namedTracers',
    () => {
      const traces = mesh.ofKind<Telemetry>('Telemetry').flatMap(({ spec }) => spec.tracing ?? []);
      const names = traces.flatMap(({ providers = [] }) => providers.slice(0, 1).map(({ name }) => name));
      return [...new Set(names.map((name) => name.toLowerCase()))].sort();
    },
    { equals: deepEqual },
  );
  const needed = graph.derived<'', readonly NeededTracer[]>(
    'neededTracers',
    () => {
      const [byDefault = ''] = mesh.facet('defaultProviders')?.tracing ?? [];
      const used = new Set([...named.get(ONE), byDefault.toLowerCase()]);
      return (mesh.facet('extensionProviders') ?? []).flatMap(({ name = '', zipkin, datadog }) => {
        const { service = '' } = zipkin ?? datadog ?? {};
        if (service === '' || !used.has(name.toLowerCase())) return [];
        const at = service.indexOf('/');
        const host = service.slice(at + 1);
        const owners = [...new Set(mesh.servicesOfHost.get(host).map(({ namespace }) => namespace))];
        const namespace = at < 0 ? owners[0] : owners.find((owner) => owner === service.slice(0, at));
        return namespace === undefined ? [] : [{ provider: name, namespace, host }];
      });
    },
    { equals: deepEqual },
  );
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
    neededTracers: () => needed.get(ONE),
    hasEnvoyWithoutMetrics: (namespace) => lacking.get(namespace),
  };
}
