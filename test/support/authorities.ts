import { execFileSync } from 'node:child_process';
import { WorkDir } from './work-dir.ts';

export interface AuthorityKind {
  /** For how long its certificate holds; below zero: it has expired. */
  readonly days: number;
  readonly pathLength?: number;
}

/** The files of an authority that is plugged in, in PEM. */
export interface PluggedIn {
  readonly certificate: string;
  readonly key: string;
  /** Its own certificate and those above it. */
  readonly chain: string;
  readonly roots: string;
}

/**
 * Puts an authority there in Istio's layout, a file after another, the key first.
 * @param dir writes each file; in another way than its own where it has to
 * @param at a directory
 */
export function plugIn(
  dir: Pick<WorkDir, 'write'>,
  { certificate, key, chain, roots }: PluggedIn,
  at: string = 'etc/cacerts',
): void {
  dir.write(`${at}/ca-key.pem`, key);
  dir.write(`${at}/ca-cert.pem`, certificate);
  dir.write(`${at}/cert-chain.pem`, chain);
  dir.write(`${at}/root-cert.pem`, roots);
}

/** An authority made by openssl, with those that it has made below it. */
export class SigningAuthority {
  readonly name: string;
  /** PEM. */
  readonly certificate: string;
  readonly key: string;
  readonly #dir: WorkDir;
  readonly #above: SigningAuthority | undefined;

  constructor(name: string, kind: AuthorityKind, above?: SigningAuthority) {
    this.#dir = above === undefined ? new WorkDir('authorities') : above.#dir;
    this.#above = above;
    this.name = name;
    const limit = kind.pathLength === undefined ? '' : `,pathlen:${kind.pathLength}`;
    const extensions = `basicConstraints=critical,CA:true${limit}\nkeyUsage=critical,keyCertSign,cRLSign\n`;
    this.#make(name, kind.days, extensions);
    this.certificate = this.#dir.read(`${name}.crt`);
    this.key = this.#dir.read(`${name}.key`);
  }

  intermediate(name: string, kind: AuthorityKind): SigningAuthority {
    return new SigningAuthority(name, kind, this);
  }

  /** The certificate of a server, and its key. */
  leaf(name: string): Pick<PluggedIn, 'certificate' | 'key'> {
    const leaf = new SigningAuthority(name, { days: 5 }, this);
    leaf.#make(name, 5, 'basicConstraints=critical,CA:false\n');
    return { certificate: this.#dir.read(`${name}.crt`), key: this.#dir.read(`${name}.key`) };
  }

  files(): PluggedIn {
    const path: SigningAuthority[] = [];
    for (let at: SigningAuthority | undefined = this; at !== undefined; at = at.#above) path.push(at);
    const chain = path.map(({ certificate }) => certificate).join('');
    return { certificate: this.certificate, key: this.key, chain, roots: path.at(-1)?.certificate ?? '' };
  }

  [Symbol.dispose](): void {
    this.#dir[Symbol.dispose]();
  }

  #make(name: string, days: number, extensions: string): void {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', `${name}.key`];
    this.#dir.write('ext', extensions);
    this.#openssl('req', ...key, '-subj', `/CN=${name}`, '-out', `${name}.csr`);
    const above = this.#above?.name;
    const signer =
      above === undefined ? ['-signkey', `${name}.key`] : ['-CA', `${above}.crt`, '-CAkey', `${above}.key`];
    const serial = above === undefined ? [] : ['-CAcreateserial'];
    const validity = ['-days', String(days)];
    this.#openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      ...signer,
      ...serial,
      ...validity,
      '-extfile',
      'ext',
      '-out',
      `${name}.crt`,
    );
  }

  #openssl(...args: readonly string[]): string {
    return execFileSync('openssl', args, { cwd: this.#dir.path, stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
  }
}
