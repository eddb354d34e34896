import { sameItems } from '../base/equal.ts';
import type { Hostname } from '../base/host.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { clusterName } from '../envoy/names.ts';
import type { Services } from './services.ts';

/** A service that proxies call for themselves, and the cluster by which they do. */
export interface MeshCluster {
  readonly hostname: Hostname;
  readonly cluster: string;
}

/**
 * Finds the cluster of a service that mesh.yaml or a URL names: `host`, or `namespace/host` where several namespaces have one.
 *
 * @returns or why there is none
 */
export type FindCluster = (service: string, port: number) => MeshCluster | { readonly problem: string };

/** @see istio/istio pilot/pkg/model/telemetry_logging.go `LookupCluster` */
export function deriveFindCluster(graph: Graph, { servicesOfHost }: Pick<Services, 'servicesOfHost'>): FindCluster {
  /** Namespaces that have the host, sorted. */
  const owners: Derived<Hostname, readonly string[]> = graph.derived(
    'hostOwners',
    (host) => [...new Set(servicesOfHost.get(host).map(({ namespace }) => namespace))].sort(),
    { equals: sameItems },
  );
  return (service, port) => {
    const slash = service.indexOf('/');
    const hostname = service.slice(slash + 1);
    const known = owners.get(hostname);
    const namespaces = slash < 0 ? known : known.filter((namespace) => namespace === service.slice(0, slash));
    if (namespaces.length === 0) return { problem: `no service of the mesh is called "${service}"` };
    if (namespaces.length > 1) {
      return { problem: `"${service}" is a service of ${namespaces.join(' and ')}: write namespace/host` };
    }
    return { hostname, cluster: clusterName('outbound', port, '', hostname) };
  };
}
