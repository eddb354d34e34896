import type { Hostname } from '../base/host.ts';
import { append } from '../base/multimap.ts';
import { compareStrings } from '../base/order.ts';
import type { Service } from './service.ts';

export interface NamespacedHostname {
  readonly hostname: Hostname;
  readonly namespace: string;
}

/**
 * For each host that ExternalName services stand for, their hosts; chains are followed to their end, loops belong to nobody.
 * @see istio/istio pilot/pkg/model/push_context.go `resolveServiceAliases`
 */
export function aliasesByHost(externalNames: readonly Service[]): ReadonlyMap<Hostname, readonly NamespacedHostname[]> {
  const next = new Map(externalNames.map((s) => [s.hostname, s.externalName ?? '']));
  const out = new Map<Hostname, NamespacedHostname[]>();
  for (const { hostname, namespace } of externalNames) {
    const target = endOfChain(hostname, next);
    if (target === undefined) continue;
    append(out, target, { hostname, namespace });
  }
  for (const list of out.values()) {
    list.sort((a, b) => compareStrings(a.namespace, b.namespace) || compareStrings(a.hostname, b.hostname));
  }
  return out;
}

function endOfChain(start: Hostname, next: ReadonlyMap<Hostname, Hostname>): Hostname | undefined {
  const seen = new Set([start]);
  let at = next.get(start);
  while (at !== undefined) {
    if (seen.has(at)) return undefined;
    seen.add(at);
    const following = next.get(at);
    if (following === undefined) return at;
    at = following;
  }
  return undefined;
}
