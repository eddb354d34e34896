import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { ServerCredentials } from '@grpc/grpc-js';
import { EXIT, StartError } from '../process/failure.ts';
import type { Logger } from '../process/log.ts';
import { systemReason } from '../sources/source.ts';

const CHAIN = 'etc/certs/cert-chain.pem';
const KEY = 'etc/certs/key.pem';
const ROOTS = 'etc/certs/root-cert.pem';
const FILES = [CHAIN, KEY, ROOTS] as const;

/** How often the files are looked at. A look is three stat(2), and sees links that are swapped and files of other machines, too. */
const LOOK_EVERY = 1000;

/** What the files hold, as far as TLS can be served with it. */
interface Material {
  readonly options: SecureContextOptions;
  /** Whether there are roots that clients can be verified by. */
  readonly verifiesClients: boolean;
}

/**
 * TLS with the certificate of an outside CA, read again whenever one of its files changes: new connections get the new one. Files
 * that do not fit together, as in the middle of a renewal, change nothing.
 */
export class ServingCertificate {
  readonly #root: string;
  readonly #log: Logger;
  #seen = '';
  #credentials: RenewedCredentials | undefined;
  #problem = '';

  /** @throws StartError when there is a certificate or a key that can not be used */
  constructor(root: string, log: Logger) {
    this.#root = root;
    this.#log = log;
    this.#seen = this.#state();
    const material = this.#read();
    if (material !== undefined) this.#credentials = new RenewedCredentials(material);
  }

  /** Undefined as long as there is neither a certificate nor a key. */
  get credentials(): ServerCredentials | undefined {
    return this.#credentials;
  }

  /** Whether clients are to prove who they are. */
  get verifiesClients(): boolean {
    return this.#credentials?.verifiesClients ?? false;
  }

  /** @param appeared called when there is a certificate for the first time */
  follow(appeared: () => void, signal: AbortSignal): void {
    const timer = setInterval(() => this.#look(appeared), LOOK_EVERY).unref();
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  #look(appeared: () => void): void {
    const state = this.#state();
    if (state === this.#seen) return;
    this.#seen = state;
    try {
      const material = this.#read();
      if (material === undefined) {
        if (this.#credentials !== undefined) this.#complain(`${CHAIN} and ${KEY} are gone`);
        return;
      }
      this.#problem = '';
      if (this.#credentials === undefined) {
        this.#credentials = new RenewedCredentials(material);
        appeared();
      } else {
        this.#credentials.renew(material);
        this.#log.info(`${CHAIN} has changed: new connections get the new certificate`);
      }
    } catch (error) {
      this.#complain(error instanceof Error ? error.message : String(error));
    }
  }

  #complain(problem: string): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    const stays = this.#credentials === undefined ? 'TLS stays off' : 'the certificate from before stays';
    this.#log.warn(`${problem}; ${stays}`);
  }

  /** Changes when a file does. */
  #state(): string {
    return FILES.map((file) => {
      const stat = statSync(join(this.#root, file), { throwIfNoEntry: false, bigint: true });
      return stat === undefined ? '' : `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
    }).join('|');
  }

  #read(): Material | undefined {
    const [chain, key, roots] = FILES.map((file) => readPem(this.#root, file));
    if (chain === undefined && key === undefined) return undefined;
    if (chain === undefined || key === undefined) {
      const [there, missing] = chain === undefined ? [KEY, CHAIN] : [CHAIN, KEY];
      const advice = 'put both there, or none to go without TLS';
      throw new StartError(EXIT.noInput, `${missing} is missing beside ${there}: ${advice}`);
    }
    // None that Node would trust else: a certificate of a public CA proves no workload.
    const options: SecureContextOptions = { cert: chain, key, ca: roots ?? [], minVersion: 'TLSv1.2' };
    try {
      createSecureContext(options);
    } catch (error) {
      const files = roots === undefined ? `${CHAIN} and ${KEY}` : FILES.join(', ');
      throw new StartError(EXIT.config, `${files} can not be used: ${opensslReason(error)}`, { cause: error });
    }
    return { options, verifiesClients: roots !== undefined };
  }
}

/** Asks clients for a certificate, and leaves it to the service whether they need one. */
class RenewedCredentials extends ServerCredentials {
  verifiesClients: boolean;

  constructor({ options, verifiesClients }: Material) {
    super({ requestCert: true, rejectUnauthorized: false }, options);
    this.verifiesClients = verifiesClients;
  }

  renew({ options, verifiesClients }: Material): void {
    this.verifiesClients = verifiesClients;
    this.updateSecureContextOptions(options);
  }

  override _equals(other: ServerCredentials): boolean {
    return this === other;
  }
}

function readPem(root: string, file: string): Buffer | undefined {
  try {
    return readFileSync(join(root, file));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new StartError(EXIT.noInput, `${file} can not be read: ${systemReason(error) ?? error}`, { cause: error });
  }
}

function opensslReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH') return 'the key is not the one of the certificate';
  if (/NO_START_LINE|UNSUPPORTED|DECODER/.test(code ?? '')) return 'one of them is no PEM';
  return message;
}
