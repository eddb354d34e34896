/** Edits (a letter added, lost, replaced, or two neighbours swapped) that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (last[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let best = Math.min(replaced, (last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (beforeLast[j - 2] ?? 0) + 1);
      row.push(best);
    }
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 0;
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
  for (const candidate of names) {
    if (Math.abs(candidate.length - name.length) >= fewest) continue;
    const distance = editDistance(wanted, candidate.toLowerCase());
    if (distance < fewest) {
      fewest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}
