import { createHash } from 'node:crypto';

/** A token, and whose it is. */
export interface OwnedToken {
  readonly token: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  /** As a time in ISO 8601; in 2100 by default. */
  readonly expires?: string;
}

/** The text of `etc/istio/join-tokens.yaml` with these tokens. */
export function joinTokens(...tokens: readonly OwnedToken[]): string {
  const written = tokens.map(({ token, namespace, serviceAccount, expires = '2100-01-01T00:00:00Z' }) => {
    const sha256 = createHash('sha256').update(token).digest('hex');
    return { sha256, namespace, serviceAccount, expires };
  });
  return JSON.stringify({ tokens: written });
}
