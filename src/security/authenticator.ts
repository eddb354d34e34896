import { spiffeId, workloadIdentity } from '../base/spiffe.ts';
import { type JoinToken, ownerOf } from './join-tokens.ts';
import { type TokenRule, tokenVerdict } from './token-rules.ts';

/** What a caller shows of itself. */
export interface Credentials {
  /** URIs of a client certificate that was verified against the roots of the mesh; none without one. */
  readonly uris: readonly string[];
  /** The token of `authorization: Bearer …`. */
  readonly token: string | undefined;
}

/** Names of the mesh in identities. */
export interface TrustDomains {
  readonly own: string;
  readonly aliases: readonly string[];
}

export interface AuthenticatorOptions {
  readonly trustDomains: () => TrustDomains;
  readonly joinTokens: () => readonly JoinToken[];
  /** Issuers of tokens (JWT). */
  readonly tokenRules: readonly TokenRule[];
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Who was found to call, or why nobody was. */
export interface Authenticated {
  /** URIs in the trust domain of the mesh; none when nothing is proven. */
  readonly identities: readonly string[];
  /** What is wrong with what was shown, in words; absent when nothing was shown, or it is right. */
  readonly problem?: string;
}

const UNKNOWN_TOKEN: Authenticated = { identities: [], problem: 'its token is unknown, or has expired' };

/**
 * Says who callers are: by their client certificate, else by their token.
 * @see istio/istio pkg/security/authentication.go `Authenticate`
 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** A promise only where keys of a token may have to be fetched. */
  authenticate({ uris, token }: Credentials): Authenticated | Promise<Authenticated> {
    const certified = uris.flatMap((uri) => this.ownIdentity(uri) ?? []);
    if (certified.length > 0) return { identities: certified };
    const foreign = uris.length === 0 ? undefined : this.#foreign(uris);
    if (token === undefined) return { identities: [], ...(foreign && { problem: foreign }) };
    const { joinTokens, tokenRules, now, trustDomains } = this.#options;
    const owner = ownerOf(token, joinTokens(), now());
    if (owner !== undefined)
      return { identities: [spiffeId(trustDomains().own, owner.namespace, owner.serviceAccount)] };
    return tokenRules.length === 0 ? UNKNOWN_TOKEN : this.#issued(token);
  }

  async #issued(token: string): Promise<Authenticated> {
    const { tokenRules, now, trustDomains } = this.#options;
    const verdict = await tokenVerdict(token, tokenRules, now() / 1000);
    if (verdict === undefined) return UNKNOWN_TOKEN;
    if ('problem' in verdict) return { identities: [], problem: `its token can not be taken: ${verdict.problem}` };
    const { own } = trustDomains();
    const { trustDomain = own, namespace, serviceAccount } = verdict;
    const identity = this.ownIdentity(spiffeId(trustDomain, namespace, serviceAccount));
    if (identity !== undefined) return { identities: [identity] };
    return { identities: [], problem: `its token is for the trust domain ${trustDomain}, and this is ${own}` };
  }

  /** The identity as this mesh writes it, which is that of an alias, too; undefined when it is of another mesh. */
  ownIdentity(uri: string): string | undefined {
    const identity = workloadIdentity(uri);
    const { own, aliases } = this.#options.trustDomains();
    if (identity === undefined) return undefined;
    const { trustDomain, namespace, serviceAccount } = identity;
    const isOwn = trustDomain === own || aliases.includes(trustDomain);
    return isOwn ? spiffeId(own, namespace, serviceAccount) : undefined;
  }

  #foreign(uris: readonly string[]): string {
    const { own } = this.#options.trustDomains();
    return `its certificate is for ${uris.slice(0, 3).join(', ')}, which is no workload of the trust domain ${own}`;
  }
}
