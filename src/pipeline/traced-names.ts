import { deepEqual } from '../base/equal.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { type AskedNames, askedNames } from '../model/traced-name.ts';
import type { Configuration } from './configuration.ts';

/** What the tracers of mesh.yaml want to know of every proxy. */
export function deriveTracedNames(graph: Graph, { facet }: Pick<Configuration, 'facet'>): Derived<'', AskedNames> {
  return graph.derived('askedNames', () => askedNames(facet('extensionProviders') ?? []), { equals: deepEqual });
}
