import type { JWTRule, RequestAuthentication } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { RequestAuthentication as schema } from '../schema/request-authentication.ts';
import { jwksFindings } from './jwks.ts';
import { targetedFindings } from './selectors.ts';

/** What no header has: Envoy refuses a whole listener for it. */
const BREAKS = /[\0\r\n]/;

/** @see istio/istio pkg/config/validation/validation.go `validateJwtRule` */
function* jwtRuleFindings(at: Place, rule: JWTRule): Generator<Finding> {
  const { issuer = '', jwksUri = '', jwks = '' } = rule;
  if (issuer === '' && jwksUri === '') yield at.error('needs "issuer", or "jwksUri" for tokens of any issuer');
  if (jwksUri !== '' && !(/^https?:/i.test(jwksUri) && URL.canParse(jwksUri))) {
    yield at.at('jwksUri').error(`"${jwksUri}" must be a URL that begins with https:// or http://`);
  }
  for (const [i, { name, prefix = '' }] of (rule.fromHeaders ?? []).entries()) {
    if (BREAKS.test(name)) yield at.at('fromHeaders', i, 'name').error('a header has no line breaks in its name');
    if (BREAKS.test(prefix)) yield at.at('fromHeaders', i, 'prefix').error('a header has no line breaks');
  }
  if (BREAKS.test(rule.outputPayloadToHeader ?? '')) {
    yield at.at('outputPayloadToHeader').error('a header has no line breaks in its name');
  }
  if (jwks !== '') yield* jwksFindings(at.at('jwks'), jwks);
  if (jwks !== '' && jwksUri !== '') yield at.at('jwks').error('only one of jwks and jwksUri may be set');
}

export const REQUEST_AUTHENTICATION: KindDefinition<RequestAuthentication> = defineKind({
  group: 'security.istio.io',
  versions: ['v1', 'v1beta1'],
  kind: 'RequestAuthentication',
  plural: 'requestauthentications',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, at }) {
    yield* targetedFindings(at(), spec);
    for (const [i, rule] of (spec.jwtRules ?? []).entries()) yield* jwtRuleFindings(at('jwtRules', i), rule);
  },
});
