import { isIpv6 } from '../../base/address.ts';
import type { Service } from '../../model/service.ts';
import { UNSPECIFIED_ADDRESS } from '../../model/service.ts';
import { type AddressView, serviceAddress } from '../listeners/service-address.ts';

/**
 * The addresses by which a client can call a service: the cluster's virtual IPs of the proxy's families, else the one
 * where the proxy listens for it. Blocks are written as they are.
 *
 * @param onePort the route configuration is that of one port; those for all ports know every allocated address too
 * @see istio/istio pilot/pkg/model/service.go `GetAllAddressesForProxy`
 */
export function calledAddresses(service: Service, view: AddressView, onePort: boolean): readonly string[] {
  const ofFamily = (address: string) => (isIpv6(address.split('/')[0] ?? '') ? view.ipv6 : view.ipv4);
  const inCluster = service.registry === 'Kubernetes';
  if (inCluster && view.inCluster) {
    const vips = service.vips.filter(ofFamily);
    if (vips.length > 0) return vips;
  }
  const { v4 = '', v6 = '' } = view.autoAddresses && !onePort ? (service.autoAddress ?? {}) : {};
  const allocated = [v4, v6].filter((address) => address !== '' && ofFamily(address));
  if (allocated.length > 0) return allocated;
  const address = serviceAddress(service, view);
  if (address === UNSPECIFIED_ADDRESS || address === '') return [];
  return inCluster && service.vips.length > 0 && !ofFamily(address) ? [] : [address];
}
