import assert from 'node:assert/strict';
import { randomBytes, X509Certificate } from 'node:crypto';
import { renameSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { SECRET_TYPE } from '../../src/proto/type-urls.ts';
import { AdsClient } from '../support/ads-client.ts';
import { type PluggedIn, plugIn, SigningAuthority } from '../support/authorities.ts';
import { askCertificate } from '../support/certificate-client.ts';
import { certificateRequest, disbelief } from '../support/certificates.ts';
import { askClusters, type DiscoveryQuestion } from '../support/discovery-question.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { joinTokens } from '../support/join-tokens.ts';
import { nodeJson } from '../support/node.ts';
import { TextServer } from '../support/text-server.ts';
import { keySet, TokenKey } from '../support/tokens.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

const OWNER = { namespace: 'shop', serviceAccount: 'client' };
const IDENTITY = 'spiffe://cluster.local/ns/shop/sa/client';
const DAY = 24 * 3_600_000;

interface Served extends AsyncDisposable {
  readonly dir: WorkDir;
  readonly istiod: IstiodProcess;
  readonly address: string;
  /** Of a join token for `IDENTITY`. */
  readonly token: string;
}

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: string;
  readonly prepare?: (dir: WorkDir) => void;
}

async function served({ env = {}, settings = '', prepare }: Options = {}): Promise<Served> {
  const dir = new WorkDir('authority');
  prepare?.(dir);
  const token = randomBytes(24).toString('base64url');
  dir.write('etc/istio/join-tokens.yaml', joinTokens({ token, ...OWNER }));
  const listen = { grpcTls: '127.0.0.1:0', grpcUnix: dir.at('xds.sock') };
  const istiod = await IstiodProcess.start({ root: dir.path, listen, env, settings });
  return {
    dir,
    istiod,
    token,
    address: istiod.addresses.grpcTls,
    async [Symbol.asyncDispose]() {
      await istiod.stop();
      dir[Symbol.dispose]();
    },
  };
}

/** How a stream of discovery ends: with a status, or with an answer. */
async function streamStatus(question: DiscoveryQuestion): Promise<string | undefined> {
  return (await askClusters(question)).split(':')[0];
}

function identityOf(pem: string | undefined): string | undefined {
  return new X509Certificate(pem ?? '').subjectAltName;
}

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8);
}

test('a machine gets a certificate by its join token, and the next one by that certificate', async () => {
  await using server = await served();
  const { dir, address, token, istiod } = server;
  const roots = dir.read('var/lib/istio/ca/root-cert.pem');
  assert.equal(modeOf(dir.at('var/lib/istio/ca')), '700');
  assert.equal(modeOf(dir.at('var/lib/istio/ca/ca-key.pem')), '600');

  const { key, csr } = certificateRequest([`URI:${IDENTITY}`]);
  const first = await askCertificate({ address, roots, token, csr });
  assert.ok(typeof first !== 'string', String(first));
  assert.equal(disbelief(first, { roots }), undefined);
  assert.equal(identityOf(first[0]), `URI:${IDENTITY}`);
  const until = new X509Certificate(first[0] ?? '').validToDate.getTime();
  assert.ok(Math.abs(until - Date.now() - DAY) < 60_000, new Date(until).toISOString());

  const client = { key, chain: first.slice(0, -1).join('') };
  const next = certificateRequest();
  const second = await askCertificate({ address, roots, client, csr: next.csr, ttl: 3600 });
  assert.ok(typeof second !== 'string', String(second));
  assert.equal(disbelief(second, { roots }), undefined);
  assert.equal(identityOf(second[0]), `URI:${IDENTITY}`);

  const overSocket = await askCertificate({ address: `unix:${dir.at('xds.sock')}`, token, csr: next.csr });
  assert.ok(typeof overSocket !== 'string', String(overSocket));
  const metrics = await istiod.metrics();
  assert.match(metrics, /^citadel_server_success_cert_issuance_count 3$/m);
  const end = new X509Certificate(roots).validToDate.getTime() / 1000;
  assert.match(metrics, new RegExp(`^citadel_server_root_cert_expiry_timestamp ${end}$`, 'm'));
  assert.doesNotMatch(istiod.log, new RegExp(token));
});

test('nobody gets a certificate of somebody else, or without proof of who asks', async () => {
  await using server = await served();
  const { dir, address, token } = server;
  const roots = dir.read('var/lib/istio/ca/root-cert.pem');
  const { csr } = certificateRequest();
  const ask = (question: Partial<Parameters<typeof askCertificate>[0]>) =>
    askCertificate({ address, roots, csr, ...question });
  assert.match(String(await ask({})), /^UNAUTHENTICATED: show a client certificate/);
  assert.match(String(await ask({ token: `${token}x` })), /^UNAUTHENTICATED: its token is unknown, or has expired/);
  const other = 'URI:spiffe://cluster.local/ns/other/sa/admin';
  for (const names of [[other], [`URI:${IDENTITY}`, other], ['DNS:shop.example'], ['IP:10.0.0.1']]) {
    const asked = String(await ask({ token, csr: certificateRequest(names).csr }));
    assert.match(asked, /^PERMISSION_DENIED: a certificate for /, names.join());
  }
  assert.match(String(await ask({ token, metadata: { ImpersonatedIdentity: other.slice(4) } })), /^UNAUTHENTICATED/);
  assert.match(String(await ask({ token, csr: 'nonsense' })), /^INVALID_ARGUMENT: CSR signing error/);
  assert.match(String(await ask({ token, ttl: 91 * 24 * 3600 })), /^INVALID_ARGUMENT: CSR signing error/);
  const weak = certificateRequest([], ['-newkey', 'rsa:1024', '-nodes']).csr;
  assert.match(String(await ask({ token, csr: weak })), /^INVALID_ARGUMENT: .*1024 bits/);

  dir.write('etc/istio/join-tokens.yaml', joinTokens({ token, ...OWNER, expires: '2020-01-01T00:00:00Z' }));
  await waitFor(async () => String(await ask({ token })).startsWith('UNAUTHENTICATED'), {
    what: 'the token to expire',
  });
});

test('a proxy is served over TLS with a token of its namespace, and with no other', async () => {
  await using server = await served();
  const { dir, address, token } = server;
  const roots = dir.read('var/lib/istio/ca/root-cert.pem');
  assert.equal(await streamStatus({ address, roots, token, namespace: 'shop' }), 'served');
  assert.equal(await streamStatus({ address, roots, token, namespace: 'bank' }), 'PERMISSION_DENIED');
  assert.equal(await streamStatus({ address, roots, token: `${token}x`, namespace: 'shop' }), 'UNAUTHENTICATED');
  assert.equal(await streamStatus({ address, roots, namespace: 'shop' }), 'UNAUTHENTICATED');
});

test('the root and what it signed stay over a restart', async () => {
  await using server = await served();
  const { dir, address, token, istiod } = server;
  const roots = dir.read('var/lib/istio/ca/root-cert.pem');
  const { key, csr } = certificateRequest();
  const first = await askCertificate({ address, roots, token, csr });
  assert.ok(typeof first !== 'string', String(first));
  await istiod.restart();
  assert.equal(dir.read('var/lib/istio/ca/root-cert.pem'), roots);
  const client = { key, chain: first.slice(0, -1).join('') };
  const second = await askCertificate({ address, roots, client, csr });
  assert.equal(typeof second, 'object', String(second));
});

test('a token of an issuer that JWT_RULE names proves who asks', async () => {
  const [first, second] = [new TokenKey('first'), new TokenKey('second')];
  const keys = keySet(first);
  await using server = await TextServer.start(() => ({ body: keys }));
  const rule = {
    issuer: 'https://issuer.example',
    jwksUri: `http://127.0.0.1:${server.port}/keys`,
    audiences: ['vms'],
  };
  await using istiod = await served({ env: { JWT_RULE: JSON.stringify(rule) } });
  const { dir, address } = istiod;
  const { csr } = certificateRequest([`URI:${IDENTITY}`]);
  const ask = (token: string) =>
    askCertificate({ address, roots: dir.read('var/lib/istio/ca/root-cert.pem'), csr, token });
  const claims = { iss: rule.issuer, aud: 'vms', sub: 'system:serviceaccount:shop:client' };
  const issued = await ask(first.token(claims));
  assert.ok(typeof issued !== 'string', String(issued));
  assert.equal(identityOf(issued[0]), `URI:${IDENTITY}`);
  const problem = String(await ask(first.token({ ...claims, aud: 'others' })));
  assert.match(problem, /^UNAUTHENTICATED: its token can not be taken: it is for none of the audiences vms/);
  assert.match(
    String(await ask(first.token({ ...claims, sub: 'system:serviceaccount:shop:other' }))),
    /^PERMISSION_DENIED/,
  );
  assert.match(String(await ask(second.token(claims))), /^UNAUTHENTICATED: .*not signed by a key of its issuer/);
});

test('an intermediate is replaced without a restart, by renames, in place, and by a link that is swapped', async () => {
  using root = new SigningAuthority('root', { days: 30 });
  const names = ['first', 'renamed', 'written', 'linked'];
  const [first, renamed, written, linked] = names.map((name, i) =>
    root.intermediate(name, { days: 10 + i }).files(),
  ) as [PluggedIn, PluggedIn, PluggedIn, PluggedIn];
  await using server = await served({
    prepare(dir) {
      plugIn(dir, first, 'etc/first');
      symlinkSync('first', dir.at('etc/cacerts'));
    },
  });
  const { dir, address, token, istiod } = server;
  const { csr } = certificateRequest();
  const isSignedBy = (name: string) =>
    waitFor(
      async () => {
        const answer = await askCertificate({ address, roots: root.certificate, token, csr });
        if (typeof answer === 'string') throw new Error(answer);
        assert.equal(disbelief(answer, { roots: root.certificate }), undefined);
        return new X509Certificate(answer[0] ?? '').issuer === `CN=${name}`;
      },
      { what: `a certificate of ${name}` },
    );
  await isSignedBy('first');
  plugIn(dir, renamed);
  await isSignedBy('renamed');
  plugIn({ write: (path, text) => writeFileSync(dir.at(path), text) }, written);
  await isSignedBy('written');
  plugIn(dir, linked, 'etc/second');
  symlinkSync('second', dir.at('etc/next'));
  renameSync(dir.at('etc/next'), dir.at('etc/cacerts'));
  await isSignedBy('linked');
  const end = new X509Certificate(linked.certificate).validToDate.getTime() / 1000;
  assert.match(await istiod.metrics(), new RegExp(`^citadel_server_cert_chain_expiry_timestamp ${end}$`, 'm'));
  assert.deepEqual(await istiod.json('/debug/diagnosticsz'), []);

  const node = nodeJson({ id: 'client.shop', namespace: 'shop' });
  using client = new AdsClient({ address: `unix:${dir.at('xds.sock')}`, node });
  await client.settled(10_000);
  client.subscribe(SECRET_TYPE, ['ROOTCA']);
  await client.settled();
  const rootca = () => {
    const secret = client.resources(SECRET_TYPE).get('ROOTCA') as
      | { readonly validationContext: { readonly trustedCa: { readonly inlineBytes: string } } }
      | undefined;
    return secret && Buffer.from(secret.validationContext.trustedCa.inlineBytes, 'base64').toString();
  };
  assert.equal(rootca(), root.certificate);
  using next = new SigningAuthority('next', { days: 30 });
  dir.write('etc/cacerts/root-cert.pem', root.certificate + next.certificate);
  await waitFor(() => rootca() === root.certificate + next.certificate, { what: 'both roots at the proxy' });
});

test('an istiod that is only an authority gives certificates in the trust domain of mesh.yaml, and serves no proxies', async () => {
  await using server = await served({
    settings: 'mode: ca\n',
    prepare: (dir) => dir.write('etc/istio/mesh.yaml', 'trustDomain: one.example\n'),
  });
  const { dir, address, token, istiod } = server;
  const roots = dir.read('var/lib/istio/ca/root-cert.pem');
  const { csr } = certificateRequest();
  const domain = async () => {
    const answer = await askCertificate({ address, roots, token, csr });
    return typeof answer === 'string' ? answer : identityOf(answer[0]);
  };
  assert.equal(await domain(), 'URI:spiffe://one.example/ns/shop/sa/client');
  dir.write('etc/istio/mesh.yaml', 'trustDomain: two.example\n');
  await waitFor(async () => (await domain()) === 'URI:spiffe://two.example/ns/shop/sa/client', {
    what: 'the new domain',
  });
  dir.write('etc/istio/mesh.yaml', 'trustDomain: [\n');
  const findings = () => istiod.json<readonly unknown[]>('/debug/diagnosticsz');
  await waitFor(async () => (await findings()).length > 0, { what: 'a finding about mesh.yaml' });
  assert.equal(await domain(), 'URI:spiffe://two.example/ns/shop/sa/client');
  assert.deepEqual(Object.keys(istiod.addresses).sort(), ['grpcTls', 'grpcUnix', 'http', 'monitoring']);
  assert.equal(await streamStatus({ address: `unix:${dir.at('xds.sock')}` }), 'UNIMPLEMENTED');
  assert.match(await istiod.metrics(), /^citadel_server_csr_count \d+$/m);
  dir.write('etc/istio/join-tokens.yaml', 'tokens: [{sha256: abc}]\n');
  await waitFor(async () => (await findings()).length > 2, { what: 'findings about tokens' });
  assert.match(String(await domain()), /^UNAUTHENTICATED/);
});
