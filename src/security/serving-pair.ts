import { isIpAddress } from '../base/address.ts';
import { newKey } from './algorithms.ts';
import type { AuthorityClock, CertificateAuthority } from './authority.ts';
import { type Issuer, leafCertificate } from './issuer.ts';
import { privateKeyPem } from './pem.ts';
import { publicKeyOf, type SubjectName } from './x509.ts';

/** A certificate for a server, with its key, in PEM. */
export interface Pair {
  readonly chain: string;
  readonly key: string;
}

/** For so long a server's own certificate holds. Milliseconds. */
const TTL_MS = 90 * 24 * 3_600_000;

/** The server's own certificate, of its own authority: another one when that has changed, and when a third of its time is left. */
export class ServingPair {
  readonly #authority: Pick<CertificateAuthority, 'issuer'>;
  readonly #names: () => readonly string[];
  readonly #clock: Pick<AuthorityClock, 'date'>;
  #made: { readonly issuer: Issuer; readonly renewAt: number; readonly pair: Pair } | undefined;

  /** @param names DNS names and addresses, looked at for each certificate */
  constructor(
    authority: Pick<CertificateAuthority, 'issuer'>,
    names: () => readonly string[],
    clock: Pick<AuthorityClock, 'date'>,
  ) {
    this.#authority = authority;
    this.#names = names;
    this.#clock = clock;
  }

  /** The same object as long as it holds; undefined while nothing signs. */
  current(): Pair | undefined {
    const { issuer } = this.#authority;
    const now = this.#clock.date();
    if (issuer === undefined || issuer.until <= now) return this.#made?.pair;
    if (this.#made?.issuer === issuer && now < this.#made.renewAt) return this.#made.pair;
    const key = newKey();
    const names = [...new Set(this.#names())].map(
      (name): SubjectName => (isIpAddress(name) ? { ip: name } : { dns: name }),
    );
    const leaf = leafCertificate(issuer, { publicKey: publicKeyOf(key), names, ttlMs: TTL_MS, now });
    const pair = {
      chain: [leaf, ...issuer.chain].join(''),
      key: privateKeyPem(key),
    };
    this.#made = { issuer, renewAt: now + (2 / 3) * (Math.min(now + TTL_MS, issuer.until) - now), pair };
    return pair;
  }
}
