import type { RequestListener } from 'node:http';
import { workloadIdentity } from '../base/spiffe.ts';
import type { ProxySessions } from '../pipeline/session.ts';
import { isForwarded } from '../xds/caller.ts';
import type { StreamInfo } from '../xds/events.ts';
import { ConnectError, type Peer } from '../xds/provider.ts';

/** Whose data somebody may see: that of one namespace's proxies, or (`undefined`) all. */
export type Access = string | undefined;

/**
 * Debugging data is for callers on this machine, and for those with a certificate of the mesh: of the root namespace, all of
 * it; of another, what is about its own proxies.
 *
 * @throws ConnectError UNAUTHENTICATED for all others
 * @see istio/istio pilot/pkg/xds/debuggen.go, pilot/pkg/xds/statusgen.go `callerNamespaceFilter`
 */
export function accessOf({ address, identities, forwarded = false }: Peer, rootNamespace: string): Access {
  const namespaces = identities.flatMap((uri) => workloadIdentity(uri)?.namespace ?? []);
  if (namespaces.includes(rootNamespace)) return undefined;
  const [namespace] = namespaces;
  if (namespace !== undefined) return namespace;
  if (!forwarded && isLocal(address)) return undefined;
  throw new ConnectError(
    'UNAUTHENTICATED',
    'debugging data is for callers on this machine, and for those with a certificate of the mesh',
  );
}

/** Whether a client belongs to what may be seen. */
export function visibleTo(access: Access, sessions: ProxySessions): (client: StreamInfo) => boolean {
  return ({ proxy }) => access === undefined || sessions.named(proxy)?.proxy.namespace === access;
}

/** @param address of a peer: grpc-js writes IPv6 without brackets, and knows no address of a Unix socket */
function isLocal(address: string): boolean {
  return address === 'unknown' || /^(127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+):\d+$/.test(address);
}

/** Answers 401 for pages below /debug to callers that are not on this machine: over HTTP nobody can prove who it is. */
export function debugForLocals(listener: RequestListener): RequestListener {
  return (request, response) => {
    const { socket, headers, url = '' } = request;
    const local = !isForwarded((name) => headers[name]) && isLocal(`${socket.remoteAddress}:${socket.remotePort}`);
    const path = URL.parse(url.startsWith('/') ? `http://localhost${url}` : url)?.pathname ?? '';
    if (local || !/^\/+debug(\/|$)/.test(path)) {
      listener(request, response);
      return;
    }
    response.writeHead(401, { 'content-type': 'text/plain; charset=utf-8' });
    response.end(
      'debugging data is for callers on this machine; over xDS, also for those with a certificate of the mesh\n',
    );
  };
}
