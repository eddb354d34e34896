import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AuthorizationPolicy, Rule } from '#generated/config/specs.ts';
import type { Config } from '../../../../src/config/config.ts';
import { httpRbacFilters, tcpRbacFilters } from '../../../../src/envoy/filters/rbac.ts';
import { rbacPolicy } from '../../../../src/envoy/filters/rbac-rule.ts';
import { authorizationPolicies } from '../../../../src/model/authorization.ts';

const CONTEXT = { tcp: false, namespace: 'shop', allow: true, trustDomains: ['cluster.local'] };

function sender(rule: Rule, context = CONTEXT): unknown {
  return rbacPolicy({ ...CONTEXT, ...context, rule })?.principals?.[0];
}
function request(rule: Rule, context = CONTEXT): unknown {
  return rbacPolicy({ ...CONTEXT, ...context, rule })?.permissions?.[0];
}
const identity = (principalName: object) => ({ authenticated: { principalName } });
const anyOf = (...ids: readonly object[]) => ({ andIds: { ids: [{ orIds: { ids } }] } });
const claim = (key: string, stringMatch: object) => ({
  metadata: {
    filter: 'envoy.filters.http.jwt_authn',
    path: [{ key: 'payload' }, { key }],
    value: { stringMatch },
  },
});

test('sources are matched by what they are', () => {
  const cases: readonly (readonly [NonNullable<NonNullable<Rule['from']>[number]['source']>, object])[] = [
    [{ principals: ['cluster.local/ns/a/sa/b'] }, identity({ exact: 'spiffe://cluster.local/ns/a/sa/b' })],
    [{ principals: ['*'] }, identity({ safeRegex: { regex: '.+' } })],
    [{ principals: ['*/sa/b'] }, identity({ safeRegex: { regex: 'spiffe://.*/sa/b' } })],
    [{ principals: ['td/ns/a/*'] }, identity({ prefix: 'spiffe://td/ns/a/' })],
    [{ namespaces: ['team-*'] }, identity({ safeRegex: { regex: '.*/ns/team-.*/.*' } })],
    [{ serviceAccounts: ['b'] }, identity({ safeRegex: { regex: 'spiffe://.+/ns/shop/(.+/|)sa/b(/.+)?' } })],
    [{ serviceAccounts: ['a/b.c'] }, identity({ safeRegex: { regex: 'spiffe://.+/ns/a/(.+/|)sa/b\\.c(/.+)?' } })],
    [{ trustDomains: ['*'] }, identity({ prefix: 'spiffe://' })],
    [{ trustDomains: ['td.example'] }, identity({ prefix: 'spiffe://td.example/' })],
    [{ trustDomains: ['td.*'] }, identity({ safeRegex: { regex: 'spiffe://td\\.[^/]*/.*' } })],
    [{ ipBlocks: ['10.0.0.0/8'] }, { directRemoteIp: { addressPrefix: '10.0.0.0', prefixLen: 8 } }],
    [{ remoteIpBlocks: ['1.2.3.4'] }, { remoteIp: { addressPrefix: '1.2.3.4', prefixLen: 32 } }],
  ];
  for (const [source, expected] of cases) assert.deepEqual(sender({ from: [{ source }] }), anyOf(expected));
});

test('request principals are issuer and subject, of which the issuer may hold slashes', () => {
  const principal = (value: string) => sender({ from: [{ source: { requestPrincipals: [value] } }] });
  const pair = (iss: object, sub: object) => ({
    andIds: { ids: [{ andIds: { ids: [claim('iss', iss), claim('sub', sub)] } }] },
  });
  const any = { safeRegex: { regex: '.+' } };
  assert.deepEqual(principal('https://a/b/me'), pair({ exact: 'https://a/b' }, { exact: 'me' }));
  assert.deepEqual(principal('*'), pair(any, any));
  assert.deepEqual(principal('*/me'), pair(any, { exact: 'me' }));
  assert.deepEqual(principal('*.org/me'), pair({ suffix: '.org' }, { exact: 'me' }));
  assert.deepEqual(principal('iss/*'), pair({ exact: 'iss' }, any));
  assert.deepEqual(principal('iss/m*'), pair({ exact: 'iss' }, { prefix: 'm' }));
  assert.deepEqual(principal('*me'), pair(any, { suffix: 'me' }));
  assert.deepEqual(principal('is*'), pair({ prefix: 'is' }, any));
});

test('operations are matched by host without regard to case, method, path, path template and port', () => {
  const operation = {
    hosts: ['*.example.org'],
    methods: ['P*'],
    paths: ['/a/{*}/b', '/c*'],
    ports: ['80'],
    notPaths: ['/admin'],
  };
  const template = {
    name: 'uri-template',
    typedConfig: {
      '@type': 'type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig',
      pathTemplate: '/a/*/b',
    },
  };
  const or = (...rules: readonly object[]) => ({ orRules: { rules } });
  assert.deepEqual(request({ to: [{ operation }] }), {
    andRules: {
      rules: [
        or({ header: { name: ':authority', stringMatch: { suffix: '.example.org', ignoreCase: true } } }),
        or({ header: { name: ':method', stringMatch: { prefix: 'P' } } }),
        or({ uriTemplate: template }, { urlPath: { path: { prefix: '/c' } } }),
        { notRule: or({ urlPath: { path: { exact: '/admin' } } }) },
        or({ destinationPort: 80 }),
      ],
    },
  });
});

test('conditions hold for every source and operation, after their own terms', () => {
  const rule: Rule = {
    from: [{ source: { namespaces: ['a'] } }, {}],
    when: [
      { key: 'request.headers[x-token]', values: ['*'], notValues: ['bad*'] },
      { key: 'request.auth.claims[group][name]', values: ['x'] },
      { key: 'destination.port', values: ['1'] },
    ],
  };
  const found = rbacPolicy({ ...CONTEXT, rule });
  assert.equal(found?.principals?.length, 2);
  const ids = found?.principals?.[1]?.andIds?.ids ?? [];
  assert.deepEqual(ids[0], { orIds: { ids: [{ header: { name: 'x-token', presentMatch: true } }] } });
  assert.deepEqual(ids[1], {
    notId: { orIds: { ids: [{ header: { name: 'x-token', stringMatch: { prefix: 'bad' } } }] } },
  });
  assert.deepEqual(ids[2]?.metadata?.path, [{ key: 'payload' }, { key: 'group' }, { key: 'name' }]);
  assert.deepEqual(found?.permissions, [{ andRules: { rules: [{ orRules: { rules: [{ destinationPort: 1 }] } }] } }]);
});

test('a condition on metadata of a filter looks in lists where the value is in brackets', () => {
  const rule: Rule = { when: [{ key: 'experimental.envoy.filters.a.b[c]', values: ['[v]', 'w'] }] };
  const found = rbacPolicy({ ...CONTEXT, rule })?.permissions?.[0]?.andRules?.rules?.[0]?.metadata;
  assert.deepEqual(found, {
    filter: 'envoy.filters.a.b',
    path: [{ key: 'c' }],
    value: {
      orMatch: {
        valueMatchers: [{ listMatch: { oneOf: { stringMatch: { exact: 'v' } } } }, { stringMatch: { exact: 'w' } }],
      },
    },
  });
});

test('on TCP an ALLOW rule that needs HTTP is dropped, and a DENY rule is kept without that part', () => {
  const rule: Rule = { to: [{ operation: { methods: ['GET'], ports: ['80'] } }] };
  assert.equal(rbacPolicy({ ...CONTEXT, tcp: true, rule }), undefined);
  assert.deepEqual(rbacPolicy({ ...CONTEXT, tcp: true, allow: false, rule })?.permissions, [
    { andRules: { rules: [{ orRules: { rules: [{ destinationPort: 80 }] } }] } },
  ]);
  const onlyHttp: Rule = { to: [{ operation: { methods: ['GET'] } }] };
  assert.deepEqual(rbacPolicy({ ...CONTEXT, tcp: true, allow: false, rule: onlyHttp })?.permissions, [
    { andRules: { rules: [{ any: true }] } },
  ]);
});

test("an unknown condition drops the rule, whatever the policy's action", () => {
  const rule: Rule = { when: [{ key: 'no.such', values: ['x'] }] };
  assert.equal(rbacPolicy({ ...CONTEXT, allow: false, rule }), undefined);
});

test('principals and trust domains of the mesh hold for all of its trust domains', () => {
  const trustDomains = ['td1', 'td2'];
  const names = (source: object) => sender({ from: [{ source }] }, { ...CONTEXT, trustDomains });
  const both = anyOf(identity({ exact: 'spiffe://td1/ns/a/sa/b' }), identity({ exact: 'spiffe://td2/ns/a/sa/b' }));
  assert.deepEqual(names({ principals: ['td2/ns/a/sa/b'] }), both);
  assert.deepEqual(names({ principals: ['cluster.local/ns/a/sa/b'] }), both);
  assert.deepEqual(
    names({ principals: ['foreign/ns/a/sa/b'] }),
    anyOf(identity({ exact: 'spiffe://foreign/ns/a/sa/b' })),
  );
  assert.deepEqual(
    names({ principals: ['*1/ns/a/sa/b'] }),
    anyOf(identity({ safeRegex: { regex: 'spiffe://.*1/ns/a/sa/b' } }), identity({ exact: 'spiffe://td2/ns/a/sa/b' })),
  );
  assert.deepEqual(
    names({ trustDomains: ['td1', 'x'] }),
    anyOf(
      identity({ prefix: 'spiffe://td1/' }),
      identity({ prefix: 'spiffe://td2/' }),
      identity({ prefix: 'spiffe://x/' }),
    ),
  );
});

function policy(name: string, spec: AuthorizationPolicy, annotations = {}): Config<AuthorizationPolicy> {
  return { namespace: 'shop', name, spec, annotations } as Config<AuthorizationPolicy>;
}

const filters = (...all: readonly Config<AuthorizationPolicy>[]) => ({
  policies: authorizationPolicies(all),
  trustDomains: ['cluster.local'],
});

test('what is logged comes before what is denied, and that before what is allowed', () => {
  const rules: readonly Rule[] = [{}];
  const all = filters(
    policy('a', { rules }),
    policy('d', { rules, action: 'DENY' }),
    policy('l', { rules, action: 'AUDIT' }),
  );
  const action = ({ typedConfig }: { readonly typedConfig?: { readonly [key: string]: unknown } | undefined }) =>
    JSON.stringify(typedConfig?.['rules']).match(/"action":"(\w+)"/)?.[1] ?? 'ALLOW';
  assert.deepEqual(httpRbacFilters(all).map(action), ['LOG', 'DENY', 'ALLOW']);
  assert.deepEqual(tcpRbacFilters(all).map(action), ['LOG', 'DENY', 'ALLOW']);
});

test('a policy without rules allows nothing', () => {
  const [filter] = httpRbacFilters(filters(policy('none', {})));
  assert.deepEqual(filter?.typedConfig?.['rules'], {
    policies: {
      'ns[shop]-policy[none]-rule[0]': {
        permissions: [{ notRule: { any: true } }],
        principals: [{ notId: { any: true } }],
      },
    },
  });
});

test('a dry run is only watched, under the name that traces look for', () => {
  const dry = policy('dry', { rules: [{}], action: 'DENY' }, { 'istio.io/dry-run': 'true' });
  const [filter] = httpRbacFilters(filters(dry));
  assert.equal(filter?.typedConfig?.['rules'], undefined);
  assert.equal(filter?.typedConfig?.['shadowRulesStatPrefix'], 'istio_dry_run_deny_');
  assert.ok(filter?.typedConfig?.['shadowRules']);
});
