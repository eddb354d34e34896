import assert from 'node:assert/strict';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { status } from '@grpc/grpc-js';
import type { JsonObject } from '../../src/base/json.ts';
import { AdsClient } from '../support/ads-client.ts';
import { Child } from '../support/child.ts';
import { httpRequest } from '../support/http-client.ts';
import { istiodEnd } from '../support/istiod-end.ts';
import { IstiodProcess, istiodCommand } from '../support/istiod-process.ts';
import { nodeJson } from '../support/node.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

const NODE = nodeJson({ id: 'client.shop', namespace: 'shop' });

const service = (name: string): string => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${name}}
spec:
  hosts: [${name}.internal]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP}]
  endpoints: [{address: 10.0.0.1}]
`;

test('SIGTERM tells proxies to go elsewhere, leaves no trace of a running server, and exits with 0', async () => {
  using dir = new WorkDir('life');
  await using istiod = await IstiodProcess.start({ root: dir.path, listen: { grpcUnix: 'xds.sock' } });
  using client = new AdsClient({ address: istiod.addresses.grpc, node: NODE, reconnect: false });
  await client.settled();
  assert.deepEqual(await istiod.stop('SIGTERM'), { code: 0, signal: null });
  await client.until(() => client.status !== undefined);
  assert.equal(client.status?.code, status.UNAVAILABLE);
  assert.match(client.status?.details ?? '', /the control plane stops; connect again/);
  assert.equal(existsSync(dir.at('var/lib/istio/run/listen.json')), false);
  assert.equal(existsSync(dir.at('xds.sock')), false);
  assert.match(istiod.log, /"signal":"SIGTERM","msg":"istiod stops"[\s\S]*"msg":"istiod has stopped"/);
});

test('a second istiod in the same directory is refused, and the first one goes on', async () => {
  using dir = new WorkDir('life');
  await using istiod = await IstiodProcess.start({ root: dir.path });
  const second = await istiodEnd(dir.path);
  assert.equal(
    second.output,
    `istiod: an istiod runs in this directory already, as process ${istiod.pid}: stop it, or start this one in another directory\n`,
  );
  assert.equal(second.code, 69);
  assert.equal((await istiod.get('/ready')).status, 200);
});

test('after a crash the next istiod starts in the same directory, sockets and all', async () => {
  using dir = new WorkDir('life');
  await using istiod = await IstiodProcess.start({ root: dir.path, listen: { grpcUnix: 'xds.sock' } });
  await istiod.stop('SIGKILL');
  assert.equal(existsSync(dir.at('xds.sock')), true);
  await istiod.start();
  assert.equal(statSync(dir.at('xds.sock')).mode & 0o777, 0o660);
  using client = new AdsClient({ address: `unix:${dir.at('xds.sock')}`, node: NODE, reconnect: false });
  await client.settled();
});

test('a state that can not be written is no reason not to serve', async (t) => {
  using dir = new WorkDir('life');
  dir.write('etc/istio/conf/shop/a.yaml', service('a'));
  dir.write('var', 'a file, where a directory is needed');
  dir.write('etc/istio/istiod.yaml', 'listen: {grpc: "127.0.0.1:0", grpcTls: "", http: "", monitoring: ""}\n');
  const istiod = new Child(istiodCommand(), { cwd: dir.path });
  t.after(() => istiod.stop('SIGKILL'));
  await waitFor(() => /"grpc":"[\d.:]+".*"objects":1.*"msg":"istiod serves"/.test(istiod.output), { what: 'service' });
  assert.match(
    istiod.output,
    /"msg":"var\/lib\/istio can not be written, a file stands where a directory should be: istiod serves, but/,
  );
  assert.deepEqual(await istiod.stop(), { code: 0, signal: null });
});

test('TLS that nobody has asked for is no reason not to serve when its address is taken', async (t) => {
  using dir = new WorkDir('life');
  const other = createServer();
  t.after(() => other.close());
  // Where somebody else has it already, it is taken all the same.
  await new Promise<void>((resolve) => other.once('error', () => resolve()).listen(15012, '0.0.0.0', resolve));
  dir.write('etc/istio/istiod.yaml', 'listen: {grpc: "127.0.0.1:0", http: "", monitoring: ""}\n');
  const istiod = new Child(istiodCommand(), { cwd: dir.path });
  t.after(() => istiod.stop('SIGKILL'));
  await waitFor(() => istiod.output.includes('"msg":"istiod serves"'), { what: 'service' });
  assert.match(istiod.output, /TLS stays off: listen\.grpcTls: 0\.0\.0\.0:15012, its default, is in use/);
  assert.deepEqual(await istiod.stop(), { code: 0, signal: null });
});

test('SIGHUP takes the level of the log from the options, and says what needs a restart', async () => {
  using dir = new WorkDir('life');
  await using istiod = await IstiodProcess.start({ root: dir.path });
  const options = dir.read('etc/istio/istiod.yaml');
  dir.write('etc/istio/istiod.yaml', `${options}log: {level: debug}\nsettle: 1s\n`);
  process.kill(istiod.pid, 'SIGHUP');
  await waitFor(() => istiod.log.includes(`"msg":"the log's level is debug from now on"`), { what: 'new level' });
  assert.match(istiod.log, /"msg":"settle of etc\/istio\/istiod\.yaml: restart istiod for the change"/);
  using client = new AdsClient({ address: istiod.addresses.grpc, node: NODE });
  await client.settled();
  assert.match(istiod.log, /"level":"debug".*"proxy":"client\.shop","type":"cds".*"msg":"sent"/);
  dir.write('etc/istio/istiod.yaml', `${options}log: {level: loud}\n`);
  process.kill(istiod.pid, 'SIGHUP');
  await waitFor(() => istiod.log.includes('can not be taken; the options from before stay'), { what: 'complaint' });
  assert.match(istiod.log, /etc\/istio\/istiod\.yaml:2:14: error IST0106: log\.level: \\"loud\\" is not one of/);
});

test('the env of mesh.yaml wins over the environment, and the log says so once', async () => {
  using dir = new WorkDir('life');
  dir.write('etc/istio/mesh.yaml', 'env: {CLUSTER_ID: from-mesh, DOMAIN_SUFFIX: mesh.test}\n');
  dir.write(
    'etc/istio/conf/shop/web.yaml',
    'apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80, name: http}]}\n',
  );
  const env = { CLUSTER_ID: 'from-shell', DOMAIN_SUFFIX: 'mesh.test' };
  await using istiod = await IstiodProcess.start({ root: dir.path, env });
  const services = await istiod.json<readonly { readonly service: string }[]>('/debug/endpointz');
  assert.deepEqual(
    services.map(({ service: id }) => id),
    ['shop/web.shop.svc.mesh.test'],
  );
  const conflicts = istiod.log.match(/"msg":"\w+ in mesh\.yaml's env wins over the environment/g);
  assert.deepEqual(conflicts, [`"msg":"CLUSTER_ID in mesh.yaml's env wins over the environment`]);
});

test('over HTTP the server says what there is, and tells the mesh to nobody who asks by a foreign name', async () => {
  using dir = new WorkDir('life');
  await using istiod = await IstiodProcess.start({ root: dir.path });
  const at = (path: string, host?: string, method?: string) =>
    httpRequest(`http://${istiod.addresses.monitoring}${path}`, {
      ...(host === undefined ? {} : { host }),
      ...(method === undefined ? {} : { method }),
    });
  const index = (await at('/')).body.trimEnd().split('\n');
  for (const line of index) {
    const path = line.split(' ')[0] ?? '';
    const ofProxy = line.includes('?proxyID=');
    assert.equal((await at(`${path}${ofProxy ? '?proxyID=nobody' : ''}`)).status, ofProxy ? 404 : 200, path);
  }
  const described = [...readFileSync('docs/reference/http.md', 'utf8').matchAll(/^\| `(\S+)` \|/gm)].map(
    ([, path]) => path,
  );
  assert.deepEqual(index.map((line) => line.split(' ')[0]).sort(), described.sort());
  assert.equal((await at('/debug/configz', 'rebound.example')).status, 403);
  assert.equal((await at('/debug/configz', 'localhost:1')).status, 200);
  assert.equal((await at('/metrics', 'prometheus.example')).status, 200);
  assert.equal((await at('/ready', 'balancer.example')).status, 200);
  const post = await at('/ready', undefined, 'POST');
  assert.deepEqual([post.status, post.headers.allow], [405, 'GET, HEAD']);
  assert.equal((await at('/nowhere')).status, 404);
});

test("Istio's debug pages say what the mesh is made into, and what a proxy is sent", async () => {
  using dir = new WorkDir('life');
  dir.write('etc/istio/conf/shop/a.yaml', service('a').replace('10.0.0.1', '127.0.0.1'));
  dir.write('etc/istio/mesh.yaml', 'connectTimeout: 7s\n');
  await using istiod = await IstiodProcess.start({ root: dir.path });
  using client = new AdsClient({ address: istiod.addresses.grpc, node: NODE });
  await client.settled();
  const services =
    await istiod.json<readonly { readonly hostname: string; readonly config: string }[]>('/debug/registryz');
  assert.deepEqual(
    services.map(({ hostname }) => hostname),
    ['a.internal'],
  );
  assert.equal((await istiod.json<{ readonly connectTimeout: string }>('/debug/mesh')).connectTimeout, '7s');
  const instances = await istiod.json<Record<string, readonly { readonly targetPort: number }[]>>('/debug/instancesz');
  assert.deepEqual(
    instances['client.shop']?.map(({ targetPort }) => targetPort),
    [80],
  );
  const eds = await istiod.json<readonly { readonly clusterName: string }[]>('/debug/edsz?proxyID=client.shop');
  assert.deepEqual(
    eds.map(({ clusterName }) => clusterName),
    ['outbound|80||a.internal'],
  );
  const { clients } = await istiod.json<{ readonly clients: readonly JsonObject[] }>('/debug/adsz');
  assert.deepEqual(
    clients.map(({ nodeId, metadata }) => [nodeId, (metadata as JsonObject)['NAMESPACE']]),
    [['sidecar~127.0.0.1~client.shop~shop.svc.cluster.local', 'shop']],
  );
  const missing = await istiod.get('/debug/edsz?proxyID=nobody');
  assert.equal(missing.body, 'no proxy "nobody" is connected; write ?proxyID= one of: client.shop\n');
});

/** The value of one series; undefined when it is not there. */
function value(metrics: string, series: string): number | undefined {
  const line = metrics.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

test("metrics count with Istio's names what was sent, refused and taken over", async () => {
  using dir = new WorkDir('life');
  dir.write('etc/istio/conf/shop/a.yaml', service('a'));
  dir.write('etc/istio/conf/shop/broken.yaml', service('broken').replace('number: 80', 'number: 80000'));
  await using istiod = await IstiodProcess.start({ root: dir.path });
  const node = nodeJson({ id: 'client.shop', namespace: 'shop', metadata: { ISTIO_VERSION: '1.32.0' } });
  let isWilling = true;
  const judge = (): string | undefined => (isWilling ? undefined : 'not today');
  using client = new AdsClient({ address: istiod.addresses.grpc, node, judge });
  await client.settled();
  const before = await istiod.metrics();
  assert.equal(value(before, 'pilot_xds{version="1.32.0"}'), 1);
  assert.equal(value(before, 'pilot_services'), 1);
  assert.equal(value(before, 'istiod_vm_documents_refused'), 1);
  assert.equal(value(before, 'istiod_vm_findings{severity="error"}'), 1);
  assert.equal(value(before, 'pilot_proxy_convergence_time_count'), 0);
  assert.equal(value(before, 'pilot_total_xds_rejects{type="cds"}'), 0);
  const pushes = value(before, 'pilot_xds_pushes{type="cds"}') ?? 0;
  assert.ok(pushes >= 1);

  dir.write('etc/istio/conf/shop/b.yaml', service('b'));
  await waitFor(async () => value(await istiod.metrics(), 'pilot_proxy_convergence_time_count') === 1, {
    what: 'change that the proxy took over',
  });
  assert.equal(value(await istiod.metrics(), 'pilot_xds_pushes{type="cds"}'), pushes + 1);

  isWilling = false;
  dir.write('etc/istio/conf/shop/c.yaml', service('c'));
  const series = 'pilot_xds_cds_reject{node="client.shop",err="Internal"}';
  await waitFor(async () => value(await istiod.metrics(), series) === 1, { what: 'refusal' });
  const after = await istiod.metrics();
  assert.equal(value(after, 'pilot_total_xds_rejects{type="cds"}'), 1);
  assert.equal(value(after, 'pilot_proxy_convergence_time_count'), 1);
  client.close();
  await waitFor(async () => value(await istiod.metrics(), series) === undefined, { what: 'end of the stream' });
});

test('the executable says its version, and the same over HTTP and in metrics', async () => {
  using dir = new WorkDir('life');
  const { output, code } = await istiodEnd(dir.path, ['version']);
  assert.equal(code, 0);
  const [, version = ''] = /^istiod-vm (\S+)\n$/.exec(output) ?? [];
  const expected = (JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }).version;
  assert.ok(version === expected || version === 'dev', output);
  await using istiod = await IstiodProcess.start({ root: dir.path });
  assert.equal((await istiod.json<{ version: string }>('/version')).version, version);
  assert.equal(value(await istiod.metrics(), `istio_build{component="pilot",tag="${version}"}`), 1);
});
