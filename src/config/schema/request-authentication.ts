import { bool, bounded, duration, list, type Message, message, one, string } from './schema.ts';
import { PolicyTargetReference, PolicyWorkloadSelector } from './selector.ts';

export const JWTHeader: Message = message('JWTHeader', '', {
  name: one(bounded(string, { minLength: 1 }), '', { required: true }),
  prefix: one(string, ''),
});

export const ClaimToHeader: Message = message('ClaimToHeader', '', {
  header: one(bounded(string, { minLength: 1, pattern: '^[-_A-Za-z0-9]+$' }), '', { required: true }),
  claim: one(bounded(string, { minLength: 1 }), '', { required: true }),
});

export const JWTRule: Message = message('JWTRule', '', {
  issuer: one(bounded(string, { minLength: 1 }), ''),
  audiences: list(bounded(string, { minLength: 1 }), ''),
  jwksUri: one(bounded(string, { minLength: 1, maxLength: 2048 }), ''),
  jwks: one(string, ''),
  fromHeaders: list(JWTHeader, ''),
  fromParams: list(bounded(string, { minLength: 1 }), ''),
  outputPayloadToHeader: one(string, ''),
  fromCookies: list(bounded(string, { minLength: 1 }), ''),
  forwardOriginalToken: one(bool, ''),
  outputClaimToHeaders: list(ClaimToHeader, ''),
  timeout: one(bounded(duration, { min: 1 }), ''),
  spaceDelimitedClaims: list(bounded(string, { minLength: 1 }), '', { maxItems: 64 }),
});

export const RequestAuthentication: Message = message('RequestAuthentication', '', {
  selector: one(PolicyWorkloadSelector, ''),
  targetRef: one(PolicyTargetReference, ''),
  targetRefs: list(PolicyTargetReference, '', { maxItems: 16 }),
  jwtRules: list(JWTRule, '', { maxItems: 4096 }),
});
