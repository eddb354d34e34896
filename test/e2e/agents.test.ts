import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chmodSync, chownSync, cpSync } from 'node:fs';
import { test } from 'node:test';
import { Child } from '../support/child.ts';
import type { Echo } from '../support/echo-server.ts';
import { envoyPath } from '../support/envoy-process.ts';
import { agentCommand, IstioAgentProcess } from '../support/istio-agent-process.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { joinTokens } from '../support/join-tokens.ts';
import { type Namespace, Network, PROXY_UID } from '../support/network.ts';
import { Resident } from '../support/resident.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { withoutNamespaces } from './conditions.ts';

const CLIENT = '10.1.0.1';
const SERVER = '10.1.0.2';
const NAME = 'server.shop.internal';

const MESH = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: server}
spec:
  hosts: [${NAME}]
  addresses: [10.99.0.1]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP, targetPort: 8080}]
  workloadSelector: {labels: {app: server}}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: server-1}
spec: {address: ${SERVER}, labels: {app: server}, serviceAccount: server}
---
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: default}
spec: {mtls: {mode: STRICT}}
`;

interface Machine {
  readonly name: 'client' | 'server';
  readonly ip: string;
  readonly namespace: Namespace;
  readonly env: Readonly<Record<string, string>>;
}

/** One command of the agent on a machine, as root. */
async function command(dir: WorkDir, { name, namespace, env }: Machine, ...args: readonly string[]): Promise<string> {
  const {
    command: [file = '', ...rest],
    argv0,
  } = agentCommand();
  const options = { cwd: dir.at(name), env, ...(argv0 === undefined ? {} : { argv0 }) };
  const child = new Child([...namespace.prefix, file, ...rest, ...args], options);
  const { code } = await child.exited;
  return `${code}: ${child.output}`;
}

test('workloads on two machines with agents find each other by name and speak mutual TLS, captured by the agents’ rules', {
  skip: withoutNamespaces(),
  timeout: 120_000,
}, async () => {
  using dir = new WorkDir('agents');
  chmodSync(dir.path, 0o755);
  dir.write('etc/istio/conf/shop/mesh.yaml', MESH);
  const tokens = { client: randomBytes(24).toString('hex'), server: randomBytes(24).toString('hex') };
  const owned = Object.entries(tokens).map(([serviceAccount, token]) => ({ token, namespace: 'shop', serviceAccount }));
  dir.write('etc/istio/join-tokens.yaml', joinTokens(...owned));
  const socket = dir.at('xds.sock');
  await using istiod = await IstiodProcess.start({ root: dir.path, listen: { grpcUnix: socket } });
  chownSync(socket, PROXY_UID, PROXY_UID);
  assert.ok(istiod.pid > 0);

  using network = new Network();
  const machine = (name: Machine['name'], ip: string): Machine => {
    const namespace = network.machine([ip]);
    dir.write(`${name}/var/run/secrets/tokens/istio-token`, tokens[name]);
    // Programs of the machine resolve names with the resolv.conf of this one, whose name servers nobody reaches from there.
    cpSync('/etc/resolv.conf', dir.at(`${name}/etc/resolv.conf`), { recursive: true, dereference: true });
    const env = {
      ISTIO_ADDRESS: `unix:${socket}`,
      ENVOY_PATH: envoyPath(),
      POD_NAME: `${name}-1`,
      POD_NAMESPACE: 'shop',
      SERVICE_ACCOUNT: name,
      INSTANCE_IP: ip,
      ISTIO_METAJSON_LABELS: JSON.stringify({ app: name }),
      ISTIO_META_DNS_CAPTURE: 'true',
      DNS_PROXY_ADDR: '127.0.0.1:15053',
      PROXY_UID: String(PROXY_UID),
      PROXY_GID: String(PROXY_UID),
      PROXY_CONFIG: '{"concurrency":1,"terminationDrainDuration":"1s"}',
    };
    return { name, ip, namespace, env };
  };
  const machines = { client: machine('client', CLIENT), server: machine('server', SERVER) };
  const started = async (one: Machine): Promise<IstioAgentProcess> => {
    assert.match(await command(dir, one, 'iptables', 'apply'), /^0: /);
    await new Child(['chown', '-R', `${PROXY_UID}`, dir.at(one.name)]).exited;
    const root = dir.at(one.name);
    return IstioAgentProcess.start({ root, env: one.env, prefix: one.namespace.proxyPrefix() });
  };
  await using client = await started(machines.client);
  await using server = await started(machines.server);
  await using onClient = new Resident(machines.client.namespace);
  await using onServer = new Resident(machines.server.namespace);
  await using world = new Resident(network.world);
  await onServer.listen({ at: `${SERVER}:8080`, name: 'workload' });

  const asked = async (): Promise<Echo> => JSON.parse((await onClient.probe({ to: `${NAME}:80`, host: NAME })).body);
  const found = await waitFor(asked, {
    what: `answer; the agents say:\n${client.log}\n${server.log}`,
    withinMs: 40_000,
    everyMs: 200,
  });
  assert.equal(found.backend, 'workload');
  const certificate = String(found.headers?.['x-forwarded-client-cert']);
  assert.match(certificate, /By=spiffe:\/\/cluster\.local\/ns\/shop\/sa\/server/);
  assert.match(certificate, /URI=spiffe:\/\/cluster\.local\/ns\/shop\/sa\/client/);
  await assert.rejects(world.probe({ to: `${SERVER}:8080` }), 'plaintext is refused');

  const check = await command(dir, machines.client, 'check');
  assert.match(check, /^0: /, check);
  assert.match(check, /traffic is captured as it should be/);
  assert.match(check, /the agent runs, and the workload is ready/);
  assert.match(await command(dir, machines.client, 'iptables', 'check'), /^0: /);
  assert.match(await command(dir, machines.client, 'iptables', 'remove'), /^0: /);
  assert.match(await command(dir, machines.client, 'iptables', 'check'), /^2: iptables -t nat: missing: /);
});
