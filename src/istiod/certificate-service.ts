import type { Buffer } from 'node:buffer';
import {
  type Server,
  type ServerUnaryCall,
  type ServiceDefinition,
  type ServiceError,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import type { istio } from '#generated/proto/types.ts';
import type { CertificateEvents } from '../admin/certificate-metrics.ts';
import { workloadIdentity } from '../base/spiffe.ts';
import type { Logger } from '../process/log.ts';
import { decodeMessage } from '../proto/decode.ts';
import { DecodeError } from '../proto/errors.ts';
import { encodeMessage } from '../proto/message.ts';
import { type CertificateAuthority, SigningError, type SigningFailure } from '../security/authority.ts';
import { type CertificateRequest, RequestError, readRequest } from '../security/csr.ts';
import { bytesMethod } from '../xds/bytes-method.ts';
import { type Authenticate, callerOf } from '../xds/caller.ts';
import { ConnectError, type Peer } from '../xds/provider.ts';
import type { StatusName } from '../xds/transport.ts';

export interface CertificateServiceOptions {
  readonly authority: Pick<CertificateAuthority, 'issue'>;
  /** Who calls; identities in the trust domain of the mesh. */
  readonly authenticate: Authenticate;
  /** An identity as the mesh writes it; undefined when it is of another mesh. */
  readonly ownIdentity: (uri: string) => string | undefined;
  readonly events: CertificateEvents;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
}

const NAME = 'istio.v1.auth.IstioCertificateService';
const DEFINITION: ServiceDefinition = { CreateCertificate: bytesMethod(`/${NAME}/CreateCertificate`, false) };

/** @see istio/istio security/pkg/pki/error/error.go `HTTPErrorCode` */
const CODES: Readonly<Record<SigningFailure, StatusName>> = {
  CA_NOT_READY: 'INTERNAL',
  CSR_ERROR: 'INVALID_ARGUMENT',
  TTL_ERROR: 'INVALID_ARGUMENT',
  CERT_GEN_ERROR: 'INTERNAL',
};

/** In the metadata of a request: certificates for another identity than the caller's. */
const IMPERSONATED = 'ImpersonatedIdentity';

/**
 * Gives certificates to workloads that prove who they are. What a certificate is for is told by the connection alone; a request
 * that names anybody else is refused.
 *
 * @see istio/istio security/pkg/server/ca/server.go `CreateCertificate`
 */
export function registerCertificateService(server: Server, options: CertificateServiceOptions): void {
  server.addService(DEFINITION, {
    CreateCertificate: (call: ServerUnaryCall<Buffer, Uint8Array>, callback: sendUnaryData<Uint8Array>) => {
      created(call, options).then(
        (bytes) => callback(null, bytes),
        (error: unknown) => callback(failure(error, call, options)),
      );
    },
  });
}

async function created(
  call: ServerUnaryCall<Buffer, Uint8Array>,
  options: CertificateServiceOptions,
): Promise<Uint8Array> {
  const { authority, events, log } = options;
  events.onRequest();
  const peer = await authenticated(call, options);
  const identity = peer.identities[0] as string;
  const { csr = '', validityDuration = '0', metadata } = requestOf(call.request);
  const request = readRequest(csr);
  refuseOthers(request, metadata, identity, options);
  const certChain = authority.issue(request, {
    // One alone, as the standard of SPIFFE wants it.
    names: [{ uri: identity }],
    ttlMs: Number(validityDuration) * 1000,
  });
  events.onIssued();
  log.info({ peer: peer.address, identity }, 'a certificate was issued');
  return encodeMessage('istio.v1.auth.IstioCertificateResponse', { certChain: [...certChain] });
}

/** @throws ConnectError when nobody is proven to call */
async function authenticated(
  call: ServerUnaryCall<Buffer, Uint8Array>,
  { authenticate, events }: CertificateServiceOptions,
): Promise<Peer> {
  const advice = 'show a client certificate of the mesh, or a token as "authorization: Bearer …"';
  try {
    const peer = await authenticate(callerOf(call));
    if (peer.identities.length === 0) throw new ConnectError('UNAUTHENTICATED', `nobody is proven to ask: ${advice}`);
    return peer;
  } catch (error) {
    events.onUnauthenticated();
    throw error;
  }
}

/** @throws ConnectError when the request names somebody else than who asks */
function refuseOthers(
  { names }: CertificateRequest,
  metadata: istio.v1.auth.IstioCertificateRequest['metadata'],
  identity: string,
  { ownIdentity, events }: CertificateServiceOptions,
): void {
  const isOwn = (name: string): boolean => name.startsWith('URI:') && isSame(name.slice(4), identity, ownIdentity);
  const asked = metadata?.[IMPERSONATED];
  const impersonated = typeof asked === 'string' && asked !== '' && !isOwn(`URI:${asked}`);
  const other = impersonated ? `URI:${asked}` : names.find((name) => !isOwn(name));
  if (other === undefined) return;
  events.onUnauthenticated();
  throw new ConnectError(
    impersonated ? 'UNAUTHENTICATED' : 'PERMISSION_DENIED',
    `a certificate for ${other.slice(0, 256)} is asked for, by ${identity}: ask for that, or for no name at all`,
  );
}

/** Whether a request means who asks: `cluster.local` stands in it for the mesh that it is sent to. */
function isSame(wanted: string, identity: string, ownIdentity: (uri: string) => string | undefined): boolean {
  if (wanted === identity || ownIdentity(wanted) === identity) return true;
  const [asked, own] = [workloadIdentity(wanted), workloadIdentity(identity)];
  const isOfAnyMesh = asked?.trustDomain === 'cluster.local';
  return isOfAnyMesh && asked.namespace === own?.namespace && asked.serviceAccount === own.serviceAccount;
}

function requestOf(bytes: Uint8Array): istio.v1.auth.IstioCertificateRequest {
  try {
    return decodeMessage('istio.v1.auth.IstioCertificateRequest', bytes);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw new ConnectError('INVALID_ARGUMENT', `the request is no IstioCertificateRequest: ${error.message}`);
  }
}

function failure(
  error: unknown,
  call: ServerUnaryCall<Buffer, Uint8Array>,
  { events, log }: CertificateServiceOptions,
): Partial<ServiceError> {
  const told = (code: StatusName, details: string): Partial<ServiceError> => {
    log.warn({ peer: call.getPeer(), code }, `no certificate was issued: ${details}`);
    return { code: status[code], details };
  };
  if (error instanceof ConnectError) return told(error.code, error.message);
  if (error instanceof RequestError) {
    events.onFailure('CSR_ERROR');
    return told('INVALID_ARGUMENT', `CSR signing error (${error.message})`);
  }
  if (error instanceof SigningError) {
    events.onFailure(error.failure);
    return told(CODES[error.failure], `CSR signing error (${error.message})`);
  }
  events.onFailure('CERT_GEN_ERROR');
  log.error({ err: error, peer: call.getPeer() }, 'a fault of the server: no certificate was issued');
  return { code: status.INTERNAL, details: 'a fault of the server' };
}
