import { Buffer } from 'node:buffer';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { decodeMessage } from '../../src/proto/decode.ts';
import { encodeMessage } from '../../src/proto/message.ts';
import type { Certificate } from './certificates.ts';

export interface CertificateQuestion {
  /** `host:port`, or `unix:…`. */
  readonly address: string;
  /** Whom the client believes, in PEM. Not over a Unix socket. */
  readonly roots?: string;
  /** The client's own certificate. */
  readonly client?: Certificate;
  readonly token?: string;
  /** The request, in PEM. */
  readonly csr: string;
  /** Seconds; 0 by default: as the server likes. */
  readonly ttl?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

/** What a certificate authority answers: certificates in PEM, or the status and its words. */
export type CertificateAnswer = readonly string[] | string;

const METHOD = '/istio.v1.auth.IstioCertificateService/CreateCertificate';

/** Asks for a certificate over gRPC, as an agent does. */
export function askCertificate(question: CertificateQuestion): Promise<CertificateAnswer> {
  const { address, roots = '', client, token, csr, ttl = 0, metadata } = question;
  const [key, chain] = client === undefined ? [null, null] : [Buffer.from(client.key), Buffer.from(client.chain)];
  const channel = new Client(
    address,
    address.startsWith('unix:') ? credentials.createInsecure() : credentials.createSsl(Buffer.from(roots), key, chain),
  );
  const headers = new Metadata();
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const request = { csr, validityDuration: String(ttl), ...(metadata && { metadata }) };
  return new Promise((resolve) => {
    const ended = (error: ServiceError | null, bytes?: Buffer): void => {
      channel.close();
      if (error !== null) {
        resolve(`${status[error.code]}: ${error.details}`);
        return;
      }
      const { certChain = [] } = decodeMessage('istio.v1.auth.IstioCertificateResponse', bytes ?? Buffer.alloc(0));
      resolve(certChain as readonly string[]);
    };
    channel.makeUnaryRequest(
      METHOD,
      (message: Uint8Array) => Buffer.from(message),
      (bytes: Buffer) => bytes,
      encodeMessage('istio.v1.auth.IstioCertificateRequest', request),
      headers,
      { deadline: Date.now() + 10_000 },
      ended,
    );
  });
}
