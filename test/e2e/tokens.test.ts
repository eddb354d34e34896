import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import type { Echo } from '../support/echo-server.ts';
import { freePorts } from '../support/free-port.ts';
import { type Probe, type ProbeAnswer, probe } from '../support/probe.ts';
import { TextServer } from '../support/text-server.ts';
import { keySet, TokenKey } from '../support/tokens.ts';
import { waitFor } from '../support/wait.ts';
import { GuardedWorkload } from './guarded-workload.ts';
import { LocalEcho, LocalMesh, localService } from './local-mesh.ts';

const TIMEOUT_MS = 60_000;
const ISSUER = 'https://issuer.example';

const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });
const rules = (...written: readonly string[]): string => `
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: tokens}
spec:
  jwtRules:
${written.map((rule) => `  - ${rule}\n`).join('')}`;

test('tokens are accepted and refused by their keys, times, audiences and places', {
  timeout: TIMEOUT_MS,
}, async () => {
  const [key, other] = [new TokenKey('a'), new TokenKey('b')];
  const first = JSON.stringify({
    issuer: ISSUER,
    audiences: ['orders'],
    jwks: keySet(key),
    fromHeaders: [{ name: 'x-token', prefix: 'Token ' }],
    fromParams: ['token'],
    fromCookies: ['session'],
    outputPayloadToHeader: 'x-payload',
    outputClaimToHeaders: [{ header: 'x-group', claim: 'nested.group' }],
    forwardOriginalToken: true,
  });
  const second = JSON.stringify({ issuer: 'second', jwks: keySet(other) });
  await using guarded = await GuardedWorkload.start({
    files: () => ({
      'shop/tokens.yaml': rules(first, second),
      'shop/admin.yaml': `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: admin}
spec:
  action: DENY
  rules:
  - to: [{operation: {paths: [/admin]}}]
    when: [{key: 'request.auth.claims[role]', notValues: [admin]}]
  - to: [{operation: {paths: [/known]}}]
    from: [{source: {notRequestPrincipals: ['*']}}]
`,
    }),
  });
  const ask = (more: Partial<Probe> = {}): Promise<ProbeAnswer> => probe({ to: guarded.http, ...more });
  const status = async (more: Partial<Probe> = {}): Promise<number> => (await ask(more)).status;
  const claims = { iss: ISSUER, aud: 'orders', sub: 'alice', nested: { group: 'g' } };
  const token = key.token(claims);
  const inHeader = { headers: { 'x-token': `Token ${token}` } };

  assert.equal(await status(), 200, 'no token need come');
  const { status: accepted, body } = await ask(inHeader);
  assert.equal(accepted, 200);
  const { headers = {} } = JSON.parse(body) as Echo;
  assert.equal(headers['x-group'], 'g');
  assert.equal(headers['x-token'], inHeader.headers['x-token'], 'the token goes on');
  assert.equal(JSON.parse(Buffer.from(String(headers['x-payload']), 'base64url').toString()).sub, 'alice');
  assert.equal(await status({ path: `/?token=${token}` }), 200);
  assert.equal(await status({ headers: { cookie: `session=${token}` } }), 200);
  assert.equal(await status({ headers: bearer(other.token({ iss: 'second' })) }), 200, 'of another rule');

  const refused = (given: string): Promise<number> => status({ headers: { 'x-token': `Token ${given}` } });
  assert.equal(await refused(other.token(claims)), 401, 'signed by somebody else');
  assert.equal(await refused(key.token({ ...claims, exp: 1 })), 401, 'from long ago');
  assert.equal(await refused(key.token({ ...claims, iss: 'nobody' })), 401, 'of nobody');
  assert.equal(await refused(key.token({ ...claims, aud: 'users' })), 403, 'for somebody else');
  assert.equal(await refused('x.y.z'), 401, 'no token at all');

  const admin = key.token({ ...claims, role: 'admin' });
  assert.equal(await status({ path: '/known' }), 403);
  assert.equal(await status({ path: '/known', ...inHeader }), 200);
  assert.equal(await status({ path: '/admin', ...inHeader }), 403);
  assert.equal(await status({ path: '/admin', headers: { 'x-token': `Token ${admin}` } }), 200);
  assert.equal(await guarded.mesh.envoy.rejected(), 0);
});

test('keys that nobody serves refuse tokens and nothing else, until somebody does', {
  timeout: TIMEOUT_MS,
}, async () => {
  const key = new TokenKey('a');
  const [port = 0] = await freePorts(1);
  await using guarded = await GuardedWorkload.start({
    files: () => ({ 'shop/tokens.yaml': rules(`{issuer: '${ISSUER}', jwksUri: 'http://127.0.0.1:${port}/keys'}`) }),
  });
  const status = async (headers: Readonly<Record<string, string>> = {}): Promise<number> =>
    (await probe({ to: guarded.http, headers })).status;
  const token = bearer(key.token({ iss: ISSUER }));
  assert.equal(await status(), 200);
  assert.equal(await status(token), 401);
  const findings = async (): Promise<string> => (await guarded.mesh.istiod.get('/debug/diagnosticsz')).body;
  await waitFor(async () => (await findings()).includes(`http://127.0.0.1:${port}/keys refuses connections`), {
    what: 'finding about the keys',
  });
  {
    await using _server = await TextServer.start(() => ({ body: keySet(key) }), { port });
    await waitFor(async () => (await status(token)) === 200, { what: 'accepted token', withinMs: 5_000 });
  }
  assert.equal(await status(token), 200, 'keys are kept when their server is gone');
  assert.equal(await guarded.mesh.envoy.rejected(), 0);
  assert.equal(await guarded.mesh.envoy.stat('listener_manager.listener_create_failure'), 0);
});

test('an issuer is asked where its keys are', { timeout: TIMEOUT_MS }, async () => {
  const key = new TokenKey('a');
  await using server = await TextServer.start((path) => ({
    body: path === '/keys' ? keySet(key) : JSON.stringify({ jwks_uri: `http://127.0.0.1:${server.port}/keys` }),
  }));
  const issuer = `http://127.0.0.1:${server.port}/tenant`;
  await using guarded = await GuardedWorkload.start({
    files: () => ({ 'shop/tokens.yaml': rules(`{issuer: '${issuer}'}`) }),
  });
  const answer = await probe({ to: guarded.http, headers: bearer(key.token({ iss: issuer })) });
  assert.equal(answer.status, 200, 'keys are there before the first proxy asks');
  assert.deepEqual(server.asked, ['/tenant/.well-known/openid-configuration', '/keys']);
});

test('the URL of keys changes and no token is refused', { timeout: TIMEOUT_MS }, async () => {
  const key = new TokenKey('a');
  await using server = await TextServer.start(() => ({ body: keySet(key) }));
  const from = (path: string, more = ''): string =>
    rules(`{issuer: '${ISSUER}', jwksUri: 'http://127.0.0.1:${server.port}${path}'${more}}`);
  await using guarded = await GuardedWorkload.start({ files: () => ({ 'shop/tokens.yaml': from('/old') }) });
  const { envoy } = guarded.mesh;
  const headers = bearer(key.token({ iss: ISSUER }));
  const updates = (): Promise<number | undefined> => envoy.stat('listener_manager.lds.update_success');
  const before = (await updates()) ?? 0;
  guarded.mesh.write('shop/tokens.yaml', from('/new', ', forwardOriginalToken: true'));
  const isForwarded = async (): Promise<boolean> => {
    const { status, body } = await probe({ to: guarded.http, headers });
    assert.equal(status, 200);
    return (JSON.parse(body) as Echo).headers?.['authorization'] !== undefined;
  };
  await waitFor(isForwarded, { what: 'the new rule' });
  assert.equal(await updates(), before + 1, 'keys come with the rule');
  assert.deepEqual(server.asked, ['/old', '/new']);
});

test('a gateway routes by the claims of a token', { timeout: TIMEOUT_MS }, async () => {
  const key = new TokenKey('a');
  using admins = await LocalEcho.start({ name: 'admins' });
  using others = await LocalEcho.start({ name: 'others' });
  const [port = 0] = await freePorts(1);
  const jwks = keySet(key);
  await using mesh = await LocalMesh.start({
    type: 'router',
    ip: '192.0.2.1',
    files: {
      'shop/services.yaml': localService('admins', 80, admins.port) + localService('others', 80, others.port),
      'shop/tokens.yaml': rules(JSON.stringify({ issuer: ISSUER, jwks })),
      'shop/gateway.yaml': `
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: edge}
spec:
  selector: {app: client}
  servers: [{port: {number: ${port}, name: http, protocol: HTTP}, hosts: ['*']}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: by-claim}
spec:
  hosts: ['*']
  gateways: [edge]
  http:
  - match: [{headers: {'@request.auth.claims.group.roles': {exact: admin}}}]
    route: [{destination: {host: admins.shop.internal}}]
  - match: [{headers: {'@request.auth.claims[sub]': {prefix: bo}}}]
    route: [{destination: {host: admins.shop.internal}}]
  - route: [{destination: {host: others.shop.internal}}]
`,
    },
  });
  const answers = async (claims: Parameters<TokenKey['token']>[0] | undefined): Promise<string> => {
    const headers = claims === undefined ? {} : bearer(key.token({ iss: ISSUER, ...claims }));
    const { status, body } = await probe({ to: `127.0.0.1:${port}`, host: 'shop.test', headers });
    return status === 200 ? (JSON.parse(body) as Echo).backend : String(status);
  };
  assert.equal(await answers(undefined), 'others');
  assert.equal(await answers({ sub: 'alice' }), 'others');
  assert.equal(await answers({ sub: 'bob' }), 'admins');
  assert.equal(await answers({ sub: 'alice', group: { roles: ['reader', 'admin'] } }), 'admins');
  assert.equal(await answers({ iss: 'nobody' }), '401');
  assert.equal(await mesh.envoy.rejected(), 0);
});
