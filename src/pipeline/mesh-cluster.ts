import { clusterName } from '../envoy/names.ts';
import type { Mesh } from './mesh.ts';

/** A service that proxies call for themselves, and the cluster by which they do. */
export interface MeshCluster {
  readonly hostname: string;
  readonly cluster: string;
}

/**
 * The cluster of a service that is named in mesh.yaml: `host`, or `namespace/host` where several namespaces have one.
 *
 * @returns or why there is none
 * @see istio/istio pilot/pkg/model/telemetry_logging.go `LookupCluster`
 */
export function meshCluster(
  { servicesOfHost }: Pick<Mesh, 'servicesOfHost'>,
  service: string,
  port: number,
): MeshCluster | { readonly problem: string } {
  const slash = service.indexOf('/');
  const [namespace, hostname] = slash < 0 ? [undefined, service] : [service.slice(0, slash), service.slice(slash + 1)];
  const found = servicesOfHost
    .get(hostname)
    .filter((known) => namespace === undefined || known.namespace === namespace);
  const namespaces = [...new Set(found.map((known) => known.namespace))].sort();
  if (namespaces.length === 0) return { problem: `no service of the mesh is called "${service}"` };
  if (namespaces.length > 1) {
    return { problem: `"${service}" is a service of ${namespaces.join(' and ')}: write namespace/host` };
  }
  return { hostname, cluster: clusterName('outbound', port, '', hostname) };
}
