import { Buffer } from 'node:buffer';
import { Client, type ServiceError, status } from '@grpc/grpc-js';
import { decodeMessage } from '../../proto/decode.ts';
import { encodeMessage } from '../../proto/message.ts';
import { newCertificateRequest } from '../../security/certificate-request.ts';
import { metadataOf } from '../../xds/client.ts';
import type { Connection, Pair } from '../connection.ts';
import { type WorkloadCertificate, workloadCertificate } from './workload-certificate.ts';

const METHOD = '/istio.v1.auth.IstioCertificateService/CreateCertificate';
const DEADLINE = 10_000;

/** Why no certificate was given, in words for people. */
export class NoCertificateError extends Error {
  /** The proof of who asks was not believed. */
  readonly isDisbelieved: boolean;

  constructor(message: string, isDisbelieved: boolean, options?: ErrorOptions) {
    super(message, options);
    this.name = 'NoCertificateError';
    this.isDisbelieved = isDisbelieved;
  }
}

export interface CertificateQuestion {
  /** As gRPC takes it. */
  readonly target: string;
  readonly connection: Connection;
  /** What is proven by: a certificate, or else the token. */
  readonly proof: Pair | undefined;
  readonly ttlMs: number;
}

/** A new key, and a certificate for it from the authority. @throws NoCertificateError */
export async function askedCertificate(question: CertificateQuestion): Promise<WorkloadCertificate> {
  const { key, csr } = newCertificateRequest();
  const chain = await answer(question, csr);
  const [roots, ...others] = chain.toReversed();
  if (roots === undefined || others.length === 0)
    throw new NoCertificateError('it answers without a certificate', false);
  try {
    return workloadCertificate(others.toReversed().map(withLineEnd).join(''), key, roots);
  } catch (error) {
    throw new NoCertificateError(`it answers with what is no certificate: ${(error as Error).message}`, false, {
      cause: error,
    });
  }
}

function withLineEnd(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

function answer({ target, connection, proof, ttlMs }: CertificateQuestion, csr: string): Promise<readonly string[]> {
  return new Promise((resolve, reject) => {
    const headers = metadataOf(proof === undefined ? connection.authorization() : {});
    const client = new Client(target, connection.channelCredentials(proof), connection.channelOptions);
    const request = encodeMessage('istio.v1.auth.IstioCertificateRequest', {
      csr,
      validityDuration: String(Math.round(ttlMs / 1000)),
    });
    client.makeUnaryRequest(
      METHOD,
      (message: Uint8Array) => Buffer.from(message),
      (bytes: Buffer) => bytes,
      request,
      headers,
      { deadline: Date.now() + DEADLINE },
      (error: ServiceError | null, bytes?: Buffer) => {
        client.close();
        if (error !== null) {
          const isDisbelieved = error.code === status.UNAUTHENTICATED || error.code === status.PERMISSION_DENIED;
          reject(new NoCertificateError(`${error.details} (${status[error.code]})`, isDisbelieved, { cause: error }));
          return;
        }
        try {
          const { certChain = [] } = decodeMessage('istio.v1.auth.IstioCertificateResponse', bytes ?? Buffer.alloc(0));
          resolve(certChain as readonly string[]);
        } catch (cause) {
          reject(new NoCertificateError('its answer can not be read', false, { cause }));
        }
      },
    );
  });
}
