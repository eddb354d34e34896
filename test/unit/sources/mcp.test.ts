import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceEntry } from '#generated/config/specs.ts';
import { ConfigStore } from '../../../src/config/store.ts';
import { Graph } from '../../../src/derive/graph.ts';
import { mcpSource } from '../../../src/sources/mcp.ts';
import { freePorts } from '../../support/free-port.ts';
import { McpServer } from '../../support/mcp-server.ts';
import { waitFor } from '../../support/wait.ts';

const NODE = { id: 'sidecar~127.0.0.1~test.istio-system~istio-system.svc.cluster.local' };

const entry = (name: string, address: string): string => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${name}, namespace: shop}
spec: {hosts: [${name}.test], resolution: STATIC, ports: [{number: 80, name: http}], endpoints: [{address: ${address}}]}
`;

/** A store that has the source of a server, and what it says. */
class Reader implements Disposable {
  readonly store = new ConfigStore(new Graph(), { rootNamespace: 'istio-system' });
  readonly log: string[] = [];
  readonly source: ReturnType<typeof mcpSource>;
  readonly #abort = new AbortController();

  constructor(address: string) {
    const say = (message: string): void => void this.log.push(message);
    this.source = mcpSource({ address, node: NODE, strict: false, log: { info: say, warn: say } });
  }

  start(): Promise<void> {
    return this.source.start(this.store.source(this.source.name), this.#abort.signal);
  }

  /** Names with their first address. */
  get objects(): string {
    return this.store
      .keys()
      .map((key) => {
        const spec = this.store.get(key)?.spec as Pick<ServiceEntry, 'endpoints'> | undefined;
        return `${key.split('/').at(-1)} ${spec?.endpoints?.[0]?.address}`;
      })
      .join(', ');
  }

  until(objects: string): Promise<unknown> {
    return waitFor(() => this.objects === objects, { what: `"${objects}"`, withinMs: 20_000 });
  }

  [Symbol.dispose](): void {
    this.#abort.abort();
  }
}

test('all objects are there when the source has started, and follow it', async () => {
  using server = await McpServer.start(`${entry('a', '10.0.0.1')}---${entry('b', '10.0.0.2')}`);
  using reader = new Reader(server.address);
  await reader.start();
  assert.equal(reader.objects, 'a 10.0.0.1, b 10.0.0.2');
  assert.equal(reader.source.state?.(), 'connected');
  server.serve(`${entry('b', '10.0.0.3')}---${entry('c', '10.0.0.4')}`);
  await reader.until('b 10.0.0.3, c 10.0.0.4');
  server.serve('');
  await reader.until('');
});

test('what was received stays while the source is away, and follows it when it is back', async () => {
  const server = await McpServer.start(entry('a', '10.0.0.1'));
  using reader = new Reader(server.address);
  await reader.start();
  server[Symbol.dispose]();
  await waitFor(() => reader.source.state?.() === 'disconnected', { what: 'a source that is away' });
  assert.equal(reader.objects, 'a 10.0.0.1');
  assert.match(reader.log.at(-1) ?? '', /is away, and what it gave stays in force/);
  using again = await McpServer.start(entry('a', '10.0.0.2'), Number(server.address.split(':')[1]));
  await reader.until('a 10.0.0.2');
  assert.equal(again.address, server.address);
  assert.equal(reader.source.state?.(), 'connected');
});

test('a source that is away holds up no start, and is taken when it comes', async () => {
  const [port = 0] = await freePorts(1);
  using reader = new Reader(`127.0.0.1:${port}`);
  await reader.start();
  assert.ok(reader.store.isSynced);
  assert.deepEqual([reader.objects, reader.source.state?.()], ['', 'disconnected']);
  using server = await McpServer.start(entry('a', '10.0.0.1'), port);
  await reader.until('a 10.0.0.1');
  assert.ok(server.address.endsWith(`:${port}`));
});

test('an object that is wrong is a finding that names the source, and the others are taken', async () => {
  using server = await McpServer.start('');
  server.serve(`${entry('a', '10.0.0.1')}---${entry('b', '10.0.0.2')}`, ({ name, spec }) =>
    name === 'b' ? { ...(spec as object), hosts: [] } : spec,
  );
  using reader = new Reader(server.address);
  await reader.start();
  assert.equal(reader.store.get('networking.istio.io/ServiceEntry/shop/b'), undefined);
  assert.notEqual(reader.store.get('networking.istio.io/ServiceEntry/shop/a'), undefined);
  assert.deepEqual(
    reader.store.allDiagnostics().map(({ severity, location }) => `${severity} ${location.file}`),
    [`error ${reader.source.name}/networking.istio.io/v1/ServiceEntry/shop/b`],
  );
});
