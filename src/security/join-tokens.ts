import { Buffer } from 'node:buffer';
import { createHash, timingSafeEqual } from 'node:crypto';

/** A token by which a workload proves once and again who it is. The token itself is nowhere but with the workload. */
export interface JoinToken {
  /** SHA-256 of the token, in hexadecimal digits. */
  readonly sha256: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Milliseconds since 1970. */
  readonly expires: number;
}

/** Characters: shorter ones could be guessed from what is kept of them. */
export const LEAST_TOKEN_LENGTH = 32;
const MOST_TOKEN_LENGTH = 1024;

/**
 * Whose token it is. Every token takes as long.
 *
 * @param now milliseconds since 1970
 * @returns undefined when it is nobody's, or was
 */
export function ownerOf(token: string, tokens: readonly JoinToken[], now: number): JoinToken | undefined {
  if (token.length < LEAST_TOKEN_LENGTH || token.length > MOST_TOKEN_LENGTH) return undefined;
  const hash = createHash('sha256').update(token).digest();
  let found: JoinToken | undefined;
  for (const one of tokens) {
    const isIt = timingSafeEqual(hash, Buffer.from(one.sha256, 'hex'));
    if (isIt && one.expires > now) found = one;
  }
  return found;
}
