import type { Graph } from '../derive/graph.ts';
import { type Mesh, ONE } from '../pipeline/mesh.ts';
import type { Clock } from '../xds/limits.ts';

const HOUR = 3_600_000;

function hour(date: number): number {
  return Math.floor(date / HOUR) * HOUR;
}

/** Tells the mesh what time it is, to the hour. */
export function tellTime(graph: Graph, mesh: Mesh, date: number): void {
  graph.batch(() => mesh.time.set(ONE, hour(date)));
}

/** Tells it the time now and every hour. @returns ends it */
export function tellHours(graph: Graph, mesh: Mesh, clock: Clock): () => void {
  tellTime(graph, mesh, clock.date());
  let cancel = (): void => {};
  const wait = (): void => {
    cancel = clock.after(hour(clock.date()) + HOUR - clock.date(), () => {
      tellTime(graph, mesh, clock.date());
      wait();
    });
  };
  wait();
  return () => cancel();
}
