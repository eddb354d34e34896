import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Echo } from '../support/echo-server.ts';
import { probe } from '../support/probe.ts';
import { TextServer } from '../support/text-server.ts';
import { waitFor } from '../support/wait.ts';
import { headerModule } from '../support/wasm-module.ts';
import { WorkDir } from '../support/work-dir.ts';
import { GuardedWorkload } from './guarded-workload.ts';

const TIMEOUT_MS = 60_000;

const plugin = (name: string, spec: string): string => `---
apiVersion: extensions.istio.io/v1alpha1
kind: WasmPlugin
metadata: {name: ${name}}
spec: {${spec}}
`;

async function seen(guarded: GuardedWorkload): Promise<Echo['headers'] | number> {
  const { status, body } = await probe({ to: guarded.http });
  return status === 200 ? (JSON.parse(body) as Echo).headers : status;
}

async function header(guarded: GuardedWorkload, name: string): Promise<unknown> {
  const headers = await seen(guarded);
  return typeof headers === 'object' ? headers[name] : headers;
}

test('an upstream Envoy runs modules from files and from services, and scripts', { timeout: TIMEOUT_MS }, async () => {
  using files = new WorkDir('modules');
  writeFileSync(files.at('one.wasm'), headerModule('x-one', 'file'));
  const remote = headerModule('x-two', 'http');
  const sha256 = createHash('sha256').update(remote).digest('hex');
  await using server = await TextServer.start(() => ({ body: remote }));
  await using guarded = await GuardedWorkload.start({
    files: () => ({
      'shop/modules.yaml': `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: modules}
spec:
  hosts: [modules.shop.internal]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP}]
  endpoints: [{address: 127.0.0.1, ports: {http: ${server.port}}}]
---
apiVersion: extensions.istio.io/v1alpha1
kind: TrafficExtension
metadata: {name: script}
spec:
  match: [{mode: SERVER}]
  lua: {inlineCode: "function envoy_on_request(h) h:headers():add('x-script', 'lua') end"}
${plugin('one', `url: 'file://${files.at('one.wasm')}', phase: AUTHN`)}${plugin(
  'two',
  `url: 'http://modules.shop.internal/two.wasm', sha256: '${sha256}', pluginConfig: {a: 1}`,
)}`,
    }),
  });
  const headers = await seen(guarded);
  assert.ok(typeof headers === 'object');
  assert.deepEqual([headers['x-one'], headers['x-two'], headers['x-script']], ['file', 'http', 'lua']);
  assert.ok(server.asked.includes('/two.wasm'));

  writeFileSync(files.at('three.wasm'), headerModule('x-three', 'new'));
  guarded.mesh.write('shop/three.yaml', plugin('one', `url: 'file://${files.at('three.wasm')}'`));
  guarded.mesh.write('shop/modules.yaml', '');
  await waitFor(async () => (await header(guarded, 'x-three')) === 'new', { what: 'another module' });
  assert.equal(await header(guarded, 'x-one'), undefined);
  assert.equal(await guarded.mesh.envoy.rejected(), 0);
});

test('a module that nobody fetches refuses everything, or lets it through', { timeout: TIMEOUT_MS }, async () => {
  const image = (more = '', name = 'image') => plugin(name, `url: 'oci://registry.example/m:1'${more}`);
  await using guarded = await GuardedWorkload.start({ files: () => ({ 'shop/image.yaml': image() }) });
  assert.equal(await seen(guarded), 403);
  guarded.mesh.write('shop/image.yaml', image(', failStrategy: FAIL_OPEN'));
  await waitFor(async () => typeof (await seen(guarded)) === 'object', { what: 'passing without a module' });
  guarded.mesh.write('shop/image.yaml', image(', type: NETWORK', 'lines'));
  await waitFor(async () => (await seen(guarded).catch(() => 'closed')) === 'closed', { what: 'closed connections' });
  assert.equal(await guarded.mesh.envoy.rejected(), 0);
});
