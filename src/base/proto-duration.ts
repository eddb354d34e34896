import { formatDuration, parseDuration } from './duration.ts';

/** A duration of Istio's configuration (Go's notation) in proto JSON; text that is none counts as nothing, `0s`. */
export function protoDuration(text: string): string {
  return formatDuration(parseDuration(text) ?? 0);
}
