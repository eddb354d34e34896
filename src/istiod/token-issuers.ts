import { type JsonValue, parsedObject } from '../base/json.ts';
import { usableKeySet } from '../base/json-web-keys.ts';
import type { KeySet, WantedKeySet } from '../config/key-sets.ts';
import type { Environment } from '../process/environment.ts';
import type { Logger } from '../process/log.ts';
import type { TokenKeys, TokenRule } from '../security/token-rules.ts';
import type { JwksSource } from '../sources/jwks.ts';

/** Who issues tokens by which workloads prove who they are, and how their keys are had. */
export interface TokenIssuers {
  readonly rules: readonly TokenRule[];
  close(): void;
}

/** Keys are looked for again at most so often, whatever tokens say. Milliseconds. */
const RENEW_EVERY = 10_000;
const TIMEOUT_MS = 5000;
/** What istiod takes where nothing says. @see istio/istio pkg/security/security.go `TokenAudiences` */
const AUDIENCES = 'istio-ca';

interface WrittenRule {
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly jwksUri: string;
  readonly jwks: string;
}

/**
 * The issuers that Istio's variables name: `JWT_RULE`, a JWTRule in JSON, and `TOKEN_ISSUER` with `AUDIENCE`.
 *
 * @param source fetches keys; made only where some have to be
 * @see istio/istio pilot/pkg/bootstrap/server.go `initOIDC`
 */
export function tokenIssuers(env: Environment, log: Pick<Logger, 'warn'>, source: () => JwksSource): TokenIssuers {
  const written = [...jwtRule(env, log), ...ownIssuer(env)];
  const fetched = written.filter(({ jwks }) => jwks === '').map(wantedOf);
  const known = new Map<string, KeySet>();
  const keys = fetched.length === 0 ? undefined : source();
  keys?.want(fetched, (id, set) => {
    if (set === undefined) known.delete(id);
    else known.set(id, set);
  });
  const keysOf = (rule: WrittenRule): TokenKeys => {
    if (rule.jwks !== '') return { current: () => rule.jwks, renew: async () => undefined };
    const { id } = wantedOf(rule);
    return { current: () => known.get(id)?.keys, renew: async () => keys?.refresh(id, RENEW_EVERY) };
  };
  return {
    rules: written.map((rule) => ({ issuer: rule.issuer, audiences: rule.audiences, keys: keysOf(rule) })),
    close: () => keys?.want([], () => undefined),
  };
}

function wantedOf({ issuer, jwksUri }: WrittenRule): WantedKeySet {
  const isIssuer = jwksUri === '';
  const url = isIssuer ? issuer : jwksUri;
  return { id: `${isIssuer ? 'issuer' : 'keys'} ${url}`, url, isIssuer, timeoutMs: TIMEOUT_MS };
}

function jwtRule(env: Environment, log: Pick<Logger, 'warn'>): readonly WrittenRule[] {
  const text = env['JWT_RULE'] ?? '';
  if (text === '') return [];
  const rule = parsedObject(text);
  const issuer = textOf(rule?.['issuer']);
  const jwks = textOf(rule?.['jwks']);
  const problem =
    issuer === ''
      ? 'is no JWTRule in JSON with an issuer: tokens of no issuer are taken'
      : jwks !== '' && usableKeySet(jwks) === undefined
        ? 'has jwks that are no set of keys: tokens of no issuer are taken'
        : undefined;
  if (problem !== undefined) {
    log.warn(`JWT_RULE ${problem}`);
    return [];
  }
  const audiences = listOf(rule?.['audiences']);
  const jwksUri = textOf(rule?.['jwksUri'] ?? rule?.['jwks_uri']);
  return [{ issuer, audiences: audiences.length > 0 ? audiences : defaultAudiences(env), jwksUri, jwks }];
}

function ownIssuer(env: Environment): readonly WrittenRule[] {
  const issuer = env['TOKEN_ISSUER'] ?? '';
  const audience = env['AUDIENCE'] ?? '';
  if (issuer === '') return [];
  return [{ issuer, audiences: audience === '' ? defaultAudiences(env) : [audience], jwksUri: '', jwks: '' }];
}

function defaultAudiences(env: Environment): readonly string[] {
  return (env['TOKEN_AUDIENCES'] || AUDIENCES).split(',').map((audience) => audience.trim());
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function listOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string' && one !== '') : [];
}
