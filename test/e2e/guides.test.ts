import assert from 'node:assert/strict';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { JsonObject } from '../../src/base/json.ts';
import { Child } from '../support/child.ts';
import { EnvoyProcess } from '../support/envoy-process.ts';
import { freePorts } from '../support/free-port.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { httpRequest } from '../support/http-client.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

/** Blocks of a guide in one language, in order. */
function blocks(guide: string, language: string): readonly string[] {
  const text = readFileSync(`docs/guides/${guide}.md`, 'utf8');
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, block = '']) =>
    name === language ? [block] : [],
  );
}

test('the files of the first mesh lead a request to the server', async () => {
  const [, service = '', bootstrap = ''] = blocks('first-mesh', 'yaml');
  const [port = 0] = await freePorts(1);
  const backend = await HttpBackend.start('orders');
  using dir = new WorkDir('guide');
  const local = (text: string): string =>
    text
      .replaceAll('10.0.0.2', '127.0.0.1')
      .replace('number: 9080', `number: ${port}`)
      .replace('http: 9000', `http: ${backend.port}`);
  dir.write('etc/istio/conf/shop/orders.yaml', local(service));
  try {
    await using istiod = await IstiodProcess.start({ root: dir.path });
    const [host = '', xds = ''] = istiod.addresses.grpc.split(':');
    const there = local(bootstrap).replace(
      'address: 10.0.0.1, port_value: 15010',
      `address: ${host}, port_value: ${xds}`,
    );
    const { admin: _, ...withoutAdmin } = parse(there) as JsonObject;
    await using envoy = await EnvoyProcess.start({ bootstrap: withoutAdmin, dir });
    await envoy.untilReady();
    const { status } = await httpRequest(`http://127.0.0.1:${port}/`, { host: 'orders.shop.internal' });
    assert.equal(status, 200);
    assert.equal(backend.requests.length, 1);
    assert.equal(await envoy.rejected(), 0);
  } finally {
    await backend.stop();
  }
});

test('the script that tries a mesh in CI ends with the exit code of a server that was told to stop', async () => {
  const [script = ''] = blocks('ci', 'sh');
  using dir = new WorkDir('guide');
  cpSync('etc', dir.at('etc'), { recursive: true });
  symlinkSync(resolve('dist/istiod'), dir.at('istiod'));
  const PATH = `${dir.path}:${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`;
  const shell = new Child(['sh', '-eu', '-c', script], { cwd: dir.path, env: { PATH } });
  try {
    const { code } = await waitFor(() => shell.exit, { what: 'end of the script', withinMs: 30_000 });
    assert.equal(code, 0, shell.output);
    assert.match(shell.output, /^\{"grpc":"127\.0\.0\.1:\d+","http":"127\.0\.0\.1:\d+"\}$/m);
  } finally {
    await shell.stop('SIGKILL');
  }
});
