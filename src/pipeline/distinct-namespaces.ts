import type { Hostname } from '../base/host.ts';
import type { VirtualServiceHead } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import { MESH_GATEWAY } from '../model/virtual-service.ts';

/** Namespaces that do not see exactly what a namespace without anything of its own sees. */
export interface DistinctNamespaces {
  /** Some rule speaks of namespaces in a way that may concern any. */
  readonly all: boolean;
  readonly names: ReadonlyMap<string, true>;
  /** Some host is in several namespaces, and routers see them in another order than sidecars. */
  readonly sharedHosts: boolean;
}

export function isDistinct({ all, names }: DistinctNamespaces, namespace: string): boolean {
  return all || names.has(namespace);
}

/**
 * Distinct are namespaces that something is exported to, that keep something for themselves, or that have a host which another
 * namespace has, too, since their own then wins; and those with routes of the Gateway API for clients, which come first for
 * clients of their own. A VirtualService that looks at the caller's namespace makes all distinct.
 */
export function distinctNamespaces(
  services: ReadonlyMap<string, readonly Service[]>,
  virtualServices: ReadonlyMap<string, readonly VirtualServiceHead[]>,
): DistinctNamespaces {
  const names = new Map<string, true>();
  const owner = new Map<Hostname, string>();
  let sharedHosts = false;
  for (const [target, exported] of services) {
    if (target !== '*') names.set(target, true);
    for (const { namespace, hostname } of exported) {
      if (target !== '*') names.set(namespace, true);
      const first = owner.get(hostname);
      if (first === undefined) owner.set(hostname, namespace);
      else if (first !== namespace) {
        sharedHosts = true;
        names.set(first, true).set(namespace, true);
      }
    }
  }
  let all = false;
  for (const [id, heads] of virtualServices) {
    const [target = '', gateway] = id.split('|');
    for (const { namespace, hasSourceNamespace, gatewaySemantics } of heads) {
      all ||= hasSourceNamespace;
      if (gatewaySemantics && gateway === MESH_GATEWAY) names.set(namespace, true);
      if (target !== '*') names.set(target, true).set(namespace, true);
    }
  }
  return { all, names: new Map([...names].sort()), sharedHosts };
}
