import { bool, bounded, duration, type Enum, enumeration, list, type Message, message, one, string } from './schema.ts';
import { PolicyTargetReference, PolicyWorkloadSelector } from './selector.ts';

export const JWTHeader: Message = message('JWTHeader', 'A header with a token.', {
  name: one(bounded(string, { minLength: 1 }), 'Its name.', { required: true }),
  prefix: one(string, 'What stands before the token, as `Bearer `.'),
});

export const ClaimToHeader: Message = message('ClaimToHeader', 'A claim that goes on in a header.', {
  header: one(bounded(string, { minLength: 1, pattern: '^[-_A-Za-z0-9]+$' }), 'The header.', { required: true }),
  claim: one(bounded(string, { minLength: 1 }), 'The claim; a dot leads into an object.', { required: true }),
});

export const JWTRequirement: Enum = enumeration('JWTRequirement', 'Whether a token must be there.', [
  'OPTIONAL',
  'REQUIRED',
]);

export const JWTRule: Message = message('JWTRule', 'Tokens of one issuer.', {
  issuer: one(bounded(string, { minLength: 1 }), 'Who issued the token.'),
  audiences: list(bounded(string, { minLength: 1 }), 'Audiences, one of which the token must have. None: any.'),
  jwksUri: one(bounded(string, { minLength: 1, maxLength: 2048 }), "URL of the issuer's keys."),
  jwks: one(string, "The issuer's keys."),
  fromHeaders: list(
    JWTHeader,
    'Headers that the token may stand in. None, nor other places: Authorization and `access_token`.',
  ),
  fromParams: list(bounded(string, { minLength: 1 }), 'Query parameters that the token may stand in.'),
  outputPayloadToHeader: one(string, "Header in which the token's content goes on, in base64url."),
  fromCookies: list(bounded(string, { minLength: 1 }), 'Cookies that the token may stand in.'),
  forwardOriginalToken: one(bool, 'Let the token go on.'),
  outputClaimToHeaders: list(ClaimToHeader, 'Claims that go on in headers.'),
  timeout: one(bounded(duration, { min: 1 }), 'How long fetching the keys may take. Default 5s.'),
  spaceDelimitedClaims: list(bounded(string, { minLength: 1 }), 'Claims whose text is a list with spaces.', {
    maxItems: 64,
  }),
  presence: one(JWTRequirement, 'Whether a token must be there.'),
});

export const RequestAuthentication: Message = message(
  'RequestAuthentication',
  'Which tokens are accepted. Requests without one pass: an AuthorizationPolicy demands it.',
  {
    selector: one(PolicyWorkloadSelector, 'Workloads that it is for. None: all of the namespace.'),
    targetRef: one(PolicyTargetReference, 'Gateway or service that it is for.'),
    targetRefs: list(PolicyTargetReference, 'Gateways or services that it is for.', { maxItems: 16 }),
    jwtRules: list(JWTRule, 'Issuers.', { maxItems: 4096 }),
  },
);
