import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusRoute } from '../../src/admin/status.ts';
import type { JsonObject } from '../../src/base/json.ts';
import { CLUSTER_TYPE } from '../../src/proto/type-urls.ts';
import { AdsClient } from '../support/ads-client.ts';
import { nodeJson } from '../support/node.ts';
import { type ServedMesh, servedMesh } from '../support/served-mesh.ts';

const HEAD = 'apiVersion: networking.istio.io/v1\nkind: ';

const service = (name: string, port: number): string => `${HEAD}ServiceEntry
metadata: {name: ${name}}
spec:
  hosts: [${name}.mesh.internal]
  ports: [{number: ${port}, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: 10.0.0.1}]
`;

const node = (name: string) => nodeJson({ id: `${name}.shop`, namespace: 'shop' });

async function answer(mesh: ServedMesh, query = ''): Promise<{ readonly status?: number; readonly body: string }> {
  const { pipeline, sessions, store, discovery, findings, refusals } = mesh;
  const route = statusRoute({
    pipeline,
    sessions,
    store,
    streams: () => discovery.streams(),
    diagnostics: findings,
    refusals: () => refusals.current(),
  });
  return await route.answer(new URLSearchParams(query));
}

async function statusOf(mesh: ServedMesh, resource: string): Promise<JsonObject> {
  return JSON.parse((await answer(mesh, `resource=${resource}`)).body);
}

test('a status tells of a refused version, and of the one that is served', async (t) => {
  const mesh = await servedMesh({ 'shop/users.yaml': service('users', 80) });
  t.after(mesh.stop);
  mesh.write({ 'shop/users.yaml': `\n${service('users', 70_000)}`, 'shop/new.yaml': service('new', 0) });
  const users = await statusOf(mesh, 'ServiceEntry/shop/users');
  assert.equal(users['accepted'], false);
  assert.equal(users['serving'], 'last-good');
  assert.equal(users['location'], 'etc/istio/conf/shop/users.yaml:1:1');
  assert.equal(users['refusedAt'], 'etc/istio/conf/shop/users.yaml:2:1');
  assert.match(String(users['findings']), /users.yaml:7:\d+: error IST0106: spec.ports\[0\].number: .*70000/);
  const never = await statusOf(mesh, 'ServiceEntry/shop/new');
  assert.deepEqual([never['accepted'], never['serving'], never['proxies']], [false, 'none', undefined]);
});

test('a status tells at how many proxies an object is in force, and who refuses it', async (t) => {
  const mesh = await servedMesh({ 'shop/orders.yaml': service('orders', 80), 'shop/users.yaml': service('users', 80) });
  t.after(mesh.stop);
  await mesh.connect({ node: node('good') });
  const picky = await mesh.connect({
    node: node('picky'),
    judge: ({ typeUrl, resources }) =>
      typeUrl === CLUSTER_TYPE && resources.some(({ name }) => name.startsWith('outbound|81|'))
        ? 'Error adding/updating cluster(s) outbound|81||orders.mesh.internal: not on that port'
        : undefined,
  });
  const orders = () => statusOf(mesh, 'ServiceEntry/shop/orders');
  assert.deepEqual((await orders())['proxies'], { connected: 2, inForce: 2 });
  mesh.write({ 'shop/orders.yaml': service('orders', 81) });
  await mesh.settled();
  const refused = await orders();
  assert.equal(refused['accepted'], true);
  assert.deepEqual(refused['proxies'], { connected: 2, inForce: 1 });
  assert.deepEqual(refused['refusedBy'], [
    {
      proxy: 'picky.shop',
      type: 'cds',
      resources: ['outbound|81||orders.mesh.internal'],
      message: 'Error adding/updating cluster(s) outbound|81||orders.mesh.internal: not on that port',
      at: '1970-01-01T00:00:00.000Z',
    },
  ]);
  const users = await statusOf(mesh, 'ServiceEntry/shop/users');
  assert.deepEqual([users['proxies'], users['refusedBy']], [{ connected: 2, inForce: 2 }, []]);
  mesh.write({ 'shop/orders.yaml': service('orders', 82) });
  await mesh.settled();
  const mended = await orders();
  assert.deepEqual([mended['proxies'], mended['refusedBy']], [{ connected: 2, inForce: 2 }, []]);
  mesh.write({ 'shop/orders.yaml': service('orders', 81) });
  await mesh.settled();
  picky.close();
  await picky.until(() => picky.status !== undefined);
  while (mesh.discovery.streams().length > 1) await mesh.settled();
  assert.deepEqual((await orders())['proxies'], { connected: 1, inForce: 1 });
});

test('nothing is in force at a proxy that refuses the first that it is sent', async (t) => {
  const mesh = await servedMesh({ 'shop/orders.yaml': service('orders', 80), 'shop/users.yaml': service('users', 80) });
  t.after(mesh.stop);
  await mesh.connect({ node: node('good') });
  const judge = () => 'no clusters here';
  const never = new AdsClient({ address: mesh.address, node: node('never'), judge, reconnect: false });
  t.after(() => never.close());
  await never.until(() => never.log.length > 0);
  await mesh.answered();
  for (const name of ['orders', 'users']) {
    const status = await statusOf(mesh, `ServiceEntry/shop/${name}`);
    assert.deepEqual(status['proxies'], { connected: 2, inForce: 1 }, name);
  }
});

test('all objects are listed in order, and one that no file has is not found', async (t) => {
  const mesh = await servedMesh({
    'mesh.yaml': '{}',
    'shop/b.yaml': service('b', 80),
    'edge/a.yaml': service('a', 80),
  });
  t.after(mesh.stop);
  const all: readonly JsonObject[] = JSON.parse((await answer(mesh)).body);
  assert.deepEqual(
    all.map(({ resource }) => resource),
    ['MeshConfig/mesh', 'ServiceEntry/edge/a', 'ServiceEntry/shop/b'],
  );
  const { status, body } = await answer(mesh, 'resource=ServiceEntry/shop/gone');
  assert.deepEqual([status, body], [404, 'no file has an object "ServiceEntry/shop/gone"\n']);
});
