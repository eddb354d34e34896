import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { GrpcAuthorizer } from '../support/authorizer.ts';
import type { Echo } from '../support/echo-server.ts';
import { type Probe, type ProbeAnswer, probe } from '../support/probe.ts';
import { TextServer } from '../support/text-server.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { GuardedWorkload } from './guarded-workload.ts';

const TIMEOUT_MS = 60_000;

const policy = (name: string, spec: string, annotations = ''): string => `---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: ${name}${annotations && `, annotations: {${annotations}}`}}
spec:
  ${spec.trim().replaceAll('\n', '\n  ')}
`;

/** Asks a workload over HTTP, and with a line over TCP. */
function asking(guarded: GuardedWorkload) {
  const ask = (path = '/', more: Partial<Probe> = {}): Promise<ProbeAnswer> =>
    probe({ to: guarded.http, path, ...more });
  const line = (more: Partial<Probe> = {}): Promise<'passed' | 'refused'> =>
    probe({ to: guarded.tcp, protocol: 'tcp', ...more }).then(
      () => 'passed',
      () => 'refused',
    );
  const status = async (path?: string, more?: Partial<Probe>): Promise<number> => (await ask(path, more)).status;
  return { ask, line, status };
}

test('ALLOW and DENY hold over HTTP and TCP, and a dry run does not', { timeout: TIMEOUT_MS }, async () => {
  await using guarded = await GuardedWorkload.start({
    files: ({ http, tcp }) => ({
      'shop/policies.yaml': [
        policy('deny', `action: DENY\nrules:\n- to: [{operation: {methods: [DELETE], ports: ['${http}']}}]`),
        policy(
          'deny-lines',
          `action: DENY\nrules:\n- to: [{operation: {ports: ['${tcp}']}}]\n  from: [{source: {ipBlocks: [127.0.0.2]}}]`,
        ),
        policy('dry', 'action: DENY\nrules: [{}]', "istio.io/dry-run: 'true'"),
        policy(
          'allow',
          `rules:
- to: [{operation: {paths: [/open/*, '/items/{*}/price'], ports: ['${http}']}}]
- to: [{operation: {hosts: [known.test], ports: ['${http}']}}]
- when: [{key: 'request.headers[x-role]', values: [admin*]}]
- to: [{operation: {ports: ['${tcp}']}}]`,
        ),
      ].join(''),
    }),
  });
  const { line, status } = asking(guarded);
  assert.equal(await status('/open/a'), 200);
  assert.equal(await status('/items/7/price'), 200);
  assert.equal(await status('/items/7/8/price'), 403);
  assert.equal(await status('/other'), 403);
  assert.equal(await status('/other', { host: 'known.test' }), 200);
  assert.equal(await status('/other', { headers: { 'x-role': 'administrator' } }), 200);
  assert.equal(await status('/open/a', { method: 'DELETE' }), 403, 'what is denied is not allowed');
  assert.equal(await line(), 'passed');
  assert.equal(await line({ from: '127.0.0.2' }), 'refused');

  guarded.mesh.write('shop/policies.yaml', policy('nothing', '{}'));
  await waitFor(async () => (await status('/open/a')) === 403, { what: 'refusal of everything' });
  await waitFor(async () => (await line()) === 'refused', { what: 'refusal of lines' });
  assert.equal(await guarded.mesh.envoy.rejected(), 0);
});

test('AUDIT marks requests for the log, and lets them pass', { timeout: TIMEOUT_MS }, async () => {
  using logs = new WorkDir('logs');
  await using guarded = await GuardedWorkload.start({
    mesh: `
accessLogFile: ${logs.at('access.log')}
accessLogFormat: "%REQ(:PATH)% %DYNAMIC_METADATA(envoy.common:access_log_hint)%\\n"
`,
    files: ({ http }) => ({
      'shop/policies.yaml': policy(
        'audit',
        `action: AUDIT\nrules: [{to: [{operation: {paths: [/secret*], ports: ['${http}']}}]}]`,
      ),
    }),
  });
  const { status } = asking(guarded);
  assert.equal(await status('/secret/a'), 200);
  assert.equal(await status('/open'), 200);
  const log = (): string => (existsSync(logs.at('access.log')) ? readFileSync(logs.at('access.log'), 'utf8') : '');
  await waitFor(() => log().includes('/open'), { what: 'access log', withinMs: 20_000 });
  assert.match(log(), /^\/secret\/a true$/m);
  assert.match(log(), /^\/open (?!true)/m);
});

const services = (ports: Readonly<Record<string, number>>): string => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: authorizer}
spec:
  hosts: [authorizer.shop.internal]
  location: MESH_INTERNAL
  resolution: STATIC
  ports:
  - {number: 8000, name: http, protocol: HTTP}
  - {number: 9000, name: grpc, protocol: GRPC}
  endpoints: [{address: 127.0.0.1, ports: {http: ${ports['http']}, grpc: ${ports['grpc']}}}]
`;

test('CUSTOM is decided by an authorizer over HTTP', { timeout: TIMEOUT_MS }, async () => {
  await using authorizer = await TextServer.start((path) =>
    path.startsWith('/check/admin/good')
      ? { headers: { 'x-user': 'alice', 'x-hidden': '1' } }
      : { status: 401, headers: { 'x-why': 'not good', 'x-hidden': '1' }, body: 'who are you?' },
  );
  await using guarded = await GuardedWorkload.start({
    mesh: `
extensionProviders:
- name: web
  envoyExtAuthzHttp:
    service: authorizer.shop.internal
    port: 8000
    pathPrefix: /check
    includeRequestHeadersInCheck: [x-token]
    includeAdditionalHeadersInCheck: {x-from: mesh}
    headersToUpstreamOnAllow: [x-user]
    headersToDownstreamOnDeny: [x-why]
- {name: away, envoyExtAuthzHttp: {service: authorizer.shop.internal, port: 9000, timeout: 1s, statusOnError: '503'}}
- {name: open, envoyExtAuthzHttp: {service: authorizer.shop.internal, port: 9000, timeout: 1s, failOpen: true}}
`,
    files: ({ http }) => ({
      'shop/services.yaml': services({ http: authorizer.port, grpc: 1 }),
      'shop/policies.yaml': policy(
        'custom',
        `action: CUSTOM\nprovider: {name: web}\nrules: [{to: [{operation: {paths: [/admin*], ports: ['${http}']}}]}]`,
      ),
    }),
  });
  const { ask, line, status } = asking(guarded);
  assert.equal(await status('/open'), 200);
  assert.deepEqual(authorizer.asked, [], 'nobody is asked about what no rule matches');
  const allowed = await ask('/admin/good', { headers: { 'x-token': 't', 'x-other': 'o' } });
  const { headers = {} } = JSON.parse(allowed.body) as Echo;
  assert.deepEqual([headers['x-user'], headers['x-hidden']], ['alice', undefined]);
  const [asked] = authorizer.headers;
  assert.deepEqual([asked?.['x-token'], asked?.['x-other'], asked?.['x-from']], ['t', undefined, 'mesh']);
  const refused = await ask('/admin/bad');
  assert.deepEqual([refused.status, refused.body, refused.headers['x-why']], [401, 'who are you?', 'not good']);
  assert.equal(refused.headers['x-hidden'], undefined);
  assert.equal(await line(), 'passed', 'it has nothing to say about lines');

  const asks = (provider: string): void =>
    guarded.mesh.write(
      'shop/policies.yaml',
      policy('custom', `action: CUSTOM\nprovider: {name: ${provider}}\nrules: [{}]`),
    );
  asks('away');
  await waitFor(async () => (await status('/admin/good')) === 503, { what: 'refusal while nobody answers' });
  asks('open');
  await waitFor(async () => (await status('/admin/good')) === 200, { what: 'passing while nobody answers' });
  asks('nobody');
  await waitFor(async () => (await status('/open')) === 403, { what: 'refusal without a provider' });
  assert.equal(await guarded.mesh.envoy.rejected(), 0);
});

test('CUSTOM is decided by an authorizer over gRPC, for requests and for lines', { timeout: TIMEOUT_MS }, async () => {
  let takesLines = true;
  using authorizer = await GrpcAuthorizer.start(({ attributes }) => {
    const http = attributes?.request?.http;
    const isGood = http?.path === undefined ? takesLines : http.headers?.['x-token'] === 'good';
    if (!isGood) return { status: { code: 7 }, deniedResponse: { status: { code: 'PaymentRequired' }, body: 'pay' } };
    return { status: {}, okResponse: { headers: [{ header: { key: 'x-user', value: 'alice' } }] } };
  });
  await using guarded = await GuardedWorkload.start({
    mesh: `
extensionProviders:
- {name: calls, envoyExtAuthzGrpc: {service: authorizer.shop.internal, port: 9000, timeout: 2s}}
`,
    files: ({ tcp }) => ({
      'shop/services.yaml': services({ http: 1, grpc: authorizer.port }),
      'shop/policies.yaml': policy(
        'custom',
        `action: CUSTOM
provider: {name: calls}
rules:
- to: [{operation: {paths: [/admin*]}}]
- to: [{operation: {ports: ['${tcp}']}}]`,
      ),
    }),
  });
  const { ask, line, status } = asking(guarded);
  assert.equal(await status('/open'), 200);
  assert.equal(authorizer.asked.length, 0);
  const refused = await ask('/admin');
  assert.deepEqual([refused.status, refused.body], [402, 'pay']);
  const allowed = await ask('/admin', { headers: { 'x-token': 'good' } });
  assert.equal((JSON.parse(allowed.body) as Echo).headers?.['x-user'], 'alice');
  assert.equal(await line(), 'passed');
  assert.equal(authorizer.asked.length, 3);
  takesLines = false;
  assert.equal(await line(), 'refused');
  assert.equal(await guarded.mesh.envoy.rejected(), 0);
});
