import type { CustomAuthorization } from './custom-authorization.ts';
import type { JwtRule } from './jwt-authn.ts';
import type { RbacInput } from './rbac.ts';

/** What those who call a workload, or a gateway, are held to. */
export interface AccessPolicies {
  readonly authorization: RbacInput;
  readonly custom: CustomAuthorization;
  /** In order. */
  readonly tokens: readonly JwtRule[];
}
