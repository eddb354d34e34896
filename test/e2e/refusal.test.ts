import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Child } from '../support/child.ts';
import { envoyBootstrap } from '../support/envoy-bootstrap.ts';
import { envoyPath } from '../support/envoy-process.ts';
import { freePorts } from '../support/free-port.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { httpRequest } from '../support/http-client.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { nodeJson } from '../support/node.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { LocalMesh, localService } from './local-mesh.ts';

const HOST = 'web.shop.internal';

interface ObjectStatus {
  readonly resource: string;
  readonly refusedBy: readonly { readonly proxy: string; readonly message: string }[];
}

// The directory of the log is something that only the Envoy can know.
test('what an Envoy refuses leaves it with what it took before, is told once with its file, and hinders nothing else', async () => {
  await using stack = new AsyncDisposableStack();
  const backends = await Promise.all(['one', 'two'].map((name) => HttpBackend.start(name)));
  for (const backend of backends) stack.defer(() => backend.stop());
  const [one, two] = backends.map(({ port }) => port) as [number, number];
  const [port = 0] = await freePorts(1);
  const mesh = stack.use(await LocalMesh.start({ files: { 'shop/web.yaml': localService('web', port, one) } }));
  const { dir, envoy, istiod } = mesh;
  const ask = async (): Promise<string> => (await httpRequest(`http://127.0.0.1:${port}/`, { host: HOST })).body;
  const first = await ask();

  dir.write('etc/istio/mesh.yaml', '# no such directory\naccessLogFile: /nowhere/at/all/access.log\n');
  await waitFor(async () => (await envoy.rejected()) > 0, { what: 'refusal' });
  await waitFor(() => istiod.log.includes('a proxy refused what it was sent'), { what: 'line about the refusal' });
  const line = istiod.log.split('\n').find((each) => each.includes('a proxy refused what it was sent')) ?? '';
  const { proxy, type, from, refused, advice } = JSON.parse(line);
  assert.deepEqual([proxy, type], ['client-1.shop', 'lds']);
  assert.match(from[0], /^etc\/istio\/mesh\.yaml:/);
  assert.match(refused, /unable to open file '\/nowhere\/at\/all\/access\.log'/i);
  assert.equal(advice, 'name a file in a directory that is there on its machine, and that its user may write to');
  assert.equal(await ask(), first);
  const status = await istiod.json<readonly ObjectStatus[]>('/debug/statusz');
  assert.deepEqual(
    status.filter(({ refusedBy }) => refusedBy.length > 0).map(({ resource }) => resource.split('/')[0]),
    ['MeshConfig'],
  );

  // Endpoints go on, and what was refused does not come again.
  const rejected = await envoy.rejected();
  dir.write('etc/istio/conf/shop/web.yaml', localService('web', port, two));
  await waitFor(async () => (await ask()) !== first, { what: 'answer of the other backend' });
  assert.equal(await envoy.rejected(), rejected);

  dir.write('etc/istio/mesh.yaml', `accessLogFile: ${dir.at('access.log')}\n`);
  await waitFor(
    async () => {
      await ask();
      return dir.read('access.log') !== '';
    },
    { what: 'access log', everyMs: 100 },
  );
  assert.equal(await envoy.rejected(), rejected);
  const after = await istiod.json<readonly ObjectStatus[]>('/debug/statusz');
  assert.deepEqual(
    after.filter(({ refusedBy }) => refusedBy.length > 0),
    [],
  );
});

test('an Envoy whose standard output is a socket refuses /dev/stdout, and the log says what to do', async () => {
  using dir = new WorkDir('stdout');
  const [port = 0] = await freePorts(1);
  dir.write('etc/istio/conf/shop/web.yaml', localService('web', port, 1));
  dir.write('etc/istio/mesh.yaml', 'accessLogFile: /dev/stdout\n');
  await using istiod = await IstiodProcess.start({ root: dir.path });
  const node = nodeJson({ id: 'client-1.shop', namespace: 'shop', metadata: { INTERCEPTION_MODE: 'NONE' } });
  writeFileSync(dir.at('envoy.json'), JSON.stringify(envoyBootstrap({ xds: istiod.addresses.grpc, node })));
  // Node's pipes to children are sockets, as systemd's to the journal are.
  const envoy = new Child([envoyPath(), '-c', dir.at('envoy.json'), '--disable-hot-restart', '--concurrency', '1']);
  try {
    await waitFor(() => istiod.log.includes('a proxy refused what it was sent'), { what: 'refusal', withinMs: 20_000 });
    assert.match(
      istiod.log,
      /"advice":"its output is a socket, as under systemd, which can not be opened by name: start it/,
    );
  } finally {
    await envoy.stop('SIGKILL');
  }
});
