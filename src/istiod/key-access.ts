import { workloadIdentity } from '../base/spiffe.ts';
import type { NodeDescription } from '../model/node.ts';
import { namespaceOfNode } from '../model/node.ts';
import type { Peer } from '../xds/provider.ts';

export interface KeyAccess {
  readonly granted: boolean;
  /** Why not, and what to do; empty when it is granted. */
  readonly reason: string;
}

const GRANTED: KeyAccess = { granted: true, reason: '' };

/**
 * Whether private keys of the namespace that a node says it is of may go over its connection: over a socket of this machine, or
 * over TLS to who proves by a certificate that it is of that namespace. Never over plaintext TCP, but for tests that say so.
 */
export function keyAccess(peer: Peer, node: NodeDescription, overPlaintext: boolean): KeyAccess {
  if (overPlaintext || peer.local) return GRANTED;
  if (!peer.encrypted) return refused('its connection is plaintext');
  const proven = peer.identities.flatMap((uri) => workloadIdentity(uri)?.namespace ?? []);
  const namespace = namespaceOfNode(node);
  if (proven.includes(namespace)) return GRANTED;
  if (proven.length === 0) return refused('it shows no certificate of a workload, by which it would prove who it is');
  return refused(`its certificate is of namespace ${proven.join(', ')}, but it says that it is of ${namespace}`);
}

/**
 * Why a node is not who it says to be; undefined: it is, or its connection proves nothing either way.
 * @see istio/istio pilot/pkg/xds/auth.go `checkConnectionIdentity`
 */
export function identityProblem({ identities }: Peer, node: NodeDescription): string | undefined {
  if (identities.length === 0) return undefined;
  const namespace = namespaceOfNode(node);
  const account = node.metadata['SERVICE_ACCOUNT'];
  const isIt = identities.some((uri) => {
    const identity = workloadIdentity(uri);
    const isOfNamespace = namespace === '' || identity?.namespace === namespace;
    return identity !== undefined && isOfNamespace && (!account || account === identity.serviceAccount);
  });
  if (isIt) return undefined;
  const says = `${namespace || 'any'}/${typeof account === 'string' && account !== '' ? account : 'any'}`;
  return `it has proven to be ${identities.join(', ')}, and says to be a workload of ${says} (namespace/service account): let NAMESPACE and SERVICE_ACCOUNT of its metadata say what its certificate or token does`;
}

function refused(why: string): KeyAccess {
  const advice = 'let it connect to listen.grpcUnix, or to listen.grpcTls with a certificate of its namespace';
  return { granted: false, reason: `${why}: ${advice}` };
}
