import { type EndpointGroup, type GroupedEndpoint, withEndpoints } from '../endpoints/groups.ts';

/**
 * Endpoints that gRPC takes: it refuses a whole load assignment for an address that stands in it twice, or for an endpoint
 * without an IP (a Unix socket). Of several with one address the first counts.
 *
 * @returns the very groups when nothing is left out
 */
export function grpcEndpoints(groups: readonly EndpointGroup[]): readonly EndpointGroup[] {
  const seen = new Set<string>();
  const isNew = ({ message }: GroupedEndpoint): boolean => {
    const address = message.endpoint?.address?.socketAddress;
    if (address === undefined) return false;
    const key = `${address.address} ${address.portValue}`;
    return !seen.has(key) && seen.add(key) !== undefined;
  };
  const kept = groups.map((group) => {
    const endpoints = group.endpoints.filter(isNew);
    return endpoints.length === group.endpoints.length ? group : withEndpoints(group, endpoints);
  });
  return kept.every((group, i) => group === groups[i]) ? groups : kept;
}
