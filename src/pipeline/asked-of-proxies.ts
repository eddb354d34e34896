import { deepEqual } from '../base/equal.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { type AskedByTracers, askedByTracers } from '../model/traced-as.ts';
import type { Configuration } from './configuration.ts';

/** What the tracers of mesh.yaml want to know of every proxy. */
export function deriveAskedByTracers(
  graph: Graph,
  { facet }: Pick<Configuration, 'facet'>,
): Derived<'', AskedByTracers> {
  return graph.derived('askedByTracers', () => askedByTracers(facet('extensionProviders') ?? []), {
    equals: deepEqual,
  });
}
