import { deepEqual } from '../../base/equal.ts';
import type { GatewayInstances } from '../../convert/gateway-api/status.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import { type Mesh, namespacedHost } from '../mesh.ts';

/** Services of a Gateway and its ports. */
export interface InstancesKey {
  readonly namespace: string;
  readonly services: readonly string[];
  readonly ports: readonly number[];
}

interface HostInstances {
  readonly isKnown: boolean;
  readonly address: string;
  readonly external: readonly string[];
  /** Ports that have workloads. */
  readonly served: readonly number[];
  readonly ports: readonly number[];
}

const NOBODY: HostInstances = { isKnown: false, address: '', external: [], served: [], ports: [] };

/**
 * Who serves a Gateway: by the services that it is for, not by who is connected.
 * @see istio/istio pilot/pkg/config/kube/gatewaycommon/context.go `ResolveGatewayInstances`
 */
export function deriveGatewayInstances(graph: Graph, mesh: Mesh): (key: InstancesKey) => GatewayInstances {
  /** Key `namespace/hostname`. A workload that comes beside another says nothing new. */
  const hosts: Derived<string, HostInstances> = graph.derived(
    'gatewayHostInstances',
    (id) => {
      const service = mesh.service.get(id);
      if (service === undefined) return NOBODY;
      const names = new Set(mesh.endpoints.get(id).map(({ servicePortName }) => servicePortName));
      const { address, externalAddresses = [], ports } = service;
      return {
        isKnown: true,
        address,
        external: externalAddresses,
        served: ports.filter(({ name }) => names.has(name)).map(({ port }) => port),
        ports: ports.map(({ port }) => port),
      };
    },
    { equals: deepEqual },
  );
  return ({ namespace, services, ports }) => {
    const internal: string[] = [];
    const external: string[] = [];
    const warnings: string[] = [];
    const known: string[] = [];
    let allUsable = true;
    for (const host of services) {
      const found = hosts.get(namespacedHost(namespace, host));
      const missing = ports.filter((port) => !found.served.includes(port));
      if (!found.isKnown) warnings.push(`there is no service "${host}" in namespace ${namespace}`);
      else if (found.served.length === 0) warnings.push(`service "${host}" has no workloads`);
      else warnings.push(...missing.map((port) => `service "${host}" has no port ${port} with workloads`));
      allUsable &&= found.isKnown && missing.every((port) => found.ports.includes(port));
      const served = ports.filter((port) => found.served.includes(port));
      internal.push(...served.map((port) => `${host}:${port}`));
      if (served.length === 0) continue;
      known.push(host);
      external.push(...found.external);
    }
    return { internal, external, hosts: known, warnings: warnings.sort(), allUsable };
  };
}
