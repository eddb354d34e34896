import type { Authenticated, Authenticator } from '../security/authenticator.ts';
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
  /** @param isNeeded whether nobody is refused */
  const proven = (caller: Caller, isNeeded: boolean): Peer | Promise<Peer> => {
    const shown = certificateIdentities(caller);
    const peerOf = ({ identities, problem }: Authenticated): Peer => {
      if (identities.length === 0 && isNeeded) throw refused(problem);
      return { ...shown, identities };
    };
    const found = authenticator.authenticate({ uris: shown.identities, token: bearerOf(caller) });
    return found instanceof Promise ? found.then(peerOf) : peerOf(found);
  };
  return {
    discovery: (caller) =>
      caller.encrypted ? proven(caller, required()) : { ...certificateIdentities(caller), identities: [] },
    certificates: (caller) => proven(caller, true),
  };
}

function refused(problem: string | undefined): ConnectError {
  return new ConnectError('UNAUTHENTICATED', problem === undefined ? ADVICE : `${problem}: ${ADVICE}`);
}

const BEARER = /^Bearer (\S+)$/i;

function bearerOf({ header }: Caller): string | undefined {
  return BEARER.exec(header('authorization') ?? '')?.[1];
}
