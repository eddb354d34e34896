import { Buffer } from 'node:buffer';
import { constants, createPublicKey, type KeyObject, verify } from 'node:crypto';
import { isJsonObject, type JsonObject, type JsonValue, parsedObject } from '../base/json.ts';

/** A token that is well formed; nothing of it is proven. */
export interface UnverifiedToken {
  readonly header: JsonObject;
  readonly claims: JsonObject;
  readonly signed: string;
  readonly signature: Buffer;
}

/** What a token of an issuer has to say. */
export interface TokenDemand {
  readonly issuer: string;
  /** One of them has to be among those of the token. */
  readonly audiences: readonly string[];
  /** Seconds since 1970. */
  readonly now: number;
}

interface Algorithm {
  readonly hash: string | null;
  readonly kty: string;
  readonly crv?: string;
  readonly isPss?: boolean;
}

/** Signatures alone: a secret that is shared proves nothing, and neither does none. @see RFC 7518 section 3.1, RFC 8037 */
const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  RS256: { hash: 'sha256', kty: 'RSA' },
  RS384: { hash: 'sha384', kty: 'RSA' },
  RS512: { hash: 'sha512', kty: 'RSA' },
  PS256: { hash: 'sha256', kty: 'RSA', isPss: true },
  PS384: { hash: 'sha384', kty: 'RSA', isPss: true },
  PS512: { hash: 'sha512', kty: 'RSA', isPss: true },
  ES256: { hash: 'sha256', kty: 'EC', crv: 'P-256' },
  ES384: { hash: 'sha384', kty: 'EC', crv: 'P-384' },
  ES512: { hash: 'sha512', kty: 'EC', crv: 'P-521' },
  EdDSA: { hash: null, kty: 'OKP', crv: 'Ed25519' },
};

const FORM = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/;
const MOST_CHARACTERS = 16_384;
/** A clock of the issuer may be so far ahead. Seconds. */
const LEEWAY = 300;

/** The parts of a token; undefined when the text is none. */
export function readToken(text: string): UnverifiedToken | undefined {
  const [, head = '', body = '', signature = ''] = text.length > MOST_CHARACTERS ? [] : (FORM.exec(text) ?? []);
  const [header, claims] = [head, body].map((part) => parsedObject(Buffer.from(part, 'base64url').toString('utf8')));
  if (header === undefined || claims === undefined) return undefined;
  return { header, claims, signed: `${head}.${body}`, signature: Buffer.from(signature, 'base64url') };
}

/** What a set of keys has to do with a token. */
export type Signature = 'right' | 'wrong' | 'unknown key';

/** @param keys a set in JSON (RFC 7517) */
export function signatureIn(keys: string, { header, signed, signature }: UnverifiedToken): Signature {
  const { alg, kid } = header;
  const algorithm = typeof alg === 'string' && Object.hasOwn(ALGORITHMS, alg) ? ALGORITHMS[alg] : undefined;
  if (algorithm === undefined) return 'wrong';
  const fitting = keysIn(keys).filter(
    (key) =>
      key['kty'] === algorithm.kty &&
      (algorithm.crv === undefined || key['crv'] === algorithm.crv) &&
      (key['alg'] === undefined || key['alg'] === alg) &&
      (key['use'] === undefined || key['use'] === 'sig') &&
      (kid === undefined || key['kid'] === undefined || key['kid'] === kid),
  );
  if (fitting.length === 0) return 'unknown key';
  return fitting.some((key) => isSigned(key, algorithm, Buffer.from(signed), signature)) ? 'right' : 'wrong';
}

function keysIn(text: string): readonly JsonObject[] {
  const set = parsedObject(text);
  const keys = set === undefined ? [] : (set['keys'] ?? [set]);
  return Array.isArray(keys) ? keys.filter(isJsonObject) : [];
}

function isSigned(jwk: JsonObject, { hash, isPss = false }: Algorithm, bytes: Buffer, signature: Buffer): boolean {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk, format: 'jwk' });
  } catch {
    return false;
  }
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return verify(hash, bytes, { key, dsaEncoding: 'ieee-p1363', ...(isPss ? pss : {}) }, signature);
}

/** What is wrong with the claims of a token; undefined: nothing. @see RFC 7519 section 4.1 */
export function claimProblem({ claims }: UnverifiedToken, { issuer, audiences, now }: TokenDemand): string | undefined {
  const { iss, aud, exp, nbf } = claims;
  if (iss !== issuer) return `its issuer is not ${issuer}`;
  if (typeof exp !== 'number') return 'it never expires (exp), which no token for this may';
  if (exp <= now) return 'it has expired';
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now + LEEWAY)) return 'it does not hold yet (nbf)';
  const named = Array.isArray(aud) ? (aud as readonly JsonValue[]) : [aud];
  if (audiences.some((audience) => named.includes(audience))) return undefined;
  return `it is for none of the audiences ${audiences.join(', ')} (aud)`;
}
