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

/** `URI:spiffe://a/b`, or with the value in quotes where it could be mistaken for the end of a name. */
const ALT_NAME = /([^:,"]+):("(?:[^"\\]|\\.)*"|[^",]*)(?:, |$)/y;

/** The URIs of a verified client certificate; nobody without one. */
export const certificateIdentities = ({ address, encrypted, subjectAltName, header }: Caller): Peer => ({
  address,
  encrypted,
  identities: uris(subjectAltName ?? ''),
  forwarded: isForwarded(header),
});

const FORWARDED = ['x-forwarded-for', 'x-forwarded-proto', 'forwarded', 'via'];

/** Whether a request has a header that proxies add, so that its address is not its caller's. */
export function isForwarded(header: (name: string) => unknown): boolean {
  return FORWARDED.some((name) => header(name) !== undefined);
}

/** None at all when the text is not as expected. Quoted URIs are left out: a SPIFFE ID needs no quotes. */
function uris(altNames: string): readonly string[] {
  const found: string[] = [];
  ALT_NAME.lastIndex = 0;
  while (ALT_NAME.lastIndex < altNames.length) {
    const [, kind, value = ''] = ALT_NAME.exec(altNames) ?? [];
    if (kind === undefined) return [];
    if (kind === 'URI' && !value.startsWith('"')) found.push(value);
  }
  return found;
}
