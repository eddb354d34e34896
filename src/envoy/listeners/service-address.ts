import { isIpv6 } from '../../base/address.ts';
import { type Service, UNSPECIFIED_ADDRESS } from '../../model/service.ts';

/** What of a proxy decides by which addresses it knows services. */
export interface AddressView {
  readonly ipv4: boolean;
  readonly ipv6: boolean;
  /** The proxy says which cluster it belongs to, and so knows the cluster's virtual IPs. */
  readonly inCluster: boolean;
  /** Its names are resolved by its agent, so that addresses that the control plane allocated can be used. */
  readonly autoAddresses: boolean;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIpv6(address.split('/')[0] ?? '') ? 'ipv6' : 'ipv4';
}

function ofFamilies(addresses: readonly string[], view: AddressView): readonly string[] {
  return addresses.filter((address) => view[familyOf(address)]);
}

function autoAddresses({ autoAddress }: Service, view: AddressView): readonly string[] {
  return autoAddress === undefined || !view.autoAddresses
    ? []
    : [autoAddress.v4, autoAddress.v6].filter((address) => address !== '');
}

/** Virtual IPs of a Kubernetes Service in the proxy's cluster. */
function clusterAddresses(service: Service, view: AddressView): readonly string[] {
  return service.registry === 'Kubernetes' && view.inCluster ? service.vips : [];
}

/**
 * Where the proxy listens for traffic to the service: an IP, a CIDR block, or `0.0.0.0` when the service has no address.
 * A ServiceEntry's own address counts whatever its family.
 *
 * @see istio/istio pilot/pkg/model/service.go `GetAddressForProxy`
 */
export function serviceAddress(service: Service, view: AddressView): string {
  const [cluster] = ofFamilies(clusterAddresses(service, view), view);
  if (cluster !== undefined) return cluster;
  const [allocated] = service.address === UNSPECIFIED_ADDRESS ? ofFamilies(autoAddresses(service, view), view) : [];
  return allocated ?? service.address;
}

/**
 * The addresses beside that one: of the other family.
 * @see istio/istio pilot/pkg/model/service.go `GetExtraAddressesForProxy`
 */
export function extraServiceAddresses(service: Service, view: AddressView): readonly string[] {
  const cluster = clusterAddresses(service, view);
  return ofFamilies(cluster.length > 0 ? cluster : autoAddresses(service, view), view).slice(1);
}
