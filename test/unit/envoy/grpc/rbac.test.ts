import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorizationPolicy } from '#generated/config/specs.ts';
import type { Config } from '../../../../src/config/config.ts';
import { grpcRbacFilters } from '../../../../src/envoy/grpc/rbac.ts';
import { authorizationPolicies } from '../../../../src/model/authorization.ts';
import { object } from '../../../support/mesh-fixture.ts';

const policy = (name: string, spec: AuthorizationPolicy, annotations = {}): Config<AuthorizationPolicy> => ({
  ...(object('AuthorizationPolicy', name, { ...spec }) as Config<AuthorizationPolicy>),
  annotations,
});
const filters = (...policies: readonly Config<AuthorizationPolicy>[]) =>
  grpcRbacFilters({ policies: authorizationPolicies(policies), trustDomains: ['cluster.local'] }).map(
    ({ name, typedConfig }) => ({ name, rules: typedConfig?.['rules'] as Record<string, Record<string, unknown>> }),
  );
const from = (account: string) => [{ source: { principals: [`cluster.local/ns/default/sa/${account}`] } }];

test('what is denied is looked at before what is allowed, each rule under its own name', () => {
  const [deny, allow, ...more] = filters(
    policy('a', { action: 'ALLOW', rules: [{ from: from('one') }, { from: from('two') }] }),
    policy('d', { action: 'DENY', rules: [{ from: from('three') }] }),
  );
  assert.deepEqual(more, []);
  assert.equal(deny?.name, 'envoy.filters.http.rbac.DENY');
  assert.equal(deny?.rules['action'], 'DENY');
  assert.deepEqual(Object.keys(deny?.rules['policies'] ?? {}), ['default-d-0']);
  assert.equal(allow?.name, 'envoy.filters.http.rbac');
  assert.equal(allow?.rules['action'], undefined);
  assert.deepEqual(Object.keys(allow?.rules['policies'] ?? {}), ['default-a-0', 'default-a-1']);
});

test('a policy that allows nothing lets nothing through', () => {
  const [allow] = filters(policy('nothing', { action: 'ALLOW' }));
  const [only] = Object.values(allow?.rules['policies'] ?? {});
  assert.deepEqual(only, {
    permissions: [{ notRule: { any: true } }],
    principals: [{ notId: { any: true } }],
  });
});

test('a rule that can not be looked at lets nothing through', () => {
  const [allow] = filters(policy('odd', { action: 'ALLOW', rules: [{ when: [{ key: 'no.such', values: ['x'] }] }] }));
  assert.deepEqual(Object.keys(allow?.rules['policies'] ?? {}), ['nothing']);
});

test('policies on trial, and those that only log or ask somebody else, are not enforced', () => {
  const rules = [{ from: from('one') }];
  const trial = policy('trial', { action: 'ALLOW', rules }, { 'istio.io/dry-run': 'true' });
  const deny = policy('deny', { action: 'DENY', rules }, { 'istio.io/dry-run': 'true' });
  assert.deepEqual(filters(trial, deny, policy('log', { action: 'AUDIT', rules })), []);
});

test('a template of a path is a regular expression, wherever it stands in a rule', () => {
  const to = [{ operation: { paths: ['/pkg.{*}/Get', '/a.b/{**}'], notPaths: ['/pkg.Admin/{*}'] } }];
  const [deny] = filters(policy('paths', { action: 'DENY', rules: [{ to }] }));
  const text = JSON.stringify(deny?.rules);
  assert.doesNotMatch(text, /uriTemplate/);
  assert.deepEqual(
    [...text.matchAll(/"regex":"([^"]*)"/g)].map(([, regex]) => JSON.parse(`"${regex}"`)),
    ['/pkg\\.[^/]+/Get', '/a\\.b/.*', '/pkg\\.Admin/[^/]+'],
  );
});
