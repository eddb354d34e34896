import assert from 'node:assert/strict';
import { chmodSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { TestAuthority } from '../support/certificates.ts';
import { Child } from '../support/child.ts';
import { dnsQuery } from '../support/dns-client.ts';
import { DnsStub } from '../support/dns-stub.ts';
import { freePorts } from '../support/free-port.ts';
import { httpRequest } from '../support/http-client.ts';
import { agentCommand, IstioAgentProcess } from '../support/istio-agent-process.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

const ENTRY = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: orders, namespace: shop}
spec:
  hosts: [orders.mesh.internal]
  addresses: [240.10.0.1]
  location: MESH_INTERNAL
  ports: [{number: 8080, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: 10.20.0.11}]
`;
const CONF = 'etc/istio/conf/shop/orders.yaml';
const ORDERS = { name: 'orders.mesh.internal', type: 'A' } as const;

/** Of the machine with the agent: `etc/certs` of another directory than the control plane's. */
const MACHINE = 'machine';

async function nameServer(): Promise<DnsStub & AsyncDisposable> {
  const server = new DnsStub({});
  await server.start();
  return Object.assign(server, { [Symbol.asyncDispose]: () => server.stop() });
}

function addresses(agent: IstioAgentProcess, wanted: string): Promise<boolean> {
  return waitFor(async () => (await dnsQuery(agent.dns, ORDERS)).addresses.join() === wanted, {
    what: `answer ${wanted}`,
  });
}

test('over TLS an agent proves who it is, learns the names of the mesh, and their changes', async () => {
  using dir = new WorkDir('agent');
  const authority = new TestAuthority(dir.path);
  dir.write(CONF, ENTRY);
  const server = authority.issue('DNS:istiod.istio-system.svc');
  dir.write('etc/certs/cert-chain.pem', server.chain);
  dir.write('etc/certs/key.pem', server.key);
  dir.write('etc/certs/root-cert.pem', authority.root);
  await using istiod = await IstiodProcess.start({ root: dir.path, listen: { grpcTls: '127.0.0.1:0' } });
  await using names = await nameServer();
  const { grpcTls = '' } = istiod.addresses as { readonly grpcTls?: string };
  const own = authority.issue('URI:spiffe://cluster.local/ns/shop/sa/client');
  dir.write(`${MACHINE}/var/lib/istio/envoy/cluster.env`, `ISTIO_ADDRESS=${grpcTls}\nPOD_NAMESPACE=shop\n`);
  dir.write(
    `${MACHINE}/var/lib/istio/envoy/sidecar.env`,
    `ISTIOD_SAN=istiod.istio-system.svc\nSERVICE_ACCOUNT=client\nISTIO_META_DNS_CAPTURE=true\nDNS_UPSTREAM=${names.address}\n`,
  );
  await using agent = await IstioAgentProcess.start({ root: dir.at(MACHINE), env: { DISABLE_ENVOY: 'true' } });
  await waitFor(
    () => agent.log.includes('there are no roots for its certificate: put them into etc/certs/root-cert.pem'),
    {
      what: 'word of the roots that are missing',
    },
  );
  assert.equal((await dnsQuery(agent.dns, ORDERS)).rcode, 'NXDOMAIN');
  dir.write(`${MACHINE}/etc/certs/cert-chain.pem`, own.chain);
  dir.write(`${MACHINE}/etc/certs/key.pem`, own.key);
  dir.write(`${MACHINE}/etc/certs/root-cert.pem`, authority.root);
  await addresses(agent, '240.10.0.1');
  dir.write(CONF, ENTRY.replace('240.10.0.1', '240.10.0.2'));
  await addresses(agent, '240.10.0.2');
  await istiod.stop();
  await agent.restart('SIGKILL');
  assert.deepEqual((await dnsQuery(agent.dns, ORDERS)).addresses, ['240.10.0.2']);
  assert.match(agent.log, /names of the mesh are known from before/);
});

test('an agent of another authority is told why it is refused, and one whose istiod is forged does not talk to it', async () => {
  using dir = new WorkDir('agent');
  const authority = new TestAuthority(dir.path);
  const server = authority.issue('IP:127.0.0.1');
  dir.write('etc/certs/cert-chain.pem', server.chain);
  dir.write('etc/certs/key.pem', server.key);
  dir.write('etc/certs/root-cert.pem', authority.root);
  await using istiod = await IstiodProcess.start({ root: dir.path, listen: { grpcTls: '127.0.0.1:0' } });
  const { grpcTls = '' } = istiod.addresses as { readonly grpcTls?: string };
  const env = { ISTIO_ADDRESS: grpcTls, ISTIO_META_DNS_CAPTURE: 'true', DISABLE_ENVOY: 'true' };
  using other = new WorkDir('other');
  const stranger = new TestAuthority(other.path);
  dir.write(`${MACHINE}/etc/certs/root-cert.pem`, stranger.root);
  await using agent = await IstioAgentProcess.start({ root: dir.at(MACHINE), env });
  await waitFor(() => /is away.*(self-signed|unable to verify|unable to get)/.test(agent.log), {
    what: 'refusal of istiod',
  });
});

test('what is wrong with the settings ends the agent, with its place', async () => {
  using dir = new WorkDir('agent');
  dir.write('var/lib/istio/envoy/sidecar.env', 'ISTIO_META_DNS_CAPTURE=true\nDNS_PROXY_ADDR=15053\n');
  await assert.rejects(
    IstioAgentProcess.start({ root: dir.path, env: { DNS_PROXY_ADDR: '' } }),
    /ended with 78:\nistio-agent: var\/lib\/istio\/envoy\/sidecar.env:2:1: error VM0602: DNS_PROXY_ADDR can not be "15053"/,
  );
});

test('a second agent in a directory says that there is one, and leaves it alone', async () => {
  using dir = new WorkDir('agent');
  const env = { ISTIO_ADDRESS: 'unix:none.sock', ISTIO_META_DNS_CAPTURE: 'true', DISABLE_ENVOY: 'true' };
  await using agent = await IstioAgentProcess.start({ root: dir.path, env });
  const before = agent.addresses;
  await assert.rejects(
    IstioAgentProcess.start({ root: dir.at('.'), env }),
    /ended with 69:[\s\S]*\nistio-agent: an istio-agent runs in this directory already, as process \d+/,
  );
  assert.deepEqual(agent.addresses, before);
  const { code } = await agent.stop();
  assert.equal(code, 0);
  assert.throws(() => readFileSync(dir.at('var/lib/istio/agent/run/listen.json')), /ENOENT/);
});

test('what Envoy writes into /dev/stdout is in the log of a service manager, whose socket it can not open', async () => {
  using dir = new WorkDir('agent');
  dir.write('envoy', '#!/bin/sh\nprintf "%s\\n" "opened again" > /dev/stdout\nexec sleep 60\n');
  chmodSync(dir.at('envoy'), 0o755);
  const [statusPort, proxyAdminPort] = await freePorts(2);
  const { command, argv0 } = agentCommand();
  const env = {
    ISTIO_ADDRESS: 'unix:none.sock',
    ENVOY_PATH: './envoy',
    PROXY_CONFIG: JSON.stringify({ statusPort, proxyAdminPort, terminationDrainDuration: '0s' }),
  };
  // Pipes of Node are sockets.
  const agent = new Child(command, { cwd: dir.path, env, ...(argv0 === undefined ? {} : { argv0 }) });
  try {
    await waitFor(() => /^opened again$/m.test(agent.output), { what: `line of Envoy; there is ${agent.output}` });
    assert.match(agent.output, /this workload has no certificate, and nothing to ask for one by/);
    const { status } = await httpRequest(`http://127.0.0.1:${statusPort}/quitquitquit`, { method: 'POST' });
    assert.equal(status, 200);
    const { code } = await agent.exited;
    assert.equal(code, 0);
  } finally {
    await agent.stop('SIGKILL');
  }
});
