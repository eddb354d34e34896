import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { WorkDir } from './work-dir.ts';

export interface Certificate {
  /** PEM, the leaf alone. */
  readonly chain: string;
  /** PEM. */
  readonly key: string;
}

/** A certificate authority for tests, whose files stand in a directory. Certificates are made by openssl. */
export class TestAuthority {
  /** PEM. */
  readonly root: string;
  readonly #directory: string;
  #issued = 0;

  constructor(directory: string) {
    this.#directory = directory;
    this.#openssl('req', '-x509', ...NEW_KEY, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2', '-subj', '/O=test');
    this.root = readFileSync(join(directory, 'ca.pem'), 'utf8');
  }

  /** @param names subject alternative names as openssl writes them: `URI:spiffe://…`, `DNS:…` */
  issue(...names: readonly string[]): Certificate {
    return this.issueFor(2, ...names);
  }

  /** @param days for how long the certificate holds */
  issueFor(days: number, ...names: readonly string[]): Certificate {
    const name = `leaf-${this.#issued++}`;
    const [key, request, chain, extensions] = ['key', 'csr', 'pem', 'ext'].map((ending) => `${name}.${ending}`) as [
      string,
      string,
      string,
      string,
    ];
    writeFileSync(
      join(this.#directory, extensions),
      `subjectAltName=critical,${names.join()}\nextendedKeyUsage=serverAuth,clientAuth\n`,
    );
    this.#openssl('req', '-new', ...NEW_KEY, '-keyout', key, '-out', request, '-subj', '/');
    const signed = [
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      String(days),
      '-extfile',
      extensions,
    ];
    this.#openssl('x509', '-req', '-in', request, '-out', chain, ...signed);
    const read = (file: string): string => readFileSync(join(this.#directory, file), 'utf8');
    return { chain: read(chain), key: read(key) };
  }

  /** A list of revoked certificates with these in it, in PEM. */
  revocations(...revoked: readonly Certificate[]): string {
    writeFileSync(
      join(this.#directory, 'ca.cnf'),
      '[ca]\ndefault_ca = own\n[own]\ndatabase = index.txt\ndefault_md = sha256\ndefault_crl_days = 2\n',
    );
    writeFileSync(join(this.#directory, 'index.txt'), '');
    const own = ['-config', 'ca.cnf', '-keyfile', 'ca.key', '-cert', 'ca.pem'];
    for (const { chain } of revoked) {
      writeFileSync(join(this.#directory, 'revoked.pem'), chain);
      this.#openssl('ca', ...own, '-revoke', 'revoked.pem');
    }
    this.#openssl('ca', '-gencrl', ...own, '-out', 'crl.pem');
    return readFileSync(join(this.#directory, 'crl.pem'), 'utf8');
  }

  #openssl(...args: string[]): void {
    execFileSync('openssl', args, { cwd: this.#directory, stdio: ['ignore', 'ignore', 'pipe'] });
  }
}

/** A new key, and a request for a certificate with it, in PEM. */
export interface KeyAndRequest {
  readonly key: string;
  readonly csr: string;
}

/**
 * A request as openssl makes it.
 * @param names that it asks for, as openssl writes them: `URI:spiffe://…`
 * @param newKey arguments of openssl that say which key; P-256 by default
 */
export function certificateRequest(names: readonly string[] = [], newKey: readonly string[] = NEW_KEY): KeyAndRequest {
  using dir = new WorkDir('csr');
  const asked = names.length === 0 ? [] : ['-addext', `subjectAltName=${names.join()}`];
  execFileSync('openssl', ['req', '-new', ...newKey, '-keyout', 'key', '-out', 'csr', '-subj', '/', ...asked], {
    cwd: dir.path,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return { key: dir.read('key'), csr: dir.read('csr') };
}

export interface Belief {
  /** PEM; default: those of the answer. */
  readonly roots?: string;
  /** When, in milliseconds since 1970; default: now. */
  readonly at?: number;
  /** Whether every certificate has to be as RFC 5280 wants it, roots too; default true. */
  readonly strict?: boolean;
}

/**
 * Whether openssl believes an answer of an authority: the certificate first, others above it, roots last in one text.
 * @returns what it says against it; undefined: nothing
 */
export function disbelief(answer: readonly string[], belief: Belief = {}): string | undefined {
  const { roots = answer.at(-1) ?? '', at = Date.now(), strict = true } = belief;
  using dir = new WorkDir('verify');
  dir.write('leaf', answer[0] ?? '');
  dir.write('chain', answer.slice(0, -1).join(''));
  dir.write('roots', roots);
  try {
    const time = ['-attime', String(Math.floor(at / 1000))];
    const args = [
      'verify',
      ...(strict ? ['-x509_strict'] : []),
      ...time,
      '-CAfile',
      'roots',
      '-untrusted',
      'chain',
      'leaf',
    ];
    execFileSync('openssl', args, { cwd: dir.path, stdio: 'pipe' });
    return undefined;
  } catch (error) {
    return String((error as { readonly stderr?: Buffer }).stderr ?? error);
  }
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
