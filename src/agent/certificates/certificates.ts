import { join } from 'node:path';
import type { Connection } from '../connection.ts';
import { stampOf, textOf } from '../read-file.ts';
import { askedCertificate, NoCertificateError } from './certificate-client.ts';
import { type CertificateFile, type WorkloadCertificate, workloadCertificate } from './workload-certificate.ts';

export interface CertificatesOptions {
  readonly root: string;
  /** Holds `cert-chain.pem`, `key.pem` and `root-cert.pem` where somebody else gives this workload its certificates. */
  readonly mounted: string;
  /** Of the authority as gRPC takes it; undefined: there is none. */
  readonly authority: string | undefined;
  connection(current: () => WorkloadCertificate | undefined): Connection;
  readonly file: CertificateFile;
  /** For how long certificates are asked for. Milliseconds. */
  readonly ttlMs: number;
  /** The part of its life that is left of a certificate when it is renewed, and by how much of it machines differ. */
  readonly grace: number;
  readonly jitter: number;
  readonly log: { info(message: string): void; warn(message: string): void };
  readonly now?: () => number;
}

/** How often files are looked at. Milliseconds. */
const EVERY = 1000;
/** Milliseconds before an authority that gave nothing is asked again; each time twice as long, up to the last. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

const FILES = ['cert-chain.pem', 'key.pem', 'root-cert.pem'] as const;

/**
 * The certificate of the workload: from files that somebody else renews, or from the authority, which is asked for another one
 * when a part of its life is left. One that was given outlives the agent on disk.
 *
 * @see istio/istio security/pkg/nodeagent/cache/secretcache.go
 */
export class Certificates {
  readonly #options: CertificatesOptions;
  readonly #connection: Connection;
  readonly #listeners = new Set<(certificate: WorkloadCertificate) => void>();
  readonly #first = Promise.withResolvers<void>();
  #current: WorkloadCertificate | undefined;
  #stamps = '';
  #timer: NodeJS.Timeout | undefined;
  #askAt = 0;
  #pause = FIRST_PAUSE;
  #isAsking = false;
  /** The certificate was not believed: the token is tried. */
  #isDistrusted = false;
  #told = '';

  constructor(options: CertificatesOptions) {
    this.#options = options;
    this.#connection = options.connection(() => this.#current);
    const kept = options.file.load();
    if (kept !== undefined) {
      this.#current = kept;
      this.#askAt = this.#renewalOf(kept);
      this.#first.resolve();
    }
  }

  get connection(): Connection {
    return this.#connection;
  }

  get current(): WorkloadCertificate | undefined {
    return this.#current;
  }

  /** Resolves when there is one. */
  get first(): Promise<void> {
    return this.#first.promise;
  }

  /** Whether there is one, or something to get one by. Otherwise the proxy has to do without. */
  get isPossible(): boolean {
    if (this.#current !== undefined || this.#mountedStamps() !== undefined) return true;
    if (this.#options.authority === undefined) return false;
    return this.#connection.token() !== undefined || this.#connection.pair() !== undefined;
  }

  onChange(listener: (certificate: WorkloadCertificate) => void): void {
    this.#listeners.add(listener);
  }

  start(): void {
    this.#look();
    this.#timer = setInterval(() => this.#look(), EVERY);
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#options.file.flush();
  }

  #look(): void {
    const stamps = this.#mountedStamps();
    if (stamps !== undefined) this.#takeMounted(stamps);
    else if (!this.#isAsking && this.#now() >= this.#askAt) void this.#ask();
  }

  /** Undefined unless all files are there. */
  #mountedStamps(): string | undefined {
    const { root, mounted } = this.#options;
    const stamps = FILES.map((file) => stampOf(root, join(mounted, file)));
    return stamps.includes(undefined) ? undefined : stamps.join();
  }

  #takeMounted(stamps: string): void {
    if (stamps === this.#stamps) return;
    const { root, mounted, log } = this.#options;
    try {
      const [chain = '', key = '', roots = ''] = FILES.map((file) => textOf(root, join(mounted, file)));
      const certificate = workloadCertificate(chain, key, roots);
      // What was read while it was replaced is read again.
      if (this.#mountedStamps() !== stamps) return;
      this.#stamps = stamps;
      log.info(`the certificate of ${mounted} is in use, until ${text(certificate.until)}`);
      this.#set(certificate);
    } catch (error) {
      this.#tell(
        `the certificate of ${mounted} can not be used, and the one before stays: ${(error as Error).message}`,
      );
    }
  }

  async #ask(): Promise<void> {
    const { authority, ttlMs, file, log } = this.#options;
    if (authority === undefined) return;
    this.#isAsking = true;
    try {
      const proof = this.#isDistrusted && this.#connection.token() !== undefined ? undefined : this.#connection.pair();
      if (proof === undefined && this.#connection.token() === undefined) {
        this.#askAt = this.#now() + EVERY;
        this.#tell(
          'this workload has no certificate, and nothing to ask for one by: put a token into var/run/secrets/tokens/istio-token, or certificates into etc/certs',
        );
        return;
      }
      const question = { target: authority, connection: this.#connection, proof, ttlMs };
      const certificate = await askedCertificate(question);
      file.save(certificate);
      this.#pause = FIRST_PAUSE;
      this.#isDistrusted = false;
      this.#told = '';
      this.#askAt = this.#renewalOf(certificate);
      log.info(
        `the workload has a certificate until ${text(certificate.until)}; another one is asked for at ${text(this.#askAt)}`,
      );
      this.#set(certificate);
    } catch (error) {
      this.#isDistrusted = error instanceof NoCertificateError && error.isDisbelieved && !this.#isDistrusted;
      this.#askAt = this.#now() + this.#pause * (0.5 + Math.random() / 2);
      this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE);
      const rest = this.#current === undefined ? '' : ` The present one holds until ${text(this.#current.until)}.`;
      this.#tell(`the authority at ${authority} gives no certificate: ${(error as Error).message}.${rest}`);
    } finally {
      this.#isAsking = false;
    }
  }

  #set(certificate: WorkloadCertificate): void {
    this.#current = certificate;
    this.#first.resolve();
    for (const listener of this.#listeners) listener(certificate);
  }

  #renewalOf({ from, until }: WorkloadCertificate): number {
    const { grace, jitter } = this.#options;
    const left = grace + jitter * (2 * Math.random() - 1);
    return until - Math.min(1, Math.max(0, left)) * (until - from);
  }

  #tell(message: string): void {
    if (message !== this.#told) this.#options.log.warn(message);
    this.#told = message;
  }

  #now(): number {
    return this.#options.now?.() ?? Date.now();
  }
}

function text(time: number): string {
  return new Date(time).toISOString();
}
