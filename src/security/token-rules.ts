import { workloadIdentity } from '../base/spiffe.ts';
import { claimProblem, readToken, signatureIn, type UnverifiedToken } from './jwt.ts';

/** Tokens of one issuer that prove who workloads are. */
export interface TokenRule {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly keys: TokenKeys;
}

/** The keys of an issuer. */
export interface TokenKeys {
  /** As a set in JSON; undefined while there are none. */
  current(): string | undefined;
  /** Looks for them again: a token has a key that is not among them. Resolves when that is done, or was just now. */
  renew(): Promise<void>;
}

/** Whose a token is, or why it is nobody's. */
export type TokenVerdict =
  | { readonly namespace: string; readonly serviceAccount: string; readonly trustDomain?: string }
  | { readonly problem: string };

/**
 * Whose a token is.
 *
 * @param now seconds since 1970
 * @returns undefined when the text is no token of a known issuer
 * @see istio/istio security/pkg/server/ca/authenticate/oidc.go
 */
export async function tokenVerdict(
  text: string,
  rules: readonly TokenRule[],
  now: number,
): Promise<TokenVerdict | undefined> {
  const token = readToken(text);
  const rule = token && rules.find(({ issuer }) => issuer === token.claims['iss']);
  if (token === undefined || rule === undefined) return undefined;
  const problem = claimProblem(token, { ...rule, now });
  if (problem !== undefined) return { problem };
  const signature = await signatureOf(token, rule.keys);
  return signature ?? accountOf(token);
}

/** @returns why it is not signed; undefined: it is */
async function signatureOf(token: UnverifiedToken, keys: TokenKeys): Promise<{ readonly problem: string } | undefined> {
  const known = keys.current();
  let found = known === undefined ? 'unknown key' : signatureIn(known, token);
  if (found === 'unknown key') {
    await keys.renew();
    const now = keys.current();
    if (now === undefined) return { problem: 'the keys of its issuer can not be had' };
    found = signatureIn(now, token);
  }
  return found === 'right' ? undefined : { problem: 'it is not signed by a key of its issuer' };
}

const KUBERNETES = /^system:serviceaccount:([\w.-]+):([\w.-]+)$/;

function accountOf({ claims }: UnverifiedToken): TokenVerdict {
  const subject = typeof claims['sub'] === 'string' ? claims['sub'] : '';
  const [, namespace, serviceAccount] = KUBERNETES.exec(subject) ?? [];
  if (namespace !== undefined && serviceAccount !== undefined) return { namespace, serviceAccount };
  return (
    workloadIdentity(subject) ?? {
      problem: 'its subject is neither system:serviceaccount:NAMESPACE:ACCOUNT nor the SPIFFE ID of a workload (sub)',
    }
  );
}
