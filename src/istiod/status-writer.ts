import type { JsonObject } from '../base/json.ts';
import type { ConfigKey } from '../config/config.ts';
import type { CollectionView, Graph } from '../derive/graph.ts';
import { STATUS_KINDS, type Statuses } from '../pipeline/conversions/status.ts';
import type { StatusFiles } from '../sources/status-files.ts';

/** `Kind/namespace/name.json`; without the namespace for kinds that have none. */
function pathOf(key: ConfigKey): string {
  const [, ...rest] = key.split('/');
  return `${rest.filter((part) => part !== '').join('/')}.json`;
}

function textOf(status: JsonObject): string {
  return `${JSON.stringify(status, null, 2)}\n`;
}

/**
 * Keeps the files in step with the statuses, each on its own.
 *
 * @returns ends it
 */
export function writeStatuses(graph: Graph, statuses: Statuses, files: StatusFiles): () => void {
  const written = new Set<string>();
  const watches = STATUS_KINDS.map((kind) => {
    let told = 0;
    const tell = (view: CollectionView<ConfigKey, JsonObject>): void => {
      const changes = view.changesSince(told);
      const changed = changes?.changed ?? view.entries();
      told = view.revision;
      for (const [key, status] of changed) files.put(pathOf(key), textOf(status));
      for (const key of changes?.removed ?? []) files.put(pathOf(key), undefined);
    };
    const watch = graph.watch(statuses, kind, tell);
    for (const [key] of watch.value.entries()) written.add(pathOf(key));
    tell(watch.value);
    return watch;
  });
  files.keepOnly(written);
  return () => {
    for (const watch of watches) watch.stop();
  };
}
