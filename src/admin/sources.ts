import type { ConfigStore } from '../config/store.ts';
import type { Source } from '../sources/source.ts';
import { json, type Route } from './http.ts';

/** Where configuration comes from, in order of precedence, and whether what may go away is there. */
export function sourcesRoute(sources: readonly Source[], store: ConfigStore): Route {
  return {
    path: '/debug/sourcesz',
    doc: 'sources of configuration, in order of precedence',
    answer: () => {
      const counts = new Map<string, number>();
      for (const key of store.keys()) {
        const source = store.status(key)?.source ?? '';
        counts.set(source, (counts.get(source) ?? 0) + 1);
      }
      return json(
        sources.map(({ name, state }) => ({
          source: name,
          state: state?.() ?? 'connected',
          objects: counts.get(name) ?? 0,
        })),
      );
    },
  };
}
