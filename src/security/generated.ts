import { createPrivateKey, generateKeyPair, type KeyObject, X509Certificate } from 'node:crypto';
import { chmodSync, closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { certificatesIn, readCertificates } from '../base/certificate.ts';
import { newKey } from './algorithms.ts';
import { CLOCK_SKEW_MS, type Issuer } from './issuer.ts';
import { pem, privateKeyPem } from './pem.ts';
import type { FileProblem, ReadFile } from './plugged-in.ts';
import { certificateParts, distinguishedName, keyIdOf, publicKeyOf, signedCertificate } from './x509.ts';

export interface GeneratedOptions {
  /** Absolute: the working directory. */
  readonly root: string;
  /** Below it. */
  readonly directory: string;
  /** Stands in the subject: the trust domain. */
  readonly organization: () => string;
  /** For how long a root holds. Milliseconds. */
  readonly ttlMs: number;
  /** Percent of that time at whose end a new one is made. */
  readonly gracePercent: number;
  /** Bits of an RSA key; undefined: P-256. */
  readonly rsaBits: number | undefined;
}

const KEY = 'ca-key.pem';
const CERTIFICATE = 'ca-cert.pem';
const ROOTS = 'root-cert.pem';

/** A root of our own, in files that nobody else may read. Renewed before it ends, with its key: what it signed stays right. */
export class GeneratedRoot {
  readonly #options: GeneratedOptions;
  readonly #read: ReadFile;

  constructor(options: GeneratedOptions, read: ReadFile) {
    this.#options = options;
    this.#read = read;
  }

  /** Where its certificate stands. */
  get file(): string {
    return join(this.#options.directory, CERTIFICATE);
  }

  /** Its certificates that still hold, in PEM: what it signed is to be believed when something else signs, too. */
  roots(now: number): string {
    return this.#kept()
      .filter((root) => isHolding(root, now))
      .map(String)
      .join('');
  }

  /** Whether a key was made before. */
  get exists(): boolean {
    return this.#text(KEY) !== undefined || this.#text(CERTIFICATE) !== undefined;
  }

  /**
   * What stands in the files, renewed where it ends soon.
   *
   * @param now milliseconds since 1970
   * @throws Error of the system, when a renewed one can not be written
   */
  load(now: number): Issuer | FileProblem {
    const keyText = this.#text(KEY);
    const certificateText = this.#text(CERTIFICATE);
    if (keyText === undefined)
      return this.#problem(
        KEY,
        'the key of the own root is gone: put it back, or remove the directory to have a new root that no proxy knows yet',
      );
    let key: KeyObject;
    try {
      key = createPrivateKey(keyText);
    } catch {
      return this.#problem(KEY, 'it holds no private key in PEM form: put the one from before back');
    }
    // A process that ended between the two files has left a key alone.
    if (certificateText === undefined) return this.#made(key, now);
    const certificates = readCertificates(certificateText);
    if (typeof certificates === 'string') return this.#problem(CERTIFICATE, certificates);
    const [certificate] = certificates as readonly [X509Certificate];
    if (!certificate.checkPrivateKey(key))
      return this.#problem(
        KEY,
        `the key is not the one of the certificate in ${CERTIFICATE}: put the pair from before back`,
      );
    const until = certificate.validToDate.getTime();
    const life = until - certificate.validFromDate.getTime();
    if (until - now < (life * this.#options.gracePercent) / 100) return this.#made(key, now, certificate);
    return issuerOf(certificate, key, [certificate, ...this.#others(certificate, now)]);
  }

  /**
   * Makes a key and its root.
   *
   * @returns a promise where making the key takes time
   * @throws Error of the system, when it can not be written
   */
  make(now: number): Issuer | Promise<Issuer> {
    const { rsaBits } = this.#options;
    if (rsaBits === undefined) return this.#made(newKey(), now);
    return promisify(generateKeyPair)('rsa', { modulusLength: rsaBits }).then(({ privateKey }) =>
      this.#made(privateKey, now),
    );
  }

  /** @param before whose place the new one takes */
  #made(key: KeyObject, now: number, before?: X509Certificate): Issuer {
    const publicKey = publicKeyOf(key);
    const keyId = keyIdOf(publicKey);
    const commonName = `root ${keyId.subarray(0, 4).toString('hex')}`;
    const name =
      before === undefined
        ? distinguishedName({ organization: this.#options.organization(), commonName })
        : certificateParts(before.raw).subject;
    const der = signedCertificate({
      signer: { name, key, keyId },
      subject: name,
      publicKey,
      from: now - CLOCK_SKEW_MS,
      until: now + this.#options.ttlMs,
      isAuthority: true,
      names: [],
    });
    const certificate = new X509Certificate(der);
    const roots = [certificate, ...(before === undefined ? [] : this.#others(certificate, now, before))];
    this.#write(KEY, privateKeyPem(key));
    this.#write(ROOTS, roots.map(String).join(''));
    this.#write(CERTIFICATE, pem('CERTIFICATE', der));
    return issuerOf(certificate, key, roots);
  }

  /** Earlier roots that still hold. */
  #others(certificate: X509Certificate, now: number, ...more: readonly X509Certificate[]): readonly X509Certificate[] {
    const byPrint = new Map([...more, ...this.#kept()].map((one) => [one.fingerprint256, one]));
    byPrint.delete(certificate.fingerprint256);
    return [...byPrint.values()].filter((root) => isHolding(root, now));
  }

  /** All roots in its file, whether or not they hold. */
  #kept(): readonly X509Certificate[] {
    return certificatesIn(this.#text(ROOTS) ?? '');
  }

  #text(name: string): string | undefined {
    return this.#read(join(this.#options.directory, name));
  }

  #problem(name: string, message: string): FileProblem {
    return { file: join(this.#options.directory, name), message };
  }

  #write(name: string, text: string): void {
    const directory = join(this.#options.root, this.#options.directory);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    chmodSync(directory, 0o700);
    const path = join(directory, name);
    const file = openSync(`${path}.new`, 'w', 0o600);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(`${path}.new`, path);
  }
}

function isHolding({ validToDate }: X509Certificate, now: number): boolean {
  return validToDate.getTime() > now;
}

function issuerOf(certificate: X509Certificate, key: KeyObject, roots: readonly X509Certificate[]): Issuer {
  const until = certificate.validToDate.getTime();
  return {
    certificate,
    key,
    chain: [],
    roots: roots.map(String).join(''),
    until,
    chainUntil: until,
    rootUntil: until,
  };
}
