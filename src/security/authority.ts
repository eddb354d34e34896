import { certificatesIn } from '../base/certificate.ts';
import type { CertificateRequest } from './csr.ts';
import { type GeneratedOptions, GeneratedRoot } from './generated.ts';
import { type Issuer, leafCertificate } from './issuer.ts';
import { type AuthorityFiles, type FileProblem, type ReadFile, readAuthority } from './plugged-in.ts';
import type { SubjectName } from './x509.ts';

/** What is used of a clock. */
export interface AuthorityClock {
  /** Milliseconds, never going back. */
  now(): number;
  /** Milliseconds since 1970. */
  date(): number;
  /** Calls back after `ms`; the returned function cancels. */
  after(ms: number, callback: () => void): () => void;
}

export interface AuthorityOptions {
  readonly read: ReadFile;
  /** Where an authority may be plugged in; the first place that has one counts. */
  readonly places: readonly AuthorityFiles[];
  /** Undefined: no root may be made, as it could not be kept. */
  readonly generated: GeneratedOptions | undefined;
  /** Whether a root is made, or read, when the first certificate is asked for instead of at the start; default false. */
  readonly isLazy?: boolean;
  /** How long a certificate holds whose request does not say. Milliseconds. */
  readonly defaultTtlMs: number;
  /** The longest that may be asked for. Milliseconds. */
  readonly maxTtlMs: number;
  /** How often is looked whether the own root has to be renewed. Milliseconds; 0 and less: never. */
  readonly checkMs: number;
  readonly clock: AuthorityClock;
  /** Told when the issuer, or what is wrong, has changed. */
  readonly changed: () => void;
  /**
   * How long files may be wrong, after they were right, before that is a problem: a key and its certificate are seldom
   * replaced in one step. Milliseconds, 2,000 by default.
   */
  readonly patienceMs?: number;
}

/** Kinds of refusals. @see istio/istio security/pkg/pki/error/error.go */
export type SigningFailure = 'CA_NOT_READY' | 'CSR_ERROR' | 'TTL_ERROR' | 'CERT_GEN_ERROR';

/** Why no certificate is made. */
export class SigningError extends Error {
  override readonly name: string = 'SigningError';
  readonly failure: SigningFailure;

  constructor(failure: SigningFailure, message: string) {
    super(message);
    this.failure = failure;
  }
}

/** For whom a certificate is, and for how long. */
export interface Wish {
  readonly names: readonly SubjectName[];
  /** Milliseconds; 0 and less: the default. */
  readonly ttlMs: number;
}

/**
 * Signs certificates, with an authority that is plugged in as files, or with a root of its own. Files are read again when
 * `look` is called; what is wrong with them changes nothing but `problem`.
 */
export class CertificateAuthority {
  readonly #options: Required<AuthorityOptions>;
  readonly #generated: GeneratedRoot | undefined;
  #issuer: Issuer | undefined;
  /** Where the issuer was read; undefined: it is the own root. */
  #files: AuthorityFiles | undefined;
  #problem: FileProblem | undefined;
  #wrongSince: number | undefined;
  #cancelPatience: () => void = () => {};
  #cancelCheck: () => void = () => {};
  #isClosed = false;

  constructor(options: AuthorityOptions) {
    this.#options = { patienceMs: 2000, isLazy: false, ...options };
    this.#generated = options.generated && new GeneratedRoot(options.generated, options.read);
  }

  /** Undefined as long as there is nothing to sign with. */
  get issuer(): Issuer | undefined {
    return this.#issuer;
  }

  /** Where the certificate of the issuer stands. */
  get file(): string {
    return this.#files?.certificate ?? this.#generated?.file ?? '';
  }

  /** All files that an authority may be plugged in as, whether or not they are there. */
  get paths(): readonly string[] {
    return this.#options.places.flatMap(({ certificate, key, roots, chain }) => [certificate, key, roots, chain]);
  }

  get problem(): FileProblem | undefined {
    return this.#problem;
  }

  /** Reads what is there, or makes a root. Where that takes time `changed` tells of its end. */
  start(): void {
    const found = this.#pluggedIn();
    if (found === undefined) {
      if (!this.#options.isLazy) this.#startGenerated();
    } else if (isProblem(found.read)) this.#problem = found.read;
    else this.#take(found.read, found.files);
    this.#planCheck();
  }

  /** Looks at the files again. */
  look(): void {
    if (this.#isClosed) return;
    const found = this.#pluggedIn();
    if (found === undefined && this.#files === undefined) {
      this.#recover();
      return;
    }
    this.#cancelPatience();
    const problem = found === undefined ? this.#gone() : isProblem(found.read) ? found.read : this.#foreign(found);
    if (problem !== undefined) this.#complain(problem);
    else if (found !== undefined && !isProblem(found.read)) this.#replace(found.read, found.files);
  }

  /**
   * A certificate, the authorities above it, and the roots in one text, in PEM.
   * @throws SigningError
   */
  issue(
    { publicKey, hasCommonName }: Pick<CertificateRequest, 'publicKey' | 'hasCommonName'>,
    wish: Wish,
  ): readonly string[] {
    const { clock, defaultTtlMs, maxTtlMs } = this.#options;
    const { names, ttlMs } = wish;
    const issuer = this.#issuer ?? this.#madeNow();
    if (issuer === undefined) throw new SigningError('CA_NOT_READY', 'there is nothing to sign with yet');
    if (ttlMs > maxTtlMs) {
      throw new SigningError(
        'TTL_ERROR',
        `a certificate for ${ttlMs / 1000} s is asked for, and ${maxTtlMs / 1000} s are the longest (MAX_WORKLOAD_CERT_TTL)`,
      );
    }
    const now = clock.date();
    if (issuer.until <= now)
      throw new SigningError('CERT_GEN_ERROR', `what signs has expired on ${new Date(issuer.until).toISOString()}`);
    const leaf = leafCertificate(issuer, {
      publicKey,
      names,
      withCommonName: hasCommonName,
      ttlMs: ttlMs > 0 ? ttlMs : Math.min(defaultTtlMs, maxTtlMs),
      now,
    });
    return [leaf, ...issuer.chain, issuer.roots];
  }

  close(): void {
    this.#isClosed = true;
    this.#cancelPatience();
    this.#cancelCheck();
  }

  #pluggedIn(): Found | undefined {
    const { places, read, clock } = this.#options;
    for (const files of places) {
      const found = readAuthority(files, read, clock.date());
      if (found === undefined) continue;
      if (isProblem(found)) return { files, read: found };
      return { files, read: { ...found, roots: found.roots + (this.#generated?.roots(clock.date()) ?? '') } };
    }
    return undefined;
  }

  #startGenerated(): void {
    const generated = this.#generated;
    if (generated === undefined) return;
    const now = this.#options.clock.date();
    this.#attempt(() => {
      const found = generated.exists ? generated.load(now) : generated.make(now);
      if (!(found instanceof Promise)) {
        if (isProblem(found)) this.#problem = found;
        else this.#take(found, undefined);
        return;
      }
      void found.then(
        (issuer) => {
          if (this.#isClosed || this.#issuer !== undefined) return;
          this.#take(issuer, undefined);
          this.#options.changed();
        },
        (error: unknown) => this.#failed(error),
      );
    });
  }

  /** Nothing is plugged in, and nothing was: what was wrong about it is gone, too. */
  #recover(): void {
    if (this.#issuer !== undefined) return;
    this.#problem = undefined;
    if (!this.#options.isLazy) this.#startGenerated();
    this.#options.changed();
  }

  #madeNow(): Issuer | undefined {
    if (!this.#options.isLazy || this.#problem !== undefined) return undefined;
    this.#startGenerated();
    this.#options.changed();
    return this.#issuer;
  }

  #attempt(load: () => void): void {
    try {
      load();
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    const { directory = '' } = this.#options.generated ?? {};
    this.#problem = {
      file: directory,
      message: `the own root can not be kept: ${error instanceof Error ? error.message : error}`,
    };
    this.#options.changed();
  }

  #take(issuer: Issuer, files: AuthorityFiles | undefined): void {
    this.#issuer = issuer;
    this.#files = files;
    this.#problem = undefined;
    this.#wrongSince = undefined;
  }

  #replace(issuer: Issuer, files: AuthorityFiles | undefined): void {
    const isSame = this.#issuer !== undefined && contentOf(this.#issuer) === contentOf(issuer);
    const isNews = !isSame || this.#problem !== undefined;
    this.#take(isSame && this.#issuer !== undefined ? this.#issuer : issuer, files);
    if (isNews) this.#options.changed();
  }

  #complain(problem: FileProblem): void {
    const { clock, patienceMs, changed } = this.#options;
    if (this.#issuer !== undefined && this.#problem === undefined) {
      this.#wrongSince ??= clock.now();
      const rest = this.#wrongSince + patienceMs - clock.now();
      if (rest > 0) {
        this.#cancelPatience = clock.after(Math.ceil(rest), () => this.look());
        return;
      }
    }
    this.#wrongSince = undefined;
    const stays = this.#issuer === undefined ? '' : '; the authority from before stays in force';
    const told = { file: problem.file, message: problem.message + stays };
    if (told.file === this.#problem?.file && told.message === this.#problem.message) return;
    this.#problem = told;
    changed();
  }

  #gone(): FileProblem {
    const file = this.#files?.certificate ?? '';
    return { file, message: 'the authority that was plugged in is gone: put its files back' };
  }

  /** Roots change step by step, so that no workload meets a certificate whose root it does not know. */
  #foreign({ files, read }: Found): FileProblem | undefined {
    // Beside the own root, which stays, another one may come.
    if (this.#issuer === undefined || this.#files === undefined || isProblem(read)) return undefined;
    const before = fingerprints(this.#issuer.roots);
    const now = fingerprints(read.roots);
    if (before.isSubsetOf(now) || now.isSubsetOf(before)) return undefined;
    const message =
      'it lacks roots that are in force and has others, so that proxies could not verify each other: put the new root beside the old one first, and take the old one away when all certificates were renewed';
    return { file: files.roots, message };
  }

  #planCheck(): void {
    const { checkMs, clock } = this.#options;
    if (checkMs <= 0) return;
    this.#cancelCheck = clock.after(Math.min(checkMs, LONGEST_WAIT_MS), () => {
      this.#check();
      this.#planCheck();
    });
  }

  #check(): void {
    if (this.#files !== undefined || this.#generated === undefined || this.#issuer === undefined) {
      this.look();
      return;
    }
    const generated = this.#generated;
    this.#attempt(() => {
      const found = generated.load(this.#options.clock.date());
      if (isProblem(found)) this.#complain(found);
      else this.#replace(found, undefined);
    });
  }
}

/** A timer can not wait longer. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

interface Found {
  readonly files: AuthorityFiles;
  readonly read: Issuer | FileProblem;
}

function isProblem(found: Issuer | FileProblem): found is FileProblem {
  return 'message' in found;
}

function contentOf({ certificate, roots, chain }: Issuer): string {
  return [certificate.fingerprint256, roots, chain.join('')].join();
}

function fingerprints(roots: string): ReadonlySet<string> {
  return new Set(certificatesIn(roots).map(({ fingerprint256 }) => fingerprint256));
}
