import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentials, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { type LocalSocket, listenLocally } from '../../src/agent/local-socket.ts';
import { XdsCache } from '../../src/agent/xds/cache.ts';
import { CacheFile } from '../../src/agent/xds/cache-file.ts';
import type { OwnTypes } from '../../src/agent/xds/live-stream.ts';
import { XdsProxy } from '../../src/agent/xds/xds-proxy.ts';
import { CLUSTER_TYPE, LISTENER_TYPE, NAME_TABLE_TYPE } from '../../src/proto/type-urls.ts';
import { DiscoveryServer } from '../../src/xds/server.ts';
import { FakeProvider, readFakeResource } from '../support/fake-provider.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { NODE, TestClient, type TestStream } from './harness.ts';

/** A control plane on a socket, which may go away and come back. */
class Istiod {
  readonly socket: string;
  readonly provider: FakeProvider;
  #server: Server | undefined;

  constructor(socket: string, provider: FakeProvider) {
    this.socket = socket;
    this.provider = provider;
  }

  async start(): Promise<void> {
    const server = new Server();
    new DiscoveryServer({ provider: this.provider }).register(server);
    await new Promise<void>((resolve, reject) => {
      const done = (error: Error | null): void => (error === null ? resolve() : reject(error));
      server.bindAsync(`unix:${this.socket}`, ServerCredentials.createInsecure(), done);
    });
    this.#server = server;
  }

  stop(): void {
    this.#server?.forceShutdown();
  }
}

interface Fixture extends AsyncDisposable {
  readonly dir: WorkDir;
  readonly istiod: Istiod;
  readonly provider: FakeProvider;
  readonly log: string[];
  /** A stream of an Envoy. */
  stream(variant?: 'sotw' | 'delta'): TestStream;
}

async function opened(own: OwnTypes = new Map()): Promise<Fixture> {
  const dir = new WorkDir('proxy');
  const provider = new FakeProvider({
    [CLUSTER_TYPE]: { one: 'a', two: 'b' },
    [LISTENER_TYPE]: { l: 'x' },
    [NAME_TABLE_TYPE]: { table: 'names' },
  });
  const istiod = new Istiod(dir.at('istiod.sock'), provider);
  await istiod.start();
  const log: string[] = [];
  const take = { info: (text: string) => void log.push(text), warn: (text: string) => void log.push(text) };
  const proxy = new XdsProxy({
    upstream: {
      target: `unix:${istiod.socket}`,
      channelOptions: {},
      credentials: () => credentials.createInsecure(),
      headers: () => ({ 'x-agent': 'yes' }),
    },
    cache: new XdsCache(new CacheFile({ directory: dir.at('state'), owner: 'a', log: take })),
    own,
    onLive: (isLive) => void log.push(`live: ${isLive}`),
    log: take,
  });
  const socket: LocalSocket = await listenLocally(dir.at('xds.sock'), (server) => proxy.register(server));
  const client = new TestClient(`unix:${dir.at('xds.sock')}`);
  return {
    dir,
    istiod,
    provider,
    log,
    stream: (variant = 'delta') => client.stream(variant),
    async [Symbol.asyncDispose]() {
      client.close();
      proxy.stop();
      await socket.close();
      istiod.stop();
      dir[Symbol.dispose]();
    },
  };
}

test('what Envoy asks, takes and refuses comes to istiod, and its answers to Envoy', async () => {
  await using world = await opened();
  const { provider } = world;
  const stream = world.stream();
  stream.subscribe(CLUSTER_TYPE);
  const clusters = await stream.taken();
  assert.deepEqual(clusters.resources, { one: 'a', two: 'b' });
  assert.equal(provider.last.node.id, NODE.id);
  await waitFor(() => provider.last.acks.length === 1, { what: 'acknowledgement' });
  provider.edit({ [CLUSTER_TYPE]: { two: 'c' } });
  const change = await stream.next();
  assert.deepEqual(change.resources, { two: 'c' });
  stream.nack(change, 'no such thing');
  await waitFor(() => provider.last.nacks.length === 1, { what: 'refusal' });
  assert.deepEqual(world.log, [`Envoy is served by istiod at unix:${world.istiod.socket}`, 'live: true']);
  stream.cancel();
  await waitFor(() => provider.last.closed, { what: 'end of the stream at istiod' });
});

test('while istiod is away an Envoy is served what was taken last, and then by istiod again', async () => {
  await using world = await opened();
  const { provider, istiod, log } = world;
  const first = world.stream();
  first.subscribe(CLUSTER_TYPE);
  const { versions } = await first.taken();
  first.subscribe(LISTENER_TYPE, [], 'none');
  await first.taken();
  provider.edit({ [CLUSTER_TYPE]: { two: 'bad' } });
  first.nack(await first.next(), 'no');
  await first.settled();
  istiod.stop();
  const { code } = await first.ended();
  assert.equal(code, status.UNAVAILABLE);
  await waitFor(() => log.some((line) => /is away, and Envoy goes on with its last 3 resources/.test(line)), {
    what: 'word',
  });

  // One that starts anew gets all, one that has all gets nothing.
  const anew = world.stream();
  anew.subscribe(CLUSTER_TYPE);
  assert.deepEqual((await anew.taken()).resources, { one: 'a', two: 'b' });
  anew.subscribe(LISTENER_TYPE, [], 'none');
  assert.deepEqual((await anew.taken()).resources, { l: 'x' });
  const again = world.stream();
  again.delta({ node: NODE, typeUrl: CLUSTER_TYPE, initialResourceVersions: versions });
  assert.deepEqual(await again.settled(), []);

  provider.edit({ [CLUSTER_TYPE]: { two: undefined, three: 'd' } });
  await istiod.start();
  for (const stream of [anew, again]) assert.deepEqual((await stream.ended()).details, 'istiod is back');
  const last = world.stream();
  last.delta({ node: NODE, typeUrl: CLUSTER_TYPE, initialResourceVersions: versions });
  assert.deepEqual((await last.taken()).resources, { three: 'd' });
  // What is removed is told last.
  assert.deepEqual((await last.taken()).removed, ['two']);
});

test('without anything to serve, Envoy is told that istiod is away, and tries again', async () => {
  await using world = await opened();
  world.istiod.stop();
  const stream = world.stream();
  stream.subscribe(CLUSTER_TYPE);
  assert.equal((await stream.ended()).code, status.UNAVAILABLE);
  assert.match(world.log.join('\n'), /is away, and there is nothing yet to serve Envoy with/);
  await world.istiod.start();
  const next = world.stream();
  next.subscribe(CLUSTER_TYPE);
  assert.deepEqual((await next.taken()).resources, { one: 'a', two: 'b' });
});

test('what the agent asks for itself goes over the same stream, and Envoy hears nothing of it', async () => {
  const names: string[] = [];
  const take = ([first]: readonly { readonly value: Uint8Array }[]): string | undefined => {
    if (first === undefined) return undefined;
    const { text } = readFakeResource(first.value);
    names.push(text);
    return text === 'wrong' ? 'it is wrong' : undefined;
  };
  await using world = await opened(new Map([[NAME_TABLE_TYPE, take]]));
  const { provider } = world;
  const stream = world.stream();
  stream.subscribe(CLUSTER_TYPE);
  await stream.taken();
  await waitFor(() => names.length === 1, { what: 'names' });
  provider.edit({ [NAME_TABLE_TYPE]: { table: 'more' } });
  await waitFor(() => names.length === 2, { what: 'more names' });
  provider.edit({ [NAME_TABLE_TYPE]: { table: 'wrong' } });
  await waitFor(() => provider.last.nacks.length === 1, { what: 'refusal' });
  assert.deepEqual(names, ['names', 'more', 'wrong']);
  assert.deepEqual(await stream.settled(), []);
  assert.equal(provider.sessions.length, 1);
});

test('the variant that nobody keeps is not offered, and what is no request ends its stream alone', async () => {
  await using world = await opened();
  const old = world.stream('sotw');
  old.subscribe(CLUSTER_TYPE);
  assert.equal((await old.ended()).code, status.UNIMPLEMENTED);
  const bad = world.stream();
  bad.write(Buffer.from([0xff, 0xff, 0xff]));
  assert.match((await bad.ended()).details, /no request/);
});
