/** Three rows of a table of distances, to be used again. */
type Rows = readonly [number[], number[], number[]];

/**
 * Edits (a letter added, lost, replaced, or two neighbours swapped) that turn `a` into `b`; above `most` any number above it,
 * for what needs more is not looked at: most names are far from each other, and many end alike.
 */
function editDistance(a: string, b: string, most: number, rows: Rows): number {
  let [m, n] = [a.length, b.length];
  while (m > 0 && n > 0 && a.charCodeAt(m - 1) === b.charCodeAt(n - 1)) {
    m--;
    n--;
  }
  const far = most + 1;
  let [beforeLast, last, row] = rows;
  let leastBefore = 0;
  for (let j = 0; j <= n; j++) last[j] = j;
  for (let i = 1; i <= m; i++) {
    const start = Math.max(1, i - most);
    const end = Math.min(n, i + most);
    row[start - 1] = start > 1 ? far : i;
    let least = i;
    for (let j = start; j <= end; j++) {
      const isSame = a.charCodeAt(i - 1) === b.charCodeAt(j - 1);
      const replaced = (last[j - 1] as number) + (isSame ? 0 : 1);
      let best = Math.min(replaced, (last[j] as number) + 1, (row[j - 1] as number) + 1);
      if (i > 1 && j > 1 && a.charCodeAt(i - 1) === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === b.charCodeAt(j - 1))
        best = Math.min(best, (beforeLast[j - 2] as number) + 1);
      row[j] = best;
      if (best < least) least = best;
    }
    if (end < n) row[end + 1] = far;
    if (least > most && leastBefore > most) return far;
    leastBefore = least;
    [beforeLast, last, row] = [last, row, beforeLast];
  }
  return last[n] as number;
}

/**
 * The one of `names` that was likely meant by `name`. Undefined when none is near.
 *
 * @param most letters that may differ; by default a third of them
 */
export function nearestName(
  name: string,
  names: Iterable<string>,
  most: number = Math.max(1, Math.floor(name.length / 3)),
): string | undefined {
  if (name.length > 64) return undefined;
  const wanted = name.toLowerCase();
  let nearest: string | undefined;
  let fewest = most + 1;
  const rows: Rows = [[], [], []];
  for (const candidate of names) {
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const distance = editDistance(wanted, candidate.toLowerCase(), fewest - 1, rows);
    if (distance < fewest) {
      fewest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}
