import type { JWTRule } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import { packed } from '../../proto/message.ts';

type JwtProvider = envoy.extensions.filters.http.jwt_authn.v3.JwtProvider;
type JwtRequirement = envoy.extensions.filters.http.jwt_authn.v3.JwtRequirement;
type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

/** The keys with which tokens of a rule are checked. */
export type JwtKeys =
  /** A set of keys in JSON; undefined: nobody knows them, and no token is accepted. */
  | { readonly inline: string | undefined }
  /** The proxy fetches them itself. */
  | { readonly uri: string; readonly cluster: string };

/** A rule with its keys. */
export interface JwtRule {
  readonly rule: JWTRule;
  readonly keys: JwtKeys;
}

/** How long fetching keys may take. */
export const JWKS_TIMEOUT = '5s';

const REMOTE_CACHE = '300s';

/** Claims that are lists in one text, whatever a rule says. */
const LISTS: readonly string[] = ['permission', 'scope'];

/**
 * A set with a key whose private part nobody has, so that no token can be signed with it. It stands where keys are not known:
 * Envoy refuses a listener with no key at all, and would let tokens pass unchecked without the filter.
 */
const NOBODYS_KEYS: string = JSON.stringify(
  {
    keys: [
      {
        kty: 'RSA',
        e: 'AQAB',
        n: '0xObjM0UvS_oaazjpEYlAbwctEJ4L8pH3OuTb7qth7gUwqet-EzQB4dgFdvSdMgrLnSncQGRjpEYz3F3viIbH-3EN3TxSlPNviHxeOdyiBVfumN8dMxbLvVJUpfNOnvmMxJcl-8NNjAwcOjk4otSALaYgYYyOPyvKtgVdrQr-FoubWX4yrjxW-MJ2-7OBeepUUNOsVwGV23YX03sVkkyvY3otRflkBcY3_HKpBxJl9wk2GyOShN4_PNUF9-vwfnvOXMbCDX-w4PTef4geeb_GiT40YCKHTKMSPVanGRn5GExIWmki-mmqh94-mPTJyBR74ShspL3BxPZitDL574T1w',
      },
    ],
  },
  undefined,
  2,
);

function keySource(keys: JwtKeys, timeout: string): Pick<JwtProvider, 'localJwks' | 'remoteJwks'> {
  if ('inline' in keys) return { localJwks: { inlineString: keys.inline ?? NOBODYS_KEYS } };
  const { uri, cluster } = keys;
  return { remoteJwks: { httpUri: { uri, cluster, timeout: protoDuration(timeout) }, cacheDuration: REMOTE_CACHE } };
}

function jwtProvider({ rule, keys }: JwtRule, clearRouteCache: boolean): JwtProvider {
  const { issuer, audiences, fromHeaders, fromParams, fromCookies, outputClaimToHeaders } = rule;
  const lists = [...new Set([...LISTS, ...(rule.spaceDelimitedClaims ?? [])])].sort();
  return {
    ...(issuer ? { issuer } : {}),
    ...(audiences?.length ? { audiences } : {}),
    ...(rule.forwardOriginalToken ? { forward: true } : {}),
    ...(rule.outputPayloadToHeader ? { forwardPayloadHeader: rule.outputPayloadToHeader } : {}),
    ...(fromHeaders?.length
      ? {
          fromHeaders: fromHeaders.map(({ name, prefix }) => ({ name, ...(prefix ? { valuePrefix: prefix } : {}) })),
        }
      : {}),
    ...(fromParams?.length ? { fromParams } : {}),
    ...(fromCookies?.length ? { fromCookies } : {}),
    ...(outputClaimToHeaders?.length
      ? { claimToHeaders: outputClaimToHeaders.map(({ header, claim }) => ({ headerName: header, claimName: claim })) }
      : {}),
    payloadInMetadata: 'payload',
    normalizePayloadInMetadata: { spaceDelimitedClaims: lists },
    ...(clearRouteCache ? { clearRouteCache } : {}),
    ...keySource(keys, rule.timeout ?? JWKS_TIMEOUT),
  };
}

const any = (requirements: readonly JwtRequirement[]): JwtRequirement => ({ requiresAny: { requirements } });
const all = (requirements: readonly JwtRequirement[]): JwtRequirement => ({ requiresAll: { requirements } });

/**
 * Each token that comes must be valid, and none need come but those of rules that demand it. Rules that look for tokens in one
 * place would each refuse those of the others; there one valid token is enough, unless another one is demanded.
 */
function requirement(rules: readonly JwtRule[]): JwtRequirement {
  const provider = (index: number): JwtRequirement => ({ providerName: `origins-${index}` });
  const isDemanded = rules.map(({ rule }) => rule.presence === 'REQUIRED');
  const each = rules.map((_, i) => (isDemanded[i] ? provider(i) : any([provider(i), { allowMissing: {} }])));
  const [only] = each;
  if (only !== undefined && each.length === 1) return only;
  const demanded = isDemanded.filter(Boolean).length;
  const enough = rules.flatMap((_, i) => (demanded === 0 || (demanded === 1 && isDemanded[i]) ? [provider(i)] : []));
  return any([...enough, all(each)]);
}

/**
 * The filter that checks tokens: requests with one that is not valid are answered with 401.
 *
 * @param rules in order; none: there is no filter
 * @param clearRouteCache routes may look at claims, so that they are chosen again when these are known
 * @see istio/istio pilot/pkg/security/authn/policy_applier.go `convertToEnvoyJwtConfig`
 */
export function jwtAuthnFilters(rules: readonly JwtRule[], clearRouteCache: boolean): readonly HttpFilter[] {
  if (rules.length === 0) return [];
  return [
    {
      name: 'envoy.filters.http.jwt_authn',
      typedConfig: packed('envoy.extensions.filters.http.jwt_authn.v3.JwtAuthentication', {
        providers: Object.fromEntries(rules.map((rule, i) => [`origins-${i}`, jwtProvider(rule, clearRouteCache)])),
        rules: [{ match: { prefix: '/' }, requires: requirement(rules) }],
        bypassCorsPreflight: true,
      }),
    },
  ];
}
