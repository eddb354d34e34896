import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorizationPolicy } from '#generated/config/specs.ts';
import type { Config } from '../../../../src/config/config.ts';
import {
  type CustomAuthorization,
  httpCustomFilters,
  tcpCustomFilters,
} from '../../../../src/envoy/filters/custom-authorization.ts';
import type { ExternalAuthorizer } from '../../../../src/envoy/filters/ext-authz.ts';

function policy(name: string, provider: string, annotations: Config['annotations'] = {}): Config<AuthorizationPolicy> {
  const spec = { action: 'CUSTOM', provider: { name: provider }, rules: [{}] } as const;
  return { namespace: 'shop', name, annotations, spec } as unknown as Config<AuthorizationPolicy>;
}

const overGrpc: ExternalAuthorizer = { provider: { envoyExtAuthzGrpc: {} }, hostname: 'a', cluster: 'a' };
const overHttp: ExternalAuthorizer = { provider: { envoyExtAuthzHttp: {} }, hostname: 'b', cluster: 'b' };

const custom = (policies: CustomAuthorization['policies'], several = false): CustomAuthorization => ({
  policies,
  several,
  authorizers: new Map([
    ['grpc', overGrpc],
    ['http', overHttp],
  ]),
  trustDomains: ['cluster.local'],
});

/** Filters with the names of the rules that they enforce, and those that they only look at. */
function shown(
  filters: readonly { readonly name?: string | undefined; readonly typedConfig?: object | undefined }[],
): readonly string[] {
  return filters.map(({ name = '', typedConfig }) => {
    const { rules, shadowRules } = typedConfig as Record<string, { readonly policies?: object } | undefined>;
    return [
      name.split('.').at(-1),
      ...Object.keys(rules?.policies ?? {}).map((rule) => `enforces ${rule}`),
      ...Object.keys(shadowRules?.policies ?? {}).map((rule) => `looks at ${rule}`),
    ].join(' ');
  });
}

test('an authorizer is asked about what the rules of its policies match', () => {
  assert.deepEqual(shown(httpCustomFilters(custom([policy('a', 'grpc')]))), [
    'rbac looks at istio-ext-authz-grpc-ns[shop]-policy[a]-rule[0]',
    'ext_authz',
  ]);
  assert.deepEqual(shown(tcpCustomFilters(custom([policy('a', 'grpc')]))), [
    'rbac looks at istio-ext-authz-grpc-ns[shop]-policy[a]-rule[0]',
    'ext_authz',
  ]);
});

test('an authorizer over HTTP has nothing to say about connections', () => {
  assert.equal(httpCustomFilters(custom([policy('a', 'http')])).length, 2);
  assert.deepEqual(tcpCustomFilters(custom([policy('a', 'http')])), []);
});

test('what nobody can be asked about is refused', () => {
  const refused = 'rbac enforces istio-ext-authz-gone-ns[shop]-policy[a]-rule[0]-deny-due-to-bad-CUSTOM-action';
  assert.deepEqual(shown(httpCustomFilters(custom([policy('a', 'gone')]))), [refused]);
  assert.deepEqual(shown(tcpCustomFilters(custom([policy('a', 'gone')]))), [refused]);
});

test('of several authorizers none is asked, unless the operator allows it', () => {
  const both = [policy('b', 'http'), policy('a', 'grpc')];
  const suffix = '-deny-due-to-bad-CUSTOM-action';
  assert.deepEqual(shown(httpCustomFilters(custom(both))), [
    `rbac enforces istio-ext-authz-grpc-ns[shop]-policy[a]-rule[0]${suffix}`,
    `rbac enforces istio-ext-authz-http-ns[shop]-policy[b]-rule[0]${suffix}`,
  ]);
  assert.deepEqual(shown(httpCustomFilters(custom(both, true))), [
    'rbac looks at istio-ext-authz-grpc-ns[shop]-policy[a]-rule[0]',
    'ext_authz',
    'rbac looks at istio-ext-authz-http-ns[shop]-policy[b]-rule[0]',
    'ext_authz',
  ]);
});

test('a dry run refuses nothing and asks nobody', () => {
  const dry = policy('a', 'gone', { 'istio.io/dry-run': 'true' });
  assert.deepEqual(httpCustomFilters(custom([dry])), []);
  assert.equal(httpCustomFilters(custom([dry, policy('b', 'http')])).length, 2);
});
