import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeySet, KeySetSource, WantedKeySet } from '../../../src/config/key-sets.ts';
import { proxyOfNode } from '../../../src/model/node.ts';
import { decodeMessage } from '../../../src/proto/decode.ts';
import { LISTENER_TYPE, messageName } from '../../../src/proto/type-urls.ts';
import { type FileMesh, fileMesh } from '../../support/mesh-files.ts';

const POLICY = (rules: string): string => `
apiVersion: security.istio.io/v1
kind: RequestAuthentication
metadata: {name: jwt}
spec:
  jwtRules:
  ${rules}
`;
const RULE = '- {issuer: https://a.example, jwksUri: https://a.example/keys}';
const KEYS = '{"keys":[{"kty":"oct","k":"AAAA"}]}';
const ID = 'keys https://a.example/keys';

/** Keys that a test has fetched. */
class Fetched implements KeySetSource {
  wanted: readonly WantedKeySet[] = [];
  tell: (id: string, set: KeySet | undefined) => void = () => undefined;
  want(wanted: readonly WantedKeySet[], tell: Fetched['tell']): void {
    this.wanted = wanted;
    this.tell = tell;
  }
  ask(): undefined {
    return undefined;
  }
}

function connected(files: Readonly<Record<string, string>>, options: Parameters<typeof fileMesh>[1] = {}): FileMesh {
  const mesh = fileMesh(files, options);
  const proxy = proxyOfNode({ id: 'sidecar~10.0.0.1~a.shop~shop.svc.cluster.local', metadata: {}, extensions: [] });
  assert.ok(!('refused' in proxy));
  mesh.graph.batch(() => mesh.pipeline.mesh.proxies.set('a', proxy));
  return mesh;
}

function inbound({ pipeline }: FileMesh): Uint8Array | undefined {
  const scope = pipeline.mesh.scopeOf.get('a');
  return scope && pipeline.resources.get(LISTENER_TYPE)?.get(scope).get('virtualInbound')?.bytes;
}

function shows(mesh: FileMesh, text: string): boolean {
  const bytes = inbound(mesh);
  return bytes !== undefined && JSON.stringify(decodeMessage(messageName(LISTENER_TYPE), bytes)).includes(text);
}

test('a listener has the keys that were fetched, and before that some that nobody can sign with', () => {
  const mesh = connected({ 'shop/jwt.yaml': POLICY(RULE) });
  const source = new Fetched();
  const stop = mesh.pipeline.mesh.keySets.follow(source);
  assert.deepEqual(source.wanted, [{ id: ID, url: 'https://a.example/keys', isIssuer: false, timeoutMs: 5000 }]);
  assert.ok(shows(mesh, '0xObjM0UvS_'));
  source.tell(ID, { keys: KEYS });
  assert.ok(shows(mesh, '\\"kty\\":\\"oct\\"'));
  const before = inbound(mesh);
  source.tell(ID, { keys: KEYS, problem: 'refuses connections' });
  assert.equal(inbound(mesh), before, 'a server that is away changes nothing');
  stop();
  assert.deepEqual(source.wanted, []);
});

test('each set is wanted once, with the time of the most patient rule, and only while a rule names it', () => {
  const mesh = fileMesh({ 'shop/jwt.yaml': POLICY(RULE) });
  const source = new Fetched();
  mesh.pipeline.mesh.keySets.follow(source);
  mesh.write({
    'shop/jwt.yaml': POLICY(`${RULE}
  - {issuer: https://b.example, jwksUri: https://a.example/keys, timeout: 9s}
  - {issuer: https://c.example}
  - {issuer: https://d.example, jwks: '${KEYS}'}`),
  });
  assert.deepEqual(
    source.wanted.map(({ id, timeoutMs }) => [id, timeoutMs]),
    [
      ['issuer https://c.example', 5000],
      [ID, 9000],
    ],
  );
  mesh.write({ 'shop/jwt.yaml': undefined });
  assert.deepEqual(source.wanted, []);
});

test('keys that can not be fetched are a finding at the URL, which says what becomes of tokens', () => {
  const mesh = fileMesh({ 'shop/jwt.yaml': POLICY(RULE) });
  const source = new Fetched();
  mesh.pipeline.mesh.keySets.follow(source);
  const found = (): readonly string[] =>
    mesh.findings().map(({ code, location, message }) => `${location.line} ${code} ${message}`);
  assert.deepEqual(found(), []);
  source.tell(ID, { problem: 'https://a.example/keys is away' });
  const away = '7 VM0213 https://a.example/keys is away';
  assert.deepEqual(found(), [`${away}; no token of this rule is accepted until it answers with keys`]);
  source.tell(ID, { keys: KEYS, problem: 'https://a.example/keys is away' });
  assert.deepEqual(found(), [`${away}; the keys that were fetched before are used`]);
  source.tell(ID, { keys: KEYS });
  assert.deepEqual(found(), []);
});

test('a proxy fetches keys of the mesh itself, when the operator wants that', () => {
  const service = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: keys}
spec:
  hosts: [a.example]
  resolution: DNS
  ports: [{number: 443, name: https, protocol: HTTPS}]
`;
  const source = new Fetched();
  const hybrid = connected({ 'shop/jwt.yaml': POLICY(RULE), 'shop/keys.yaml': service }, { jwksFetchMode: 'hybrid' });
  hybrid.pipeline.mesh.keySets.follow(source);
  assert.ok(shows(hybrid, '"cluster":"outbound|443||a.example"'));
  assert.deepEqual(source.wanted, []);
  hybrid.write({ 'shop/keys.yaml': undefined });
  assert.ok(!shows(hybrid, 'remoteJwks'));
  assert.deepEqual(
    source.wanted.map(({ id }) => id),
    [ID],
  );
  const always = connected({ 'shop/jwt.yaml': POLICY(RULE) }, { jwksFetchMode: 'envoy' });
  assert.ok(shows(always, 'remoteJwks'));
});

test('whom nobody can ask is a finding at the name', () => {
  const policy = (name: string, provider: string, labels = '') => `---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: ${name}}
spec:
  ${labels}
  action: CUSTOM
  provider: {name: ${provider}}
  rules: [{}]
`;
  const provider = (name: string, service: string, more = '') =>
    `- {name: ${name}, envoyExtAuthzGrpc: {service: ${service}, port: 9000${more}}}\n`;
  const found = (provided: string, ...policies: readonly string[]): readonly string[] =>
    fileMesh({ 'mesh.yaml': `extensionProviders:\n${provided}`, 'shop/policies.yaml': policies.join('') })
      .findings()
      .filter(({ code }) => code === 'VM0214')
      .map(({ message }) => message);
  const refused = ': what the rules match is refused';
  const a = policy('a', 'a');
  assert.deepEqual(found(provider('a', 'b.example'), a), [`no service of the mesh is called "b.example"${refused}`]);
  assert.deepEqual(found(provider('a', 'b.example', ', statusOnError: "299"'), a), [
    `the extensionProvider "a" of mesh.yaml is not right${refused}`,
  ]);
  assert.deepEqual(found('- {name: a, prometheus: {}}', a), [
    `the extensionProvider "a" needs envoyExtAuthzHttp or envoyExtAuthzGrpc to decide${refused}`,
  ]);
  const one = policy('one', 'a', 'selector: {matchLabels: {app: one}}');
  const two = policy('two', 'b', 'selector: {matchLabels: {app: two}}');
  const all = policy('all', 'b', 'selector: {matchLabels: {tier: web}}');
  const clashes = (...policies: readonly string[]): number =>
    found('- {name: c, prometheus: {}}', ...policies).filter((message) => message.includes('both are for')).length;
  assert.equal(clashes(one, two), 0, 'no workload has two values of one label');
  assert.equal(clashes(one, all), 2);
});

test('a set without a key that Envoy takes is as good as none, so that no listener is refused for it', () => {
  const mesh = connected({ 'shop/jwt.yaml': POLICY(RULE) });
  const source = new Fetched();
  mesh.pipeline.mesh.keySets.follow(source);
  source.tell(ID, { keys: '{"keys":[]}' });
  assert.ok(shows(mesh, '0xObjM0UvS_'));
  assert.deepEqual(
    mesh.findings().map(({ message }) => message),
    [
      'https://a.example/keys has no key that Envoy can use; no token of this rule is accepted until it answers with keys',
    ],
  );
});
