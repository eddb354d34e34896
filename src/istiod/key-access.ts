import type { NodeDescription } from '../model/node.ts';
import { namespaceOfNode } from '../model/node.ts';
import type { Peer } from '../xds/provider.ts';

export interface KeyAccess {
  readonly granted: boolean;
  /** Why not, and what to do; empty when it is granted. */
  readonly reason: string;
}

const GRANTED: KeyAccess = { granted: true, reason: '' };

/** The namespace in a workload's identity. @see https://spiffe.io and istio/istio pkg/spiffe/spiffe.go `ParseIdentity` */
const IDENTITY = /^spiffe:\/\/[^/]+\/ns\/([^/]+)\/sa\/[^/]+$/;

/**
 * Whether private keys of the namespace that a node says it is of may go over its connection: over a socket of this machine, or
 * over TLS to who proves by a certificate that it is of that namespace. Never over plaintext TCP, but for tests that say so.
 */
export function keyAccess(peer: Peer, node: NodeDescription, overPlaintext: boolean): KeyAccess {
  if (overPlaintext || peer.local) return GRANTED;
  if (!peer.encrypted) return refused('its connection is plaintext');
  const proven = peer.identities.flatMap((identity) => IDENTITY.exec(identity)?.[1] ?? []);
  const namespace = namespaceOfNode(node);
  if (proven.includes(namespace)) return GRANTED;
  if (proven.length === 0) return refused('it shows no certificate of a workload, by which it would prove who it is');
  return refused(`its certificate is of namespace ${proven.join(', ')}, but it says that it is of ${namespace}`);
}

function refused(why: string): KeyAccess {
  const advice = 'let it connect to listen.grpcUnix, or to listen.grpcTls with a certificate of its namespace';
  return { granted: false, reason: `${why}: ${advice}` };
}
