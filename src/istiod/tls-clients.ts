import { type Authenticate, certificateIdentities } from '../xds/caller.ts';
import { ConnectError, type Peer } from '../xds/provider.ts';

/**
 * Who a caller is. Over TLS, a certificate of the roots is needed where there are some.
 *
 * @param required whether callers over TLS have to prove who they are, at the time of the call
 * @see istio/istio pilot/pkg/xds/auth.go `authenticate`
 */
export function tlsClients(required: () => boolean): Authenticate {
  return (caller): Peer => {
    const peer = certificateIdentities(caller);
    if (peer.encrypted && peer.identities.length === 0 && required()) {
      throw new ConnectError(
        'UNAUTHENTICATED',
        'show a client certificate with a SPIFFE URI that a root in etc/certs/root-cert.pem of the control plane has signed',
      );
    }
    return peer;
  };
}
