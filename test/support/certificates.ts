import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
