/**
 * Host names as Istio matches them: exact, or a leading wildcard (`*`, `*.example.com`).
 * @see istio/istio pkg/config/host/name.go
 */
export type Hostname = string;

export function isWildcardHost(host: Hostname): boolean {
  return host.startsWith('*');
}

/** Whether two names, either of which may be a wildcard, can denote a common host. */
export function hostsOverlap(a: Hostname, b: Hostname): boolean {
  const wildA = isWildcardHost(a);
  const wildB = isWildcardHost(b);
  if (wildA && wildB) {
    const [short, long] = a.length < b.length ? [a, b] : [b, a];
    return long.endsWith(short.slice(1));
  }
  if (wildA) return b.endsWith(a.slice(1)) && b.length >= a.length - 1;
  if (wildB) return a.endsWith(b.slice(1)) && a.length >= b.length - 1;
  return a === b;
}

/** Whether every host that `inner` denotes is also denoted by `outer`. */
export function isSubsetOfHost(inner: Hostname, outer: Hostname): boolean {
  if (!isWildcardHost(outer)) return inner === outer;
  const suffix = outer.slice(1);
  if (!isWildcardHost(inner)) return inner.endsWith(suffix);
  return inner.length >= outer.length && inner.slice(1).endsWith(suffix);
}

/** Hosts that both lists denote: of two that overlap the narrower one, each once, in order of `a`. */
export function commonHosts(a: readonly Hostname[], b: readonly Hostname[]): readonly Hostname[] {
  const common = a.flatMap((host) =>
    b.flatMap((other) => {
      if (isSubsetOfHost(host, other)) return [host];
      return isSubsetOfHost(other, host) ? [other] : [];
    }),
  );
  return [...new Set(common)];
}

/** Orders names from the most to the least specific: exact before wildcard, longer before shorter, then by letters. */
export function compareHosts(a: Hostname, b: Hostname): number {
  const wildA = isWildcardHost(a);
  const wildB = isWildcardHost(b);
  if (wildA !== wildB) return wildA ? 1 : -1;
  if (a.length !== b.length) return b.length - a.length;
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * The value of the most specific pattern that covers `host`: the exact one, else the longest wildcard.
 * A wildcard `host` is covered only by a wildcard that is at least as wide.
 * @see istio/istio pilot/pkg/model/context.go `MostSpecificHostMatch`
 */
export function mostSpecificMatch<V>(
  host: Hostname,
  exact: ReadonlyMap<Hostname, V>,
  wildcards: ReadonlyMap<Hostname, V>,
): V | undefined {
  if (!isWildcardHost(host)) {
    const value = exact.get(host);
    if (value !== undefined) return value;
  }
  let best: Hostname | undefined;
  for (const pattern of wildcards.keys()) {
    if (isSubsetOfHost(host, pattern) && (best === undefined || compareHosts(pattern, best) < 0)) best = pattern;
  }
  return best === undefined ? undefined : wildcards.get(best);
}
