import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { encodeDeltaDiscoveryRequest, encodeDiscoveryRequest } from '../../src/proto/discovery.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE } from '../../src/proto/type-urls.ts';
import type { Variant } from '../../src/xds/events.ts';
import { NODE, TestClient, type TestStream, VARIANTS } from './harness.ts';
import type { Report } from './mutation-server.ts';

type Way = 'direct' | 'call.write';
const WAYS: readonly Way[] = ['direct', 'call.write'];

/** Requests of each test; 2,500 make 10,000 over all four. */
const COUNT = Number(process.env['XDS_MUTATIONS'] ?? 500);
const WARM_UP = Math.min(1_000, COUNT / 2);
/** A client resets each stream that the server ends; Node closes a connection after a thousand resets in a row. */
const STREAMS_PER_CONNECTION = 200;

const node = { ...NODE, metadata: { NAMESPACE: 'b', LABELS: { app: 'a' } }, extensions: [{ name: 'istio.stats' }] };
const errorDetail = { code: 3, message: 'no' };

const VALID: Readonly<Record<Variant, readonly Uint8Array[]>> = {
  sotw: [
    encodeDiscoveryRequest({ node, typeUrl: CLUSTER_TYPE }),
    encodeDiscoveryRequest({ node, typeUrl: ENDPOINT_TYPE, resourceNames: ['a', 'b', 'x'], versionInfo: 'v' }),
    encodeDiscoveryRequest({ node, typeUrl: CLUSTER_TYPE, responseNonce: 'n', errorDetail }),
  ],
  delta: [
    encodeDeltaDiscoveryRequest({ node, typeUrl: CLUSTER_TYPE, initialResourceVersions: { a: '1', z: '2' } }),
    encodeDeltaDiscoveryRequest({ node, typeUrl: ENDPOINT_TYPE, resourceNamesSubscribe: ['a', 'b', '*'] }),
    encodeDeltaDiscoveryRequest({ node, typeUrl: CLUSTER_TYPE, resourceNamesUnsubscribe: ['*', 'a'], errorDetail }),
  ],
};

interface Mutation {
  readonly how: 'set' | 'cut' | 'insert' | 'repeat' | 'random';
  readonly where: number;
  readonly bytes: Uint8Array;
}

const mutation: fc.Arbitrary<Mutation> = fc.record({
  how: fc.constantFrom('set', 'set', 'set', 'cut', 'insert', 'repeat', 'random'),
  where: fc.double({ min: 0, max: 1, noNaN: true }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 12 }),
});

function mutated(request: Uint8Array, { how, where, bytes }: Mutation): Uint8Array {
  const at = Math.floor(where * request.length);
  const before = request.subarray(0, at);
  switch (how) {
    case 'set':
      return Buffer.concat([before, bytes.subarray(0, 1), request.subarray(at + 1)]);
    case 'cut':
      return Buffer.from(before);
    case 'insert':
      return Buffer.concat([before, bytes, request.subarray(at)]);
    case 'repeat':
      return Buffer.concat([request, before, request]);
    case 'random':
      return bytes;
  }
}

async function goesOn(stream: TestStream): Promise<boolean> {
  try {
    await stream.settled();
    return true;
  } catch {
    return false;
  }
}

/** A server in its own process. */
class MutationServer {
  readonly #process: ChildProcess;

  constructor(way: Way) {
    // By default V8 lets the space for young objects grow over thousands of requests: that would look like a leak, or hide one.
    const execArgv = ['--min-semi-space-size=16', '--max-semi-space-size=16'];
    this.#process = fork(join(import.meta.dirname, 'mutation-server.ts'), [way], { execArgv });
  }

  async report(): Promise<Report> {
    const [report] = await once(this.#process, 'message');
    return report as Report;
  }

  ask(): Promise<Report> {
    this.#process.send('report');
    return this.report();
  }

  stop(): void {
    this.#process.kill();
  }
}

async function mutate(variant: Variant, server: MutationServer): Promise<void> {
  const { port } = await server.report();
  const client = new TestClient(`127.0.0.1:${port}`);
  const good = client.stream(variant);
  good.subscribe(CLUSTER_TYPE);
  await good.taken();
  const samples = fc.sample(fc.record({ mutation, request: fc.constantFrom(...VALID[variant]) }), COUNT);
  let early = await server.ask();
  let connection = new TestClient(client.address);
  let survived = 0;
  for (const [i, sample] of samples.entries()) {
    if (i % STREAMS_PER_CONNECTION === 0) {
      connection.close();
      connection = new TestClient(client.address);
    }
    // Each report collects garbage first; V8 gives pages back only when it has done so more than once.
    if (i % WARM_UP === 0) {
      const report = await server.ask();
      if (i === WARM_UP) early = report;
    }
    const stream = connection.stream(variant);
    if (i % 2 === 0) stream.subscribe(CLUSTER_TYPE);
    stream.write(mutated(sample.request, sample.mutation));
    if (await goesOn(stream)) survived++;
    stream.end();
  }
  connection.close();
  good.subscribe(ENDPOINT_TYPE, ['b'], 'none');
  assert.deepEqual((await good.taken(['b'])).resources, { b: '1' });
  const late = await server.ask();
  client.close();
  assert.deepEqual(late.errors, []);
  assert.ok(survived > COUNT / 10 && survived < COUNT, `${survived} of ${COUNT} streams went on`);
  if (COUNT >= 10_000) assert.ok(late.residentBytes < early.residentBytes * 1.1, JSON.stringify({ early, late }));
}

for (const variant of VARIANTS) {
  for (const way of WAYS) {
    test(`mutated requests end at most their own stream, and leave nothing behind (${variant}, ${way})`, async () => {
      const server = new MutationServer(way);
      try {
        await mutate(variant, server);
      } finally {
        server.stop();
      }
    });
  }
}
