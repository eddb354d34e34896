import type { Authenticator } from '../security/authenticator.ts';
import { type Authenticate, type Caller, certificateIdentities } from '../xds/caller.ts';
import { ConnectError, type Peer } from '../xds/provider.ts';

/** Who callers are, over whichever transport. */
export interface Callers {
  /**
   * For discovery: over TLS whoever has to prove it, and does not, is refused; over other transports nobody proves anything.
   * @see istio/istio pilot/pkg/xds/auth.go `authenticate`
   */
  readonly discovery: Authenticate;
  /** For certificates: whoever shows what is wrong is refused. */
  readonly certificates: Authenticate;
}

const ADVICE =
  'show a client certificate with the SPIFFE URI of a workload of this mesh that one of its roots has signed, or a token ("authorization: Bearer …")';

/** @param required whether callers of discovery over TLS have to prove who they are, at the time of the call */
export function callers(authenticator: Authenticator, required: () => boolean): Callers {
  const proven = (caller: Caller): { readonly peer: Peer; readonly problem: string | undefined } => {
    const shown = certificateIdentities(caller);
    const { identities, problem } = authenticator.authenticate({ uris: shown.identities, token: bearerOf(caller) });
    return { peer: { ...shown, identities }, problem };
  };
  return {
    discovery(caller) {
      if (!caller.encrypted) return { ...certificateIdentities(caller), identities: [] };
      const { peer, problem } = proven(caller);
      if (peer.identities.length === 0 && required()) throw refused(problem);
      return peer;
    },
    certificates(caller) {
      const { peer, problem } = proven(caller);
      if (peer.identities.length === 0) throw refused(problem);
      return peer;
    },
  };
}

function refused(problem: string | undefined): ConnectError {
  return new ConnectError('UNAUTHENTICATED', problem === undefined ? ADVICE : `${problem}: ${ADVICE}`);
}

const BEARER = /^Bearer (\S+)$/i;

function bearerOf({ header }: Caller): string | undefined {
  return BEARER.exec(header('authorization') ?? '')?.[1];
}
