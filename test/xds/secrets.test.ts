import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { after, test } from 'node:test';
import { credentials } from '@grpc/grpc-js';
import type { JsonObject } from '../../src/base/json.ts';
import { LISTENER_TYPE, SECRET_TYPE } from '../../src/proto/type-urls.ts';
import { AdsClient } from '../support/ads-client.ts';
import { TestAuthority } from '../support/certificates.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { nodeJson } from '../support/node.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

const GATEWAY = `
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: web}
spec:
  selector: {app: gw}
  servers:
  - port: {number: 8443, name: https, protocol: HTTPS}
    hosts: [web.test]
    tls: {mode: SIMPLE, credentialName: web}
`;
const NAME = 'kubernetes://web';
const ROUTER = nodeJson({ type: 'router', id: 'gw-1.edge', namespace: 'edge', metadata: { LABELS: { app: 'gw' } } });

const dir = new WorkDir('secrets');
after(() => dir[Symbol.dispose]());
mkdirSync(dir.at('ca'));
const authority = new TestAuthority(dir.at('ca'));
const server = authority.issue('DNS:localhost', 'IP:127.0.0.1');
const web = authority.issue('DNS:web.test');
const secret = (chain: string): string =>
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'web' },
    stringData: { 'tls.crt': chain, 'tls.key': web.key },
  });

function prepared(name: string): WorkDir {
  const root = WorkDir.copyOf(dir.path, name);
  root.write('etc/istio/conf/edge/web.yaml', GATEWAY);
  root.write('etc/istio/conf/edge/secret.json', secret(web.chain));
  root.write('etc/certs/cert-chain.pem', server.chain);
  root.write('etc/certs/key.pem', server.key);
  root.write('etc/certs/root-cert.pem', authority.root);
  return root;
}

/** A client that asks for the gateway's secret, with its listeners. */
async function asked(address: string, tls?: Parameters<typeof credentials.createSsl>): Promise<AdsClient> {
  const options = tls === undefined ? {} : { credentials: credentials.createSsl(...tls) };
  const client = new AdsClient({ address, node: ROUTER, ...options });
  await client.settled(4_000).catch((error: Error) => {
    client.close();
    throw error;
  });
  client.subscribe(SECRET_TYPE, [NAME]);
  await client.settled();
  assert.ok(client.resources(LISTENER_TYPE).size > 0);
  return client;
}

function chainIn(client: AdsClient): string | undefined {
  const { tlsCertificate } = (client.resources(SECRET_TYPE).get(NAME) ?? {}) as Record<string, JsonObject>;
  const chain = (tlsCertificate as Record<string, JsonObject> | undefined)?.['certificateChain']?.['inlineBytes'];
  return chain === undefined ? undefined : Buffer.from(String(chain), 'base64').toString();
}

test('private keys go over the socket and over TLS with a certificate of the namespace, and over nothing else', async () => {
  using root = prepared('keys');
  const listen = { grpcUnix: root.at('xds.sock'), grpcTls: '127.0.0.1:0' };
  await using istiod = await IstiodProcess.start({ root: root.path, listen });
  const { grpc, grpcTls } = istiod.addresses as typeof istiod.addresses & { readonly grpcTls: string };
  const roots = Buffer.from(authority.root);
  const shown = (identity: string): Parameters<typeof credentials.createSsl> => {
    const { chain, key } = authority.issue(`URI:${identity}`);
    return [roots, Buffer.from(key), Buffer.from(chain)];
  };
  const stranger = new TestAuthority(dir.path).issue('URI:spiffe://cluster.local/ns/edge/sa/gw');
  const cases: readonly [string, string, Parameters<typeof credentials.createSsl> | undefined, boolean][] = [
    ['socket', `unix:${root.at('xds.sock')}`, undefined, true],
    ['TLS of its namespace', grpcTls, shown('spiffe://cluster.local/ns/edge/sa/gw'), true],
    ['plaintext', grpc, undefined, false],
  ];
  for (const [name, address, tls, isServed] of cases) {
    using client = await asked(address, tls);
    assert.equal(chainIn(client), isServed ? web.chain : undefined, name);
    const findings = await waitFor(
      async () => {
        const all = await istiod.json<readonly { code: string; message: string }[]>('/debug/diagnosticsz');
        const found = all.filter(({ code }) => /^VM05/.test(code));
        return isServed === (found.length === 0) && found;
      },
      { what: `finding as it should be over ${name}` },
    );
    if (isServed) continue;
    assert.deepEqual(
      findings.map(({ code }) => code),
      ['VM0503'],
      name,
    );
    assert.match(findings[0]?.message ?? '', /gw-1\.edge can not serve this: no private keys go over its connection/);
  }
  assert.equal(istiod.log.match(/a proxy that asks for secrets gets no keys/g)?.length, 1);
  const otherNamespace = shown('spiffe://cluster.local/ns/shop/sa/gw');
  for (const tls of [
    [roots],
    [roots, Buffer.from(stranger.key), Buffer.from(stranger.chain)],
    otherNamespace,
  ] as const) {
    await assert.rejects(
      asked(grpcTls, [...tls]),
      'who shows nothing, what the roots do not vouch for, or that it is of another namespace, is not served',
    );
  }
  for (const path of ['/debug/configz', '/debug/statusz', '/debug/diagnosticsz', '/metrics']) {
    const { body } = await istiod.get(path);
    assert.ok(
      !body.includes(web.key.slice(60, 90)) && !body.includes(Buffer.from(web.key).toString('base64').slice(40, 80)),
      path,
    );
  }
});

test('a dump of what a proxy is sent shows that it has a key, and not the key', async () => {
  using root = prepared('dump');
  await using istiod = await IstiodProcess.start({ root: root.path, listen: { grpcUnix: root.at('xds.sock') } });
  using client = await asked(`unix:${root.at('xds.sock')}`);
  assert.equal(chainIn(client), web.chain);
  const { body } = await istiod.get('/debug/config_dump?proxyID=gw-1.edge');
  assert.match(body, /SecretsConfigDump/);
  assert.match(body, /"kubernetes:\/\/web"/);
  const [, line = ''] = web.key.split('\n');
  for (const text of [line, Buffer.from(web.key).toString('base64').slice(40, 80)]) assert.ok(!body.includes(text));
  assert.ok(body.includes(Buffer.from('[redacted]').toString('base64')));
});

test('secretsOverPlaintext sends keys over plaintext, and the log says so', async () => {
  using root = prepared('plaintext');
  const settings = 'secretsOverPlaintext: true\n';
  await using istiod = await IstiodProcess.start({ root: root.path, settings });
  using client = await asked(istiod.addresses.grpc);
  assert.equal(chainIn(client), web.chain);
  assert.match(istiod.log, /private keys go over plaintext/);
});
