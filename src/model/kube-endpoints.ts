import type { EndpointSlice, Endpoints } from '#generated/config/specs.ts';
import type { Config } from '../config/config.ts';

/**
 * The slices that Kubernetes would mirror an Endpoints object into: one per subset, since the ports belong to it.
 * @see kubernetes pkg/controller/endpointslicemirroring
 */
export function slicesOfEndpoints(config: Config<Endpoints>): readonly Config<EndpointSlice>[] {
  return (config.spec.subsets ?? []).map(({ addresses = [], notReadyAddresses = [], ports = [] }) => {
    const endpoint = (ready: boolean) => (address: (typeof addresses)[number]) => ({
      addresses: [address.ip],
      conditions: { ready },
      ...(address.targetRef ? { targetRef: address.targetRef } : {}),
      ...(address.nodeName ? { nodeName: address.nodeName } : {}),
    });
    const spec: EndpointSlice = {
      addressType: 'IPv4',
      endpoints: [...addresses.map(endpoint(true)), ...notReadyAddresses.map(endpoint(false))],
      ports,
    };
    return { ...config, spec };
  });
}
