import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { after, test } from 'node:test';
import type { Finding } from '../../../src/config/finding.ts';
import { tellTime } from '../../../src/istiod/hours.ts';
import { TestAuthority } from '../../support/certificates.ts';
import { fileMesh } from '../../support/mesh-files.ts';
import { type Client, meshFixture, object } from '../../support/mesh-fixture.ts';
import { WorkDir } from '../../support/work-dir.ts';

const dir = new WorkDir('certificates');
after(() => dir[Symbol.dispose]());
const authority = new TestAuthority(dir.path);
const DAY = 86_400_000;

test('a certificate is told of when it expires soon, and when it has', () => {
  const { chain, key } = authority.issueFor(90, 'DNS:a.test');
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'web' }, stringData: { cert: chain, key } };
  const mesh = fileMesh({ 'edge/web.json': JSON.stringify(secret) });
  const found = (days: number): readonly string[] => {
    tellTime(mesh.graph, mesh.pipeline.mesh, Date.now() + days * DAY);
    return mesh
      .findings()
      .map(({ severity, code, message }) => `${severity} ${code} ${message.replace(/[\d-]{10}/, 'DAY')}`);
  };
  assert.deepEqual(mesh.findings(), [], 'nobody said what time it is');
  assert.deepEqual(found(0), []);
  assert.deepEqual(found(79), []);
  assert.deepEqual(found(81), ['warning VM0502 the certificate expires on DAY: renew it']);
  assert.deepEqual(found(91), ['warning VM0502 the certificate expired on DAY: replace it with one that holds']);
  assert.deepEqual(found(-3), [
    'warning VM0502 the certificate holds only from DAY on: replace it with one that holds',
  ]);
});

test('a certificate whose key Envoy does not take is told of', () => {
  const made = (...key: readonly string[]): readonly string[] => {
    const args = [
      'req',
      '-x509',
      '-newkey',
      ...key,
      '-nodes',
      '-days',
      '9',
      '-subj',
      '/CN=a',
      '-keyout',
      '-',
      '-out',
      '-',
    ];
    const pem = execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'ignore'] }).toString();
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'web' }, stringData: { cert: pem, key: pem } };
    return fileMesh({ 'edge/web.json': JSON.stringify(secret) })
      .findings()
      .map(({ severity, path, message }) => `${severity} ${path} ${message}`);
  };
  assert.deepEqual(made('rsa:1024'), [
    'warning data.cert its RSA key has 1024 bits, and Envoy takes 2048 or more: make one with another key',
  ]);
  assert.deepEqual(made('ec', '-pkeyopt', 'ec_paramgen_curve:secp224r1'), [
    'warning data.cert its key is on the curve secp224r1, and Envoy takes P-256, P-384 and P-521: make one with another key',
  ]);
  assert.deepEqual(made('rsa:2048'), []);
  assert.deepEqual(made('ec', '-pkeyopt', 'ec_paramgen_curve:P-384'), []);
});

const gateway = (tls: Readonly<Record<string, unknown>>) =>
  object('Gateway', 'web', {
    selector: { app: 'gw' },
    servers: [
      { port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] },
      { port: { number: 443, name: 'https', protocol: 'HTTPS' }, hosts: ['*'], tls },
    ],
  });
const FILES = { mode: 'SIMPLE', serverCertificate: 'a.crt', privateKey: 'a.key' };
const SECRET = { mode: 'SIMPLE', credentialName: 'web' };

const isOfCertificates = ({ code }: Finding): boolean => code.startsWith('VM05');

function findings(tls: Readonly<Record<string, unknown>>, client: Client): readonly string[] {
  const mesh = meshFixture([gateway(tls)]);
  mesh.connect('gw-1', { type: 'router', labels: { app: 'gw' }, ...client });
  return [...mesh.pipeline.analysis.findings.get('Gateway').entries()].flatMap(([, found]) =>
    found.filter(isOfCertificates).map(({ code, path }) => `${code} ${path.join('.')}`),
  );
}

test('a Gateway is told of proxies that can not serve its TLS for want of keys or of files', () => {
  const bare: Client = { dataplane: 'bare' };
  const noKeys = ['VM0503 spec.servers.1.tls'];
  assert.deepEqual(findings(SECRET, bare), noKeys);
  assert.deepEqual(findings(SECRET, {}), noKeys, 'an agent has no Secrets');
  assert.deepEqual(findings(SECRET, { ...bare, keys: true }), []);
  assert.deepEqual(findings(FILES, bare), noKeys);
  assert.deepEqual(findings(FILES, { ...bare, keys: true }), ['VM0504 spec.servers.1.tls']);
  assert.deepEqual(findings(FILES, {}), [], 'its agent reads files');
  assert.deepEqual(findings(SECRET, { ...bare, labels: { app: 'other' } }), [], 'the Gateway is not for it');
  assert.deepEqual(findings({ mode: 'PASSTHROUGH' }, bare), []);
  assert.deepEqual(findings({ mode: 'ISTIO_MUTUAL' }, bare), []);
  assert.deepEqual(findings({ ...SECRET, credentialName: 'sds://elsewhere' }, bare), []);
});

test('the findings go with the proxy', () => {
  const mesh = meshFixture([gateway(SECRET)]);
  const found = () =>
    [...mesh.pipeline.analysis.findings.get('Gateway').entries()].flatMap(([, all]) => all.filter(isOfCertificates))
      .length;
  assert.equal(found(), 0);
  mesh.connect('gw-1', { type: 'router', labels: { app: 'gw' }, dataplane: 'bare' });
  assert.equal(found(), 1);
  mesh.graph.batch(() => mesh.pipeline.mesh.proxies.set('gw-1', undefined));
  assert.equal(found(), 0);
});
