import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { Config } from '../../../src/config/config.ts';
import { certificateFiles } from '../../../src/config/kinds/secret.ts';
import { wholeFileKey } from '../../../src/config/mesh-files.ts';
import { SECRET_TYPE } from '../../../src/proto/type-urls.ts';
import { type Client, type MeshFixture, meshFixture, object } from '../../support/mesh-fixture.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const data = (texts: Readonly<Record<string, string>>) => ({
  data: Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, base64(text)])),
});
const core = (kind: string, name: string, spec: Readonly<Record<string, unknown>>, namespace = 'edge'): Config => ({
  ...object(kind, name, spec, namespace),
  key: `/${kind}/${namespace}/${name}`,
  group: '',
});
const secret = (name: string, texts: Readonly<Record<string, string>>, namespace?: string): Config =>
  core('Secret', name, data(texts), namespace);
const files = (name: string, texts: Readonly<Record<string, string>>): Config => ({
  ...object('CertificateFiles', name, data(texts), ''),
  key: wholeFileKey(certificateFiles(name)),
  group: '',
});
const gateway = (name: string, tls: Readonly<Record<string, unknown>>, namespace = 'edge'): Config =>
  object(
    'Gateway',
    name,
    {
      selector: { app: 'gw' },
      servers: [{ port: { number: 443, name, protocol: 'HTTPS' }, hosts: [`${name}.test`], tls }],
    },
    namespace,
  );

const ROUTER: Client = { type: 'router', namespace: 'edge', labels: { app: 'gw' }, dataplane: 'envoy', keys: true };
const BARE: Client = { ...ROUTER, dataplane: 'bare' };

/** What a client is sent: by name, a certificate with its key, or roots. */
function secrets(mesh: MeshFixture, client: string): Readonly<Record<string, string>> {
  const text = (bytes: unknown): string => Buffer.from(String(bytes), 'base64').toString();
  const shown = (resource: Readonly<Record<string, unknown>>): string => {
    const { tlsCertificate: pair, validationContext: roots } = resource as Record<
      string,
      Record<string, { inlineBytes: string }>
    >;
    if (pair)
      return Object.values(pair)
        .map(({ inlineBytes }) => text(inlineBytes))
        .join('+');
    return `roots ${Object.values(roots ?? {})
      .map(({ inlineBytes }) => text(inlineBytes))
      .join('+')}`;
  };
  const found = [...mesh.resources(client, SECRET_TYPE)].map(([name, resource]) => [name, shown(resource)]);
  return Object.fromEntries(found.sort());
}

test('a proxy is served the Secrets of its namespace, in every spelling of their entries', () => {
  const mesh = meshFixture([
    secret('generic', { cert: 'c', key: 'k', cacert: 'ca', crl: 'rl' }),
    secret('both', { cert: 'c', key: 'k', 'tls.crt': 'tc', 'tls.key': 'tk' }),
    secret('tls', { 'tls.crt': 'c', 'tls.key': 'k', 'tls.ocsp-staple': 's' }),
    secret('half', { 'tls.crt': 'c', key: 'k' }),
    secret('tls-cacert', { 'ca.crt': 'own', 'ca.crl': 'rl' }),
    secret('other', { cert: 'c', key: 'k' }, 'shop'),
  ]);
  mesh.connect('gw', ROUTER);
  const expected = {
    both: 'c+k',
    generic: 'c+k',
    'generic-cacert': 'roots ca+rl',
    tls: 'c+k+s',
    'tls-cacert': 'roots own+rl',
    'tls-cacert-cacert': 'roots own+rl',
  };
  const both = Object.entries(expected).flatMap(([name, shown]) => [
    [`kubernetes://${name}`, shown],
    [`kubernetes://edge/${name}`, shown],
  ]);
  assert.deepEqual(secrets(mesh, 'gw'), Object.fromEntries(both.sort()));
});

test('roots stand in a Secret of their own, or else beside the certificate', () => {
  const mesh = meshFixture([secret('web', { cert: 'c', key: 'k', cacert: 'beside' })]);
  mesh.connect('gw', ROUTER);
  assert.equal(secrets(mesh, 'gw')['kubernetes://web-cacert'], 'roots beside');
  mesh.edit(secret('web-cacert', { cacert: 'own' }));
  assert.equal(secrets(mesh, 'gw')['kubernetes://web-cacert'], 'roots own');
  mesh.edit(secret('web-cacert', { nothing: '' }));
  assert.equal(secrets(mesh, 'gw')['kubernetes://web-cacert'], undefined);
});

test('no keys go where they may not, though roots, which are public, do', () => {
  const mesh = meshFixture([
    secret('web', { cert: 'c', key: 'k', cacert: 'ca' }),
    core('ConfigMap', 'roots', { data: { 'ca.crt': 'ca' } }, 'shop'),
    core('ConfigMap', 'other', { data: { text: 'x' } }, 'shop'),
    gateway('files', { mode: 'SIMPLE', serverCertificate: 'a.crt', privateKey: 'a.key' }),
    files('file-cert:a.crt~a.key', { 'tls.crt': 'c', 'tls.key': 'k' }),
  ]);
  mesh.connect('gw', { ...BARE, keys: false });
  assert.deepEqual(secrets(mesh, 'gw'), {
    'configmap://shop/roots': 'roots ca',
    'configmap://shop/roots-cacert': 'roots ca',
    'kubernetes://edge/web-cacert': 'roots ca',
    'kubernetes://web-cacert': 'roots ca',
  });
});

test('a Secret with its namespace is served when a Gateway of that namespace names it, and no other', () => {
  const named = (name: string, namespace: string, mode = 'SIMPLE') => ({
    mode,
    credentialName: `kubernetes-gateway://${namespace}/${name}`,
  });
  const pair = { cert: 'c', key: 'k', cacert: 'ca' };
  const mesh = meshFixture([
    secret('one', pair),
    secret('two', pair),
    secret('unnamed', pair),
    secret('far', pair, 'shop'),
    gateway('a', named('one', 'edge')),
    gateway('b', named('two', 'edge', 'MUTUAL')),
    gateway('c', named('far', 'shop')),
    gateway('d', named('unnamed', 'edge'), 'shop'),
  ]);
  mesh.connect('gw', ROUTER);
  const found = Object.keys(secrets(mesh, 'gw')).filter((name) => name.startsWith('kubernetes-gateway:'));
  assert.deepEqual(found, [
    'kubernetes-gateway://edge/one',
    'kubernetes-gateway://edge/two',
    'kubernetes-gateway://edge/two-cacert',
  ]);
});

test('a ReferenceGrant lets a Gateway name a Secret of another namespace', () => {
  const grant = (name?: string): Config => ({
    ...object('ReferenceGrant', 'grant', {
      from: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', namespace: 'edge' }],
      to: [{ group: '', kind: 'Secret', ...(name && { name }) }],
    }),
    key: 'gateway.networking.k8s.io/ReferenceGrant/shop/grant',
    group: 'gateway.networking.k8s.io',
    namespace: 'shop',
  });
  const mesh = meshFixture([
    secret('web', { cert: 'c', key: 'k', cacert: 'ca' }, 'shop'),
    gateway('a', { mode: 'MUTUAL', credentialName: 'kubernetes-gateway://shop/web' }),
    grant('other'),
  ]);
  mesh.connect('gw', ROUTER);
  assert.deepEqual(secrets(mesh, 'gw'), {});
  mesh.edit(grant('web'));
  assert.deepEqual(secrets(mesh, 'gw'), {
    'kubernetes-gateway://shop/web': 'c+k',
    'kubernetes-gateway://shop/web-cacert': 'roots ca',
  });
  mesh.edit(grant());
  assert.equal(Object.keys(secrets(mesh, 'gw')).length, 2);
});

test('files go to proxies without an agent: of their Gateways, and of rules of their namespace and of the root namespace', () => {
  const tls = (path: string) => ({
    mode: 'MUTUAL',
    clientCertificate: `${path}.crt`,
    privateKey: `${path}.key`,
    caCertificates: `${path}.ca`,
  });
  const rule = (name: string, namespace: string): Config =>
    object(
      'DestinationRule',
      name,
      { host: `${name}.test`, trafficPolicy: { portLevelSettings: [{ tls: tls(name) }] } },
      namespace,
    );
  const mesh = meshFixture([
    gateway('one', {
      mode: 'OPTIONAL_MUTUAL',
      tlsCertificates: [
        { serverCertificate: 'one.crt', privateKey: 'one.key' },
        { serverCertificate: 'rsa.crt', privateKey: 'rsa.key' },
      ],
      caCertificates: 'one.ca',
      caCrl: 'one.crl',
    }),
    gateway('unused', { mode: 'PASSTHROUGH', serverCertificate: 'p.crt', privateKey: 'p.key' }),
    rule('own', 'edge'),
    rule('root', 'istio-system'),
    rule('far', 'shop'),
    files('file-root:one.ca~one.crl', { 'ca.crt': 'one', 'ca.crl': 'revoked' }),
    ...['one', 'rsa', 'own', 'root', 'far', 'p'].flatMap((name) => [
      files(`file-cert:${name}.crt~${name}.key`, { 'tls.crt': name, 'tls.key': 'k' }),
      files(`file-root:${name}.ca`, { 'ca.crt': name }),
    ]),
  ]);
  mesh.connect('bare', BARE);
  mesh.connect('other', { ...BARE, labels: {} });
  mesh.connect('with-agent', ROUTER);
  const certificates = (client: string) =>
    Object.keys(secrets(mesh, client)).map((name) => name.replace(/^file-(cert|root):([a-z]+).*$/, '$1 $2'));
  const ofRules = ['cert own', 'cert root', 'root far', 'root own', 'root root'];
  assert.deepEqual(certificates('other'), ofRules);
  assert.deepEqual(certificates('bare').sort(), [...ofRules, 'cert one', 'cert rsa', 'root one'].sort());
  assert.equal(secrets(mesh, 'bare')['file-root:one.ca~one.crl'], 'roots one+revoked');
  assert.deepEqual(certificates('with-agent'), []);
});

test('a certificate that changes is encoded once for all who have it, and nothing else is', () => {
  const mesh = meshFixture([secret('a', { cert: 'c', key: 'k' }), secret('b', { cert: 'c', key: 'k' })], ['secret']);
  for (const name of ['one', 'two']) mesh.connect(name, { ...ROUTER, metadata: { CLUSTER_ID: name } });
  const watches = ['one', 'two'].map((name) => {
    const scope = mesh.pipeline.mesh.scopeOf.get(name);
    assert.ok(scope);
    const collection = mesh.pipeline.resources.get(SECRET_TYPE);
    assert.ok(collection);
    return mesh.graph.watch(collection, scope, () => {});
  });
  after(() => {
    for (const watch of watches) watch.stop();
  });
  assert.equal(mesh.ran().length, 4);
  mesh.edit(secret('a', { cert: 'c2', key: 'k' }));
  assert.deepEqual(mesh.ran(), ['secret', 'secret']);
  assert.equal(secrets(mesh, 'two')['kubernetes://a'], 'c2+k');
});
