import assert from 'node:assert/strict';
import { randomBytes, X509Certificate } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { TestAuthority } from '../support/certificates.ts';
import { dnsQuery } from '../support/dns-client.ts';
import { envoyPath } from '../support/envoy-process.ts';
import { freePorts } from '../support/free-port.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { httpRequest } from '../support/http-client.ts';
import { IstioAgentProcess } from '../support/istio-agent-process.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { joinTokens } from '../support/join-tokens.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { localService } from './local-mesh.ts';

const HOST = 'ratings.shop.internal';
const MACHINE = 'machine';
const CONF = 'etc/istio/conf/shop/ratings.yaml';

interface Mesh extends AsyncDisposable {
  readonly dir: WorkDir;
  readonly istiod: IstiodProcess;
  /** Ports of two services, behind which `one` and `two` stand. */
  readonly ports: readonly [number, number];
  readonly backends: readonly [HttpBackend, HttpBackend];
  readonly env: Readonly<Record<string, string>>;
  /** Root of another mesh, in PEM. */
  readonly other: string;
}

/** istiod with a join token for the machine, and two backends, of which the first is a service. */
async function mesh(): Promise<Mesh> {
  await using started = new AsyncDisposableStack();
  const dir = started.use(new WorkDir('vm'));
  const one = await HttpBackend.start('one');
  const two = await HttpBackend.start('two');
  started.defer(async () => void (await Promise.all([one.stop(), two.stop()])));
  const [first = 0, second = 0] = await freePorts(2);
  const token = randomBytes(24).toString('base64url');
  dir.write('etc/istio/join-tokens.yaml', joinTokens({ token, namespace: 'shop', serviceAccount: 'client' }));
  dir.write(CONF, localService('ratings', first, one.port));
  // Of another mesh, which is trusted, too.
  const other = new TestAuthority(dir.path).root;
  dir.write('etc/istio/mesh.yaml', JSON.stringify({ caCertificates: [{ pem: other }] }));
  const istiod = started.use(
    await IstiodProcess.start({
      root: dir.path,
      listen: { grpcTls: '127.0.0.1:0' },
      env: { ISTIO_MULTIROOT_MESH: 'true' },
    }),
  );
  dir.write(`${MACHINE}/var/run/secrets/tokens/istio-token`, `${token}\n`);
  dir.write(`${MACHINE}/etc/certs/root-cert.pem`, dir.read('var/lib/istio/ca/root-cert.pem'));
  const rest = started.move();
  return {
    dir,
    istiod,
    ports: [first, second],
    backends: [one, two],
    other,
    env: {
      ISTIO_ADDRESS: (istiod.addresses as { readonly grpcTls?: string }).grpcTls ?? '',
      ENVOY_PATH: envoyPath(),
      POD_NAME: 'client-1',
      POD_NAMESPACE: 'shop',
      SERVICE_ACCOUNT: 'client',
      INSTANCE_IP: '127.0.0.1',
      ISTIO_METAJSON_LABELS: '{"app":"client"}',
      ISTIO_META_INTERCEPTION_MODE: 'NONE',
      ISTIO_META_DNS_CAPTURE: 'true',
    },
    [Symbol.asyncDispose]: () => rest.disposeAsync(),
  };
}

async function answered(port: number, host: string): Promise<string> {
  return (await httpRequest(`http://127.0.0.1:${port}/`, { headers: { host } })).body;
}

test('a machine with a token gets a certificate, an Envoy that serves, and goes on without istiod', {
  timeout: 120_000,
}, async () => {
  await using world = await mesh();
  const { dir, istiod, ports, backends, env } = world;
  await using agent = await IstioAgentProcess.start({
    root: dir.at(MACHINE),
    env,
    proxyConfig: { concurrency: 1, terminationDrainDuration: '1s' },
  });
  await waitFor(async () => (await agent.get('/healthz/ready', 'ready')).status === 200, {
    what: `ready agent; it says ${agent.log}`,
    withinMs: 30_000,
  });
  await waitFor(async () => (await answered(ports[0], HOST)) === 'one', { what: 'answer of the service' });
  assert.deepEqual((await dnsQuery(agent.dns, { name: 'nowhere.test', type: 'AAAA' })).packet.flag_qr, true);

  // What Envoy has as its certificate is what istiod gave to this workload, and nobody else can read its key.
  const secrets = await agent.get('/config_dump?resource=dynamic_active_secrets', 'admin');
  const chain = /"inline_bytes": "([^"]+)"/.exec(secrets.body)?.[1] ?? '';
  const { subjectAltName } = new X509Certificate(Buffer.from(chain, 'base64'));
  assert.equal(subjectAltName, 'URI:spiffe://cluster.local/ns/shop/sa/client');
  assert.equal(statSync(dir.at(`${MACHINE}/var/lib/istio/agent/certificate.json`)).mode & 0o777, 0o600);
  assert.equal(statSync(dir.at(`${MACHINE}/etc/istio/proxy/SDS`)).mode & 0o777, 0o660);
  const metrics = (await agent.get('/stats/prometheus')).body;
  assert.match(metrics, /^istio_agent_cert_expiry_seconds\{resource_name="default"\} 8\d{4}$/m);
  assert.match(metrics, /^istio_agent_control_plane_connected 1$/m);
  assert.match(metrics, /^envoy_server_live\{\} 1$/m);

  const roots = async (): Promise<string> => {
    const { body } = await agent.get('/config_dump?resource=dynamic_active_secrets', 'admin');
    const all = [...body.matchAll(/"inline_bytes": "([^"]+)"/g)].map(([, text = '']) =>
      Buffer.from(text, 'base64').toString(),
    );
    return all.find((text) => text.includes(world.other.trim())) ?? '';
  };
  const own = dir.read('var/lib/istio/ca/root-cert.pem').trim();
  await waitFor(async () => (await roots()).includes(own), { what: 'roots of both meshes' });

  // istiod sees one proxy, and hears what Envoy takes.
  const status = (await istiod.get('/debug/syncz')).body;
  assert.equal(status.match(/client-1\.shop/g)?.length, 1, status);

  // A change reaches it.
  dir.write(CONF, localService('ratings', ports[0], backends[1].port));
  await waitFor(async () => (await answered(ports[0], HOST)) === 'two', { what: 'answer of the other backend' });
  const cache = dir.at(`${MACHINE}/var/lib/istio/agent/xds-cache`);
  await waitFor(() => readFileSync(cache, 'latin1').includes('outbound'), { what: 'cache on disk' });

  // istiod goes: traffic goes on.
  await istiod.stop('SIGKILL');
  await waitFor(() => agent.log.includes('Envoy goes on with its last'), { what: 'word that istiod is away' });
  assert.equal(await answered(ports[0], HOST), 'two');

  // The agent is killed, and started again without istiod: its Envoy is another one, with the same configuration.
  await agent.restart('SIGKILL');
  await waitFor(async () => (await agent.get('/healthz/ready', 'ready')).status === 200, {
    what: `ready agent; it says ${agent.log}`,
    withinMs: 30_000,
  });
  assert.equal(await answered(ports[0], HOST), 'two');
  assert.match(agent.log, /an Envoy of an agent that was killed, process \d+, was ended/);

  // istiod comes back, with other configuration.
  dir.write(CONF, localService('ratings', ports[0], backends[0].port));
  await istiod.start();
  await waitFor(async () => (await answered(ports[0], HOST)) === 'one', {
    what: `answer of the first backend; the agent says ${agent.log}`,
    withinMs: 30_000,
  });
  const { code } = await agent.stop();
  assert.equal(code, 0, agent.log);
  assert.match(agent.log, /Envoy drains its connections/);
});

test('a machine with configuration and no istiod is its own control plane', { timeout: 60_000 }, async () => {
  using dir = new WorkDir('standalone');
  const backend = await HttpBackend.start('one');
  const [port = 0] = await freePorts(1);
  try {
    dir.write(CONF, localService('ratings', port, backend.port));
    dir.write(
      'etc/istio/mesh.yaml',
      JSON.stringify({ configSources: [{ address: `fs://${dir.at('etc/istio/conf')}` }] }),
    );
    await using agent = await IstioAgentProcess.start({
      root: dir.path,
      env: {
        ENVOY_PATH: envoyPath(),
        POD_NAMESPACE: 'shop',
        INSTANCE_IP: '127.0.0.1',
        ISTIO_META_INTERCEPTION_MODE: 'NONE',
        ISTIO_META_DNS_CAPTURE: 'true',
      },
      proxyConfig: { concurrency: 1, terminationDrainDuration: '0s' },
    });
    await waitFor(async () => (await answered(port, HOST)) === 'one', {
      what: `answer of the service; the agent says ${agent.log}`,
      withinMs: 30_000,
    });
    dir.write(CONF, localService('reviews', port, backend.port));
    await waitFor(async () => (await answered(port, 'reviews.shop.internal')) === 'one', { what: 'the change' });
    assert.equal((await agent.stop()).code, 0, agent.log);
  } finally {
    await backend.stop();
  }
});
