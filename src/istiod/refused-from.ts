import { formatLocation } from '../base/diagnostic.ts';
import type { ConfigStore } from '../config/store.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { likeliestSources, type RefusedResources } from '../pipeline/resource-sources.ts';
import type { ProxySessions } from '../pipeline/session.ts';

/** Objects that are named for one refusal. */
const MOST = 3;

/** Where refused resources come from: `file:line:column` of the objects that they are made of, the likeliest first. */
export type SourcesOf = (proxy: string, refused: RefusedResources) => readonly string[];

export function refusedFrom(pipeline: Pipeline, sessions: ProxySessions, store: ConfigStore): SourcesOf {
  return (proxy, refused) => {
    const session = sessions.named(proxy);
    if (session === undefined) return [];
    return likeliestSources(pipeline, session.scope, refused, (key) => store.changedAt(key))
      .slice(0, MOST)
      .map((config) => formatLocation((store.get(config.key) ?? config).location));
  };
}
