import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CaseProxy } from '../parity/case-files.ts';
import { TestAuthority } from '../support/certificates.ts';
import type { Echo } from '../support/echo-server.ts';
import { capture, Network } from '../support/network.ts';
import type { Probe } from '../support/probe.ts';
import { Resident } from '../support/resident.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { ServedCase } from './acceptance.ts';
import { withoutNamespaces } from './conditions.ts';
import { MachineEnvoy } from './machine-envoy.ts';

const CLIENT = '10.1.0.1';
const SERVER = '10.1.0.2';
const OTHER = '10.1.0.3';
const SERVICE = '10.99.0.1';
/** Clients know a service there, the server does not: its sidecar has no chain for the port. */
const UNDECLARED = 7777;

/** The server under two names: one that its sidecar knows, and one in the clients' namespace that leads past it by DNS. */
const SERVICES = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: server, namespace: shop}
spec:
  hosts: [server.shop.internal]
  addresses: [${SERVICE}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports:
  - {number: 80, name: http, protocol: HTTP, targetPort: 8080}
  - {number: 9000, name: tcp, protocol: TCP}
  workloadSelector: {labels: {app: server}}
---
apiVersion: networking.istio.io/v1
kind: WorkloadEntry
metadata: {name: server-1, namespace: shop}
spec:
  address: ${SERVER}
  labels: {app: server, security.istio.io/tlsMode: istio}
  serviceAccount: server
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: undeclared, namespace: callers}
spec:
  hosts: [undeclared.callers.internal]
  location: MESH_INTERNAL
  resolution: DNS
  exportTo: ['.']
  ports: [{number: ${UNDECLARED}, name: http, protocol: HTTP}]
  endpoints: [{address: server.test, labels: {security.istio.io/tlsMode: istio}}]
  subjectAltNames: ['spiffe://cluster.local/ns/shop/sa/server']
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: undeclared-lines, namespace: callers}
spec:
  hosts: [undeclared-lines.callers.internal]
  addresses: [10.99.0.2]
  location: MESH_INTERNAL
  resolution: DNS
  exportTo: ['.']
  ports: [{number: ${UNDECLARED + 1}, name: tcp, protocol: TCP}]
  endpoints: [{address: server.test, labels: {security.istio.io/tlsMode: istio}}]
  subjectAltNames: ['spiffe://cluster.local/ns/shop/sa/server']
`;

const peers = (mode: string): string => `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: default}
spec: {mtls: {mode: ${mode}}}
`;

/** The client may read, and send lines; nobody else may do anything. */
const RULES = `
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: {name: server}
spec:
  selector: {matchLabels: {app: server}}
  rules:
  - from: [{source: {principals: [cluster.local/ns/callers/sa/client]}}]
    to: [{operation: {methods: [GET], paths: [/read*]}}]
  - from: [{source: {principals: [cluster.local/ns/callers/sa/client]}}]
    to: [{operation: {ports: ['9000', '${UNDECLARED + 1}']}}]
`;

const sidecar = (name: string, namespace: string, ip: string): CaseProxy => ({
  name,
  type: 'sidecar',
  id: `${name}-1.${namespace}`,
  ips: [ip],
  namespace,
  dnsDomain: `${namespace}.svc.cluster.local`,
  metadata: { NAMESPACE: namespace, SERVICE_ACCOUNT: name, LABELS: { app: name }, INTERCEPTION_MODE: 'REDIRECT' },
});

const declared = (path: string, method = 'GET'): Probe => ({
  to: `${SERVICE}:80`,
  host: 'server.shop.internal',
  path,
  method,
});
const undeclared = (path: string, method = 'GET'): Probe => ({
  to: `240.0.0.1:${UNDECLARED}`,
  host: `undeclared.callers.internal:${UNDECLARED}`,
  path,
  method,
});
const line = (to: string): Probe => ({ to, protocol: 'tcp' });

const skip = withoutNamespaces();

test('upstream Envoys enforce policies by principal on all ports, PERMISSIVE and STRICT', {
  skip,
  timeout: 60_000,
}, async () => {
  using files = new WorkDir('principals');
  files.write('case/etc/istio/conf/shop/services.yaml', SERVICES);
  files.write('case/etc/istio/conf/shop/rules.yaml', RULES);
  files.write('case/etc/istio/conf/shop/peers.yaml', peers('PERMISSIVE'));
  const authority = new TestAuthority(files.path);
  await using served = await ServedCase.start({ directory: files.at('case'), env: {} });
  using network = new Network();
  const machines = [CLIENT, SERVER, OTHER].map((ip) => network.machine([ip]));
  for (const machine of machines) capture(machine, 'REDIRECT');
  const [clientMachine, serverMachine, otherMachine] = machines;
  assert.ok(clientMachine && serverMachine && otherMachine);
  await using world = new Resident(network.world);
  await world.answerNames({ 'server.test': [SERVER] });
  await using client = new Resident(clientMachine);
  await using other = new Resident(otherMachine);
  await using workload = new Resident(serverMachine);
  for (const port of [8080, 9000, UNDECLARED, UNDECLARED + 1]) {
    await workload.listen({ at: `${SERVER}:${port}`, name: String(port) });
  }
  const { xds } = served;
  const start = (machine: typeof serverMachine, proxy: CaseProxy) =>
    MachineEnvoy.start({ machine, proxy, xds, authority });
  await using serverSide = await start(serverMachine, sidecar('server', 'shop', SERVER));
  await using clientSide = await start(clientMachine, sidecar('client', 'callers', CLIENT));
  await using otherSide = await start(otherMachine, sidecar('other', 'callers', OTHER));
  const envoys = [serverSide, clientSide, otherSide].map(({ envoy }) => envoy);
  await Promise.all(envoys.map((envoy) => envoy.untilReady()));

  const outcome = async (from: Resident, probe: Probe): Promise<string> => {
    try {
      const { status, body } = await from.probe(probe);
      return status === 200 || status === 0 ? `by ${(JSON.parse(body) as Echo).backend}` : String(status);
    } catch {
      return 'closed';
    }
  };
  const outcomes = (from: Resident, ...probes: readonly Probe[]): Promise<readonly string[]> =>
    Promise.all(probes.map((probe) => outcome(from, probe)));

  const all = [
    declared('/read'),
    declared('/write'),
    declared('/read', 'POST'),
    undeclared('/read'),
    undeclared('/write'),
    undeclared('/read', 'POST'),
    line(`${SERVICE}:9000`),
    line(`10.99.0.2:${UNDECLARED + 1}`),
  ];
  const asClient = ['by 8080', '403', '403', `by ${UNDECLARED}`, '403', '403', 'by 9000', `by ${UNDECLARED + 1}`];
  const asOther = ['403', '403', '403', '403', '403', '403', 'closed', 'closed'];
  const straight = (port: number): Probe => ({ to: `${SERVER}:${port}`, path: '/read' });
  const plaintext = [straight(8080), straight(UNDECLARED), line(`${SERVER}:9000`), line(`${SERVER}:${UNDECLARED + 1}`)];

  assert.deepEqual(await outcomes(client, ...all), asClient);
  assert.deepEqual(await outcomes(other, ...all), asOther);
  assert.deepEqual(await outcomes(world, ...plaintext), ['403', '403', 'closed', 'closed'], 'nobody knows who calls');

  served.dir.write('etc/istio/conf/shop/peers.yaml', peers('STRICT'));
  await waitFor(async () => (await outcome(world, straight(8080))) === 'closed', { what: 'refusal of plaintext' });
  assert.deepEqual(
    await outcomes(world, ...plaintext),
    plaintext.map(() => 'closed'),
  );
  assert.deepEqual(await outcomes(client, ...all), asClient);
  assert.deepEqual(await outcomes(other, ...all), asOther);
  for (const envoy of envoys) assert.equal(await envoy.rejected(), 0);
});
