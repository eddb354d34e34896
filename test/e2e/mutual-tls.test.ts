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
const SERVICE = '10.99.0.1';
const HTTP: Probe = { to: `${SERVICE}:80`, host: 'server.shop.internal' };
const TCP: Probe = { to: `${SERVICE}:9000`, protocol: 'tcp' };
/** To the workload itself, past the client's sidecar. */
const PLAINTEXT: Probe = { to: `${SERVER}:8080`, host: 'server.shop.internal' };

const SERVICES = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: server}
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
metadata: {name: server-1}
spec:
  address: ${SERVER}
  labels: {app: server, security.istio.io/tlsMode: istio}
  serviceAccount: server
`;

const policy = (mode: string): string => `
apiVersion: security.istio.io/v1
kind: PeerAuthentication
metadata: {name: default}
spec: {mtls: {mode: ${mode}}}
`;

const sidecar = (name: string, ip: string): CaseProxy => ({
  name,
  type: 'sidecar',
  id: `${name}-1.shop`,
  ips: [ip],
  namespace: 'shop',
  dnsDomain: 'shop.svc.cluster.local',
  metadata: { NAMESPACE: 'shop', SERVICE_ACCOUNT: name, LABELS: { app: name }, INTERCEPTION_MODE: 'REDIRECT' },
});

const skip = withoutNamespaces();

test('two upstream Envoys speak mutual TLS by themselves, PERMISSIVE and STRICT', {
  skip,
  timeout: 60_000,
}, async () => {
  using files = new WorkDir('mutual-tls');
  files.write('case/etc/istio/conf/shop/services.yaml', SERVICES);
  files.write('case/etc/istio/conf/shop/policy.yaml', policy('PERMISSIVE'));
  const authority = new TestAuthority(files.path);
  await using served = await ServedCase.start({ directory: files.at('case'), env: {} });
  using network = new Network();
  const [clientMachine, serverMachine] = [network.machine([CLIENT]), network.machine([SERVER])];
  for (const machine of [clientMachine, serverMachine]) capture(machine, 'REDIRECT');
  await using world = new Resident(network.world);
  await world.answerNames({});
  await using client = new Resident(clientMachine);
  await using workload = new Resident(serverMachine);
  for (const port of [8080, 9000]) await workload.listen({ at: `${SERVER}:${port}`, name: String(port) });
  const { xds } = served;
  const ofClient = { machine: clientMachine, proxy: sidecar('client', CLIENT), xds, authority };
  const ofServer = { machine: serverMachine, proxy: sidecar('server', SERVER), xds, authority };
  await using clientSide = await MachineEnvoy.start(ofClient);
  await using serverSide = await MachineEnvoy.start(ofServer);
  await Promise.all([clientSide, serverSide].map(({ envoy }) => envoy.untilReady()));

  const handshakes = (): Promise<number> => serverSide.envoy.stat('listener.0.0.0.0_15006.ssl.handshake');
  const asked = async (from: Resident, probe: Probe): Promise<Echo> => JSON.parse((await from.probe(probe)).body);
  const assertMutual = async (): Promise<void> => {
    for (const protocol of ['http', 'h2'] as const) {
      const { backend, headers } = await asked(client, { ...HTTP, protocol });
      assert.equal(backend, '8080');
      const certificate = String(headers?.['x-forwarded-client-cert']);
      assert.match(certificate, /By=spiffe:\/\/cluster\.local\/ns\/shop\/sa\/server/);
      assert.match(certificate, /URI=spiffe:\/\/cluster\.local\/ns\/shop\/sa\/client/);
    }
    const before = await handshakes();
    assert.equal((await asked(client, TCP)).backend, '9000');
    assert.ok((await handshakes()) > before, 'TCP goes within TLS');
  };

  await assertMutual();
  const plain = await asked(world, PLAINTEXT);
  assert.deepEqual([plain.backend, plain.headers?.['x-forwarded-client-cert']], ['8080', undefined]);

  served.dir.write('etc/istio/conf/shop/policy.yaml', policy('STRICT'));
  const refused = async (): Promise<boolean> =>
    world.probe(PLAINTEXT).then(
      () => false,
      () => true,
    );
  await waitFor(refused, { what: 'refusal of plaintext' });
  await assertMutual();

  served.dir.write('etc/istio/conf/shop/policy.yaml', policy('DISABLE'));
  const unsecured = async (): Promise<boolean> =>
    (await asked(client, HTTP)).headers?.['x-forwarded-client-cert'] === undefined;
  await waitFor(unsecured, { what: 'plaintext between the two' });
  for (const { envoy } of [clientSide, serverSide]) assert.equal(await envoy.rejected(), 0);
});
