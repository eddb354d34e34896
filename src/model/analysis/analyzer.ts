import type { Config } from '../../config/config.ts';
import type { Finding } from '../../config/finding.ts';
import type { MeshFacts } from './facts.ts';

/**
 * Says what is wrong with an object in view of others. It speaks of its own object alone: where two are at odds, each is told
 * of the other when its turn comes. All that it knows of others it asks of `facts`, so that it is asked again when, and only
 * when, one of these answers changes.
 */
export interface Analyzer<Spec = unknown> {
  readonly kinds: readonly string[];
  findings(config: Config<Spec>, facts: MeshFacts): Iterable<Finding>;
}
