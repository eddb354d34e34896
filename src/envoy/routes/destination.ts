import type { ConsistentHashLB, Destination, DestinationRule } from '#generated/config/specs.ts';
import type { Hostname } from '../../base/host.ts';
import { clusterName } from '../names.ts';
import { destinationHash } from './hash-policy.ts';
import type { PersistentSession } from './stateful-session.ts';

/** What routes depend on of a service that they lead to. */
export interface DestinationFacts {
  /** The service is another name of this host. */
  readonly externalName?: Hostname;
  /** Its port, when it has only one. */
  readonly onlyPort?: number;
  readonly session?: PersistentSession;
  /** Its DestinationRule, when that has a consistent hash; only the hashes in it count. */
  readonly hashRule?: DestinationRule;
}

/** By full hostname; a host that is missing is no known service on the port in question, which is no error. */
export type Destinations = ReadonlyMap<Hostname, DestinationFacts>;

/**
 * The cluster of a destination. Without a port it is that of the service's only port, else of the port on which the
 * request comes in.
 * @see istio/istio pilot/pkg/networking/core/route/route.go `GetDestinationCluster`
 */
export function destinationCluster(destination: Destination, destinations: Destinations, listenPort: number): string {
  // A reference that the Gateway API lets stand although it leads nowhere.
  if (!destination.host) return 'UnknownService';
  const facts = destinations.get(destination.host);
  const port = destination.port === undefined ? (facts?.onlyPort ?? listenPort) : (destination.port.number ?? 0);
  return clusterName('outbound', port, destination.subset ?? '', facts?.externalName ?? destination.host);
}

export function consistentHash(destination: Destination, destinations: Destinations): ConsistentHashLB | undefined {
  const rule = destinations.get(destination.host)?.hashRule;
  return rule && destinationHash(rule, destination);
}
