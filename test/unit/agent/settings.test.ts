import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type AgentSettings, readAgentSettings } from '../../../src/agent/settings.ts';
import { WorkDir } from '../../support/work-dir.ts';

const SIDECAR = 'var/lib/istio/envoy/sidecar.env';
const CLUSTER = 'var/lib/istio/envoy/cluster.env';

function read(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}) {
  using dir = new WorkDir();
  for (const [file, text] of Object.entries(files)) dir.write(file, text);
  return readAgentSettings(dir.path, env);
}

function settingsOf(
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = {},
): AgentSettings {
  const { settings, errors } = read(files, env);
  assert.ok(settings, errors.join('\n'));
  return settings;
}

function errorsOf(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>> = {}): string {
  const { settings, errors } = read(files, env);
  assert.equal(settings, undefined);
  return errors.join('\n');
}

test('without any settings istiod is where Istio has it, over TLS, and there is no DNS', () => {
  const { controlPlane, dns } = settingsOf({});
  assert.deepEqual(controlPlane.address, { host: 'istiod.istio-system.svc', port: 15012 });
  assert.equal(controlPlane.plaintext, false);
  assert.deepEqual(controlPlane.rootFiles, ['etc/certs/root-cert.pem', 'var/run/secrets/istio/root-cert.pem']);
  assert.equal(dns, undefined);
});

test('the environment goes before sidecar.env, that before cluster.env, and PROXY_CONFIG comes last', () => {
  const files = {
    [SIDECAR]: 'POD_NAMESPACE=two\nISTIO_META_NETWORK=two\n',
    [CLUSTER]: `POD_NAMESPACE=three\nPOD_NAME=three\nPROXY_CONFIG='{"proxyMetadata":{"POD_NAME":"four","INSTANCE_IP":"10.0.0.4"}}'\n`,
  };
  const { env } = settingsOf(files, { ISTIO_META_NETWORK: 'one' });
  assert.deepEqual(
    [env['ISTIO_META_NETWORK'], env['POD_NAMESPACE'], env['POD_NAME'], env['INSTANCE_IP']],
    ['one', 'two', 'three', '10.0.0.4'],
  );
  assert.deepEqual(read(files).warnings, [
    `${CLUSTER}:1:1: warning VM0604: POD_NAMESPACE stands in ${SIDECAR}, too, which counts: remove one`,
  ]);
});

test('the address of istiod comes from variables, then from PROXY_CONFIG, then from mesh.yaml', () => {
  const mesh = { 'etc/istio/mesh.yaml': 'defaultConfig: {discoveryAddress: "mesh:15012"}\n' };
  const proxy = { ...mesh, [CLUSTER]: "PROXY_CONFIG='discoveryAddress: proxy:15012'\n" };
  const host = (files: Readonly<Record<string, string>>, env = {}) => {
    const { address } = settingsOf(files, env).controlPlane;
    return 'socket' in address ? address.socket : `${address.host}:${address.port}`;
  };
  assert.equal(host(mesh), 'mesh:15012');
  assert.equal(host(proxy), 'proxy:15012');
  assert.equal(host({}, { ISTIO_PILOT_PORT: '32018' }), 'istiod.istio-system.svc:32018');
  assert.equal(host({}, { ISTIO_SYSTEM_NAMESPACE: 'mesh' }), 'istiod.mesh.svc:15012');
  assert.equal(host(proxy, { PILOT_ADDRESS: 'pilot' }), 'pilot:15012');
  assert.equal(host(proxy, { PILOT_ADDRESS: 'pilot', ISTIO_ADDRESS: 'istiod:443' }), 'istiod:443');
  assert.equal(host(proxy, { ISTIO_ADDRESS: 'unix:/run/xds.sock' }), '/run/xds.sock');
});

test('a machine with sources of configuration and no address of an istiod is its own control plane', () => {
  const mesh = { 'etc/istio/mesh.yaml': 'configSources: [{address: "fs:///etc/istio/conf"}]\n' };
  const { standalone, address, plaintext } = settingsOf(mesh).controlPlane;
  assert.equal(standalone, 'etc/istio/proxy/istiod');
  assert.deepEqual([address, plaintext], [{ socket: standalone }, true]);
  assert.equal(settingsOf(mesh, { ISTIO_ADDRESS: 'istiod' }).controlPlane.standalone, undefined);
  assert.equal(settingsOf({}).controlPlane.standalone, undefined);
});

test('plaintext is for loopback and sockets alone', () => {
  const plaintext = (env: Readonly<Record<string, string>>) => settingsOf({}, env).controlPlane.plaintext;
  assert.equal(plaintext({ ISTIO_ADDRESS: '127.0.0.1:15010' }), true);
  assert.equal(plaintext({ ISTIO_ADDRESS: 'unix:xds.sock' }), true);
  assert.equal(plaintext({ ISTIO_ADDRESS: '127.0.0.1:15012' }), false);
  assert.equal(plaintext({ ISTIO_ADDRESS: 'localhost:9999', ISTIO_CP_AUTH: 'NONE' }), true);
  assert.match(
    errorsOf({ [SIDECAR]: 'ISTIO_ADDRESS=10.0.0.1:15010' }),
    /^var\/.*sidecar.env:1:1: error VM0602: 10.0.0.1:15010 would be connected to in plaintext/,
  );
  assert.match(errorsOf({}, { ISTIO_ADDRESS: 'istiod:15012', ISTIO_CP_AUTH: 'NONE' }), /plaintext/);
});

test('the roots are those of the operating system on port 443, or where it is said', () => {
  const roots = (env: Readonly<Record<string, string>>) => settingsOf({}, env).controlPlane.rootFiles;
  assert.equal(roots({ ISTIO_ADDRESS: 'istiod.example.com:443' }), undefined);
  assert.equal(roots({ XDS_ROOT_CA: 'SYSTEM' }), undefined);
  assert.equal(roots({ PROV_CERT: 'var/provisioned' })?.[0], 'var/provisioned/root-cert.pem');
  assert.deepEqual(roots({ ISTIO_ADDRESS: 'istiod.example.com:443', XDS_ROOT_CA: '/etc/roots.pem' }), [
    '/etc/roots.pem',
  ]);
});

test('a name that nobody knows is an error in a file, with what was likely meant', () => {
  const text = 'ISTIO_ADRESS=a\nWASM_MODULE_EXPIRY=1h\nHOMEPAGE=x\n';
  const { errors, warnings } = read({ [SIDECAR]: text }, { HOMEPAGE: 'x' });
  assert.deepEqual(errors, [
    `${SIDECAR}:1:1: error VM0601: ISTIO_ADRESS is no variable of istio-agent: write ISTIO_ADDRESS, if that is meant`,
    `${SIDECAR}:3:1: error VM0601: HOMEPAGE is no variable of istio-agent: remove it, or set it in the environment if it is for another program`,
  ]);
  assert.deepEqual(warnings, [`${SIDECAR}:2:1: warning VM0603: WASM_MODULE_EXPIRY has no effect in this version`]);
});

test('a value that can not be taken is an error that says what to write', () => {
  const bad = {
    ISTIO_ADDRESS: 'https://istiod',
    DNS_PROXY_ADDR: '15053',
    DNS_UPSTREAM: 'dns.example.com:53',
    DNS_FORWARD_TIMEOUT: '5',
    DNS_FORWARD_PARALLEL: 'yes',
    ISTIO_METAJSON_LABELS: '[1]',
    INSTANCE_IP: '10.0.0',
    POD_NAME: 'a b',
    PROXY_CONFIG: '{"drain": 1}',
  };
  const errors = errorsOf({}, bad);
  for (const name of Object.keys(bad)) assert.match(errors, new RegExp(`^environment: error VM0602: ${name}`, 'm'));
});

test('DNS is on when it is asked for, on one address or both of localhost', () => {
  const { dns } = settingsOf({}, { ISTIO_META_DNS_CAPTURE: 'true' });
  assert.deepEqual(dns, {
    listen: [
      { host: '127.0.0.1', port: 15053 },
      { host: '::1', port: 15053 },
    ],
    upstream: [],
    timeoutMs: 5000,
    parallel: false,
  });
  const both = settingsOf(
    {},
    {
      ISTIO_META_DNS_CAPTURE: '1',
      DNS_PROXY_ADDR: 'localhost:53',
      DNS_UPSTREAM: '10.0.0.2:53, [::1]:5353',
      DNS_FORWARD_TIMEOUT: '2s',
      DNS_FORWARD_PARALLEL: 'true',
    },
  ).dns;
  assert.deepEqual(both, {
    listen: [
      { host: '127.0.0.1', port: 53 },
      { host: '::1', port: 53 },
    ],
    upstream: [
      { host: '10.0.0.2', port: 53 },
      { host: '::1', port: 5353 },
    ],
    timeoutMs: 2000,
    parallel: true,
  });
});

test('a mesh.yaml that can not be taken is told of, and the agent does without', () => {
  const { settings, warnings } = read({ 'etc/istio/mesh.yaml': 'defaultConfig: {statusPort: none}\n' });
  assert.equal(settings?.proxyConfig.statusPort, undefined);
  assert.match(warnings.join('\n'), /^etc\/istio\/mesh.yaml:1:\d+: error /);
});
