export type Labels = Readonly<Record<string, string>>;

/** Whether `labels` has every pair of `selector`; an empty selector selects all. */
export function selects(selector: Labels | undefined, labels: Labels | undefined): boolean {
  for (const key in selector) if (labels?.[key] !== selector[key]) return false;
  return true;
}
