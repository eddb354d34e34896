import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { ServerCredentials } from '@grpc/grpc-js';
import { LIMITS } from '../config/limits.ts';
import { EXIT, StartError } from '../process/failure.ts';
import type { Pair } from '../security/serving-pair.ts';
import { fileText } from '../sources/read-file.ts';
import type { SourceLog } from '../sources/source.ts';

/** The server's certificate, of an outside authority. */
export const CHAIN = 'etc/certs/cert-chain.pem';
export const KEY = 'etc/certs/key.pem';
/** Roots of an outside authority, beside the server's certificate of it. */
export const OUTSIDE_ROOTS = 'etc/certs/root-cert.pem';
/** Beside these the chain is that of an authority. */
const AUTHORITY = ['etc/certs/ca-cert.pem', 'etc/certs/ca-key.pem'] as const;
const FILES = [CHAIN, KEY, OUTSIDE_ROOTS, ...AUTHORITY] as const;

/** OpenSSL passes over roots that are none. */
const CERTIFICATE = /-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/;

/** How often the files are looked at. A look is three stat(2), and sees links that are swapped and files of other machines, too. */
const LOOK_EVERY = 1000;

/** The own authority, as far as TLS needs it. */
export interface OwnAuthority {
  /** A certificate for this server, the same object as long as it holds; undefined while there is none. */
  pair(): Pair | undefined;
  /** Roots by which clients are verified, in PEM, the same text as long as they stay. */
  roots(): string | undefined;
}

/** What the files hold, as far as TLS can be served with it. */
interface Material {
  readonly options: SecureContextOptions;
  /** Whether there are roots that clients can be verified by. */
  readonly verifiesClients: boolean;
}

/**
 * TLS with the certificate of an outside CA, read again whenever one of its files changes, or else with one of the own authority,
 * which is renewed: new connections get the new one. Files that do not fit together, as in the middle of a renewal, change
 * nothing.
 */
export class ServingCertificate {
  readonly #root: string;
  readonly #log: SourceLog;
  readonly #authority: OwnAuthority | undefined;
  #seen = '';
  #own: readonly [pair: Pair | undefined, roots: string | undefined] = [undefined, undefined];
  /** Whether what is served was read from files. */
  #isOfFiles = false;
  #credentials: RenewedCredentials | undefined;
  #problem = '';

  /** @throws StartError when there is a certificate or a key that can not be used */
  constructor(root: string, log: SourceLog, authority?: OwnAuthority) {
    this.#root = root;
    this.#log = log;
    this.#authority = authority;
    this.#seen = this.#state();
    const material = this.#read();
    if (material !== undefined) this.#credentials = new RenewedCredentials(material);
  }

  /** Whether what is served was read from files. */
  get isOfFiles(): boolean {
    return this.#isOfFiles;
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
    const timer = setInterval(() => {
      if (this.look() === 'appeared') appeared();
    }, LOOK_EVERY).unref();
    signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  }

  /** Looks at the files and the authority again. @returns whether there is a certificate for the first time */
  look(): 'appeared' | undefined {
    if (!this.#hasChanged()) return undefined;
    try {
      const material = this.#read();
      if (material === undefined) {
        if (this.#credentials !== undefined) this.#complain(`${CHAIN} and ${KEY} are gone`);
        return undefined;
      }
      this.#problem = '';
      if (this.#credentials === undefined) {
        this.#credentials = new RenewedCredentials(material);
        return 'appeared';
      }
      this.#credentials.renew(material);
      this.#log.info(
        `${this.#isOfFiles ? CHAIN : 'the own certificate'} has changed: new connections get the new certificate`,
      );
    } catch (error) {
      this.#complain(error instanceof Error ? error.message : String(error));
    }
    return undefined;
  }

  #hasChanged(): boolean {
    const state = this.#state();
    const own = [this.#authority?.pair(), this.#authority?.roots()] as const;
    const isSame = state === this.#seen && own[0] === this.#own[0] && own[1] === this.#own[1];
    this.#seen = state;
    this.#own = own;
    return !isSame;
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
    const [chain, key, roots, ...authority] = FILES.map((file) => readPem(this.#root, file));
    const isOfAuthority = key === undefined && authority.some((file) => file !== undefined);
    const isThere = !isOfAuthority && (chain !== undefined || key !== undefined);
    if (isThere && (chain === undefined || key === undefined)) {
      const [there, missing] = chain === undefined ? [KEY, CHAIN] : [CHAIN, KEY];
      const advice = 'put both there, or none to have one made';
      throw new StartError(EXIT.noInput, `${missing} is missing beside ${there}: ${advice}`);
    }
    const own = this.#authority?.pair();
    if (roots !== undefined && !CERTIFICATE.test(roots))
      throw new StartError(
        EXIT.config,
        `${OUTSIDE_ROOTS}: it holds no certificate in PEM form: put roots there, or remove it`,
      );
    // Files that were served once are not gone for good: what they held stays.
    if (!isThere && (own === undefined || this.#isOfFiles)) return undefined;
    const pair = isThere ? { cert: chain, key } : { cert: own?.chain, key: own?.key };
    const trusted = [roots, this.#authority?.roots()].filter((text) => text !== undefined);
    // None that Node would trust else: a certificate of a public CA proves no workload.
    const options: SecureContextOptions = { ...pair, ca: trusted, minVersion: 'TLSv1.2' };
    try {
      // What was made here fits together.
      if (isThere || roots !== undefined) createSecureContext(options);
    } catch (error) {
      for (const [file, text, what] of [
        [CHAIN, chain, 'certificate'],
        [KEY, key, 'private key'],
      ] as const) {
        if (text !== undefined && !text.includes('-----BEGIN '))
          throw new StartError(EXIT.config, `${file}: it holds no ${what} in PEM form`, { cause: error });
      }
      const files = roots === undefined ? `${CHAIN} and ${KEY}` : [CHAIN, KEY, OUTSIDE_ROOTS].join(', ');
      throw new StartError(EXIT.config, `${files} can not be used: ${opensslReason(error)}`, { cause: error });
    }
    this.#isOfFiles = isThere;
    return { options, verifiesClients: trusted.length > 0 };
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

function readPem(root: string, file: string): string | undefined {
  try {
    return fileText(join(root, file), LIMITS.certificateBytes);
  } catch (error) {
    throw new StartError(EXIT.noInput, `${file}: ${(error as Error).message}`, { cause: error });
  }
}

function opensslReason(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH') return 'the key is not the one of the certificate';
  if (/NO_START_LINE|UNSUPPORTED|DECODER/.test(code ?? '')) return 'one of them is no PEM';
  return message;
}
