import type { Peer } from './provider.ts';
import { type AnyCall, isEncrypted } from './transport.ts';

/** What a call shows of who makes it. */
export interface Caller {
  readonly address: string;
  readonly encrypted: boolean;
  /** The client's certificate, in DER; undefined unless the TLS layer verified it. */
  readonly certificate: Uint8Array | undefined;
  /** Its subject alternative names as Node writes them. */
  readonly subjectAltName: string | undefined;
  /** The first value of a request header (`authorization`). */
  header(name: string): string | undefined;
}

/**
 * Says who a caller is.
 * @throws ConnectError when its credentials are bad (a rejected promise likewise)
 */
export type Authenticate = (caller: Caller) => Peer | Promise<Peer>;

export function callerOf(call: AnyCall): Caller {
  const certificate = call.getAuthContext().sslPeerCertificate;
  return {
    address: call.getPeer(),
    encrypted: isEncrypted(call),
    certificate: certificate?.raw,
    subjectAltName: certificate?.subjectaltname,
    header: (name) => call.metadata.get(name).find((value) => typeof value === 'string'),
  };
}

/** The URIs of a verified client certificate; nobody without one. */
export const certificateIdentities: Authenticate = ({ address, encrypted, subjectAltName }) => ({
  address,
  encrypted,
  identities: (subjectAltName ?? '')
    .split(', ')
    .filter((name) => name.startsWith('URI:'))
    .map((name) => name.slice('URI:'.length))
    // Node quotes names that could be mistaken for a list; a SPIFFE ID is none of them.
    .filter((uri) => !uri.startsWith('"')),
});
