import assert from 'node:assert/strict';
import { test } from 'node:test';
import { credentials, Client as GrpcClient, Server, ServerCredentials, type ServiceError } from '@grpc/grpc-js';
import type { JsonObject } from '../../src/base/json.ts';
import { decodeMessage } from '../../src/proto/decode.ts';
import { encodeMessage } from '../../src/proto/message.ts';
import { CLUSTER_TYPE, SECRET_TYPE } from '../../src/proto/type-urls.ts';
import { certificateIdentities } from '../../src/xds/caller.ts';
import { type ClientStatusOptions, registerClientStatus } from '../../src/xds/client-status-service.ts';
import { ConnectError } from '../../src/xds/provider.ts';
import { FakeProvider } from '../support/fake-provider.ts';
import { Fixture, xdsTest } from './harness.ts';

const METHOD = '/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus';

type Entry = Readonly<Record<string, unknown>>;

/** Asks the service over a fixture's clients. */
class StatusServer {
  readonly #server = new Server();
  #client: GrpcClient | undefined;

  static async start(fixture: Fixture, options: Partial<ClientStatusOptions> = {}): Promise<StatusServer> {
    const started = new StatusServer();
    registerClientStatus(started.#server, {
      clients: () => fixture.discovery.clients(),
      authenticate: certificateIdentities,
      seenBy: () => () => true,
      onError: (error) => assert.fail(String(error)),
      ...options,
    });
    const port = await new Promise<number>((resolve, reject) => {
      started.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      );
    });
    started.#client = new GrpcClient(`127.0.0.1:${port}`, credentials.createInsecure());
    return started;
  }

  /** Entries of each client. */
  async ask(request: JsonObject = {}): Promise<readonly (readonly Entry[])[]> {
    const bytes = Buffer.from(encodeMessage('envoy.service.status.v3.ClientStatusRequest', request));
    const same = (message: Buffer): Buffer => message;
    const answer = await new Promise<Buffer>((resolve, reject) => {
      const done = (error: ServiceError | null, reply?: Buffer): void => (reply ? resolve(reply) : reject(error));
      this.#client?.makeUnaryRequest(METHOD, same, same, bytes, done);
    });
    const { config = [] } = decodeMessage('envoy.service.status.v3.ClientStatusResponse', answer);
    return (config as readonly JsonObject[]).map((one) => (one['genericXdsConfigs'] ?? []) as readonly Entry[]);
  }

  [Symbol.dispose](): void {
    this.#client?.close();
    this.#server.forceShutdown();
  }
}

const brief = ({ name, configStatus, clientStatus }: Entry) => [name, configStatus, clientStatus];

xdsTest(
  'a client is told of by resource: what it took, what it refused, and what there is not',
  async (start, which) => {
    const fixture = await start(new FakeProvider({ [CLUSTER_TYPE]: { a: '1', b: '1' } }));
    using server = await StatusServer.start(fixture);
    const stream = fixture.stream(which.variant);
    const names = ['a', 'b', 'none'];
    stream.subscribe(CLUSTER_TYPE, names);
    const first = await stream.next();
    const [pending] = await server.ask();
    assert.deepEqual(pending?.map(brief), [
      ['a', 'STALE', 'REQUESTED'],
      ['b', 'STALE', 'REQUESTED'],
      ['none', 'NOT_SENT', 'DOES_NOT_EXIST'],
    ]);
    stream.nack(first, 'b is odd', names);
    await stream.settled();
    const [refused] = await server.ask();
    assert.deepEqual(refused?.slice(0, 2).map(brief), [
      ['a', 'SYNCED', 'ACKED'],
      ['b', 'ERROR', 'NACKED'],
    ]);
    assert.match(JSON.stringify(refused?.[1]), /b is odd/);
  },
);

test('contents stand in the answer about one client, and never those of secrets', async () => {
  await withFixture(async (fixture) => {
    using server = await StatusServer.start(fixture);
    const streams = [fixture.stream('sotw'), fixture.stream('sotw')];
    for (const stream of streams) {
      stream.subscribe(CLUSTER_TYPE);
      await stream.taken();
      stream.subscribe(SECRET_TYPE, ['key'], 'none');
      await stream.taken(['key']);
    }
    const has = (entries: readonly Entry[]) => entries.map((entry) => 'xdsConfig' in entry);
    assert.deepEqual((await server.ask()).map(has), [
      [false, false],
      [false, false],
    ]);
    streams[1]?.end();
    await streams[1]?.ended();
    assert.deepEqual((await server.ask()).map(has), [[false, true]]);
    assert.deepEqual((await server.ask({ excludeResourceContents: true })).map(has), [[false, false]]);
  });
});

test('matchers choose clients by id and metadata, and one that is not understood is refused', async () => {
  await withFixture(async (fixture) => {
    using server = await StatusServer.start(fixture);
    const stream = fixture.stream('sotw');
    stream.subscribe(CLUSTER_TYPE);
    await stream.taken();
    const count = async (matcher: JsonObject) => (await server.ask({ nodeMatchers: [matcher] })).length;
    assert.equal(await count({ nodeId: { prefix: 'sidecar~' } }), 1);
    assert.equal(await count({ nodeId: { suffix: 'nowhere' } }), 0);
    assert.equal(await count({ nodeId: { contains: 'A.B', ignoreCase: true } }), 1);
    const absent = { path: [{ key: 'NAMESPACE' }], value: { presentMatch: true } };
    assert.equal(await count({ nodeMetadatas: [absent] }), 0);
    await assert.rejects(count({ nodeId: { safeRegex: { regex: '.*' } } }), { code: 3 });
  });
});

test('more than an answer may hold is refused, with what to do', async () => {
  await withFixture(async (fixture) => {
    const stream = fixture.stream('sotw');
    stream.subscribe(CLUSTER_TYPE);
    await stream.taken();
    const [client] = fixture.discovery.clients();
    assert.ok(client);
    using server = await StatusServer.start(fixture, { clients: () => Array.from({ length: 100_001 }, () => client) });
    await assert.rejects(server.ask(), { code: 8, details: /node_matchers/ });
  });
});

test('who may see nothing is refused, and who may see some clients sees those', async () => {
  await withFixture(async (fixture) => {
    const stream = fixture.stream('sotw');
    stream.subscribe(CLUSTER_TYPE);
    await stream.taken();
    using none = await StatusServer.start(fixture, { seenBy: () => () => false });
    assert.deepEqual(await none.ask(), []);
    using closed = await StatusServer.start(fixture, {
      seenBy: () => {
        throw new ConnectError('UNAUTHENTICATED', 'who are you?');
      },
    });
    await assert.rejects(closed.ask(), { code: 16 });
  });
});

async function withFixture(run: (fixture: Fixture) => Promise<void>): Promise<void> {
  const provider = new FakeProvider({ [CLUSTER_TYPE]: { a: '1' }, [SECRET_TYPE]: { key: 'private' } });
  const fixture = await new Fixture(provider).start();
  try {
    await run(fixture);
  } finally {
    fixture.stop();
  }
}
