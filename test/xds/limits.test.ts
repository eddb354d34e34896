import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { decodeDiscoveryResponse, encodeDiscoveryRequest } from '../../src/proto/discovery.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE } from '../../src/proto/type-urls.ts';
import type { Rejection } from '../../src/xds/events.ts';
import { ConnectError } from '../../src/xds/provider.ts';
import { FakeProvider, readFakeResource } from '../support/fake-provider.ts';
import { type Fixture, NODE, type TestStream, xdsTest } from './harness.ts';

const CLUSTERS = { a: '1', b: '1' };
const provider = (): FakeProvider => new FakeProvider({ [CLUSTER_TYPE]: CLUSTERS, [ENDPOINT_TYPE]: CLUSTERS });

async function refused(stream: TestStream, code: status, words: RegExp): Promise<void> {
  const end = await stream.ended();
  assert.equal(status[end.code], status[code]);
  assert.match(end.details, words);
}

async function serves(fixture: Fixture, stream: TestStream): Promise<void> {
  fixture.provider.edit({ [CLUSTER_TYPE]: { a: String(Math.random()) } });
  assert.equal((await stream.taken()).typeUrl, CLUSTER_TYPE);
}

xdsTest('a stream that sends nonsense is told why and harms no other', async (start, { variant }) => {
  const rejections: Rejection[] = [];
  const errors: unknown[] = [];
  const fixture = await start(provider(), {
    events: { onReject: (rejection) => rejections.push(rejection), onError: (error) => errors.push(error) },
  });
  const client = fixture.client();
  const good = fixture.stream(variant, client);
  good.subscribe(CLUSTER_TYPE);
  await good.taken();
  const bad = fixture.stream(variant, client);
  bad.write(Uint8Array.of(0xff, 0xff, 0xff));
  await refused(bad, status.INVALID_ARGUMENT, /not a discovery request/);
  const later = fixture.stream(variant, client);
  later.subscribe(CLUSTER_TYPE);
  await later.next();
  later.write(Uint8Array.of(0x0a, 0x7f));
  await refused(later, status.INVALID_ARGUMENT, /not a discovery request/);
  await serves(fixture, good);
  assert.equal(fixture.discovery.streams().length, 1);
  assert.deepEqual(errors, []);
  assert.deepEqual(
    rejections.map(({ code, proxy }) => [code, proxy]),
    [
      ['INVALID_ARGUMENT', undefined],
      ['INVALID_ARGUMENT', NODE.id],
    ],
  );
});

xdsTest('a first request without a node is refused', async (start, { variant }) => {
  const fixture = await start(provider());
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE, [], 'none');
  await refused(stream, status.INVALID_ARGUMENT, /must have a node/);
  const empty = fixture.stream(variant);
  empty.subscribe(CLUSTER_TYPE, [], { ...NODE, id: '' });
  await refused(empty, status.INVALID_ARGUMENT, /must have a node/);
});

xdsTest('a request without a type is refused on an aggregated stream', async (start, { variant }) => {
  const fixture = await start(provider());
  const stream = fixture.stream(variant);
  stream.subscribe('');
  await refused(stream, status.INVALID_ARGUMENT, /type_url/);
});

xdsTest('a node that the provider refuses reads why', async (start, { variant }) => {
  const source = provider();
  source.admit = ({ id }) => {
    if (id === 'stranger') throw new ConnectError('PERMISSION_DENIED', 'strangers are not served: Grüße');
    if (id === 'bug') throw new Error('a secret detail');
  };
  const errors: unknown[] = [];
  const fixture = await start(source, { events: { onError: (error) => errors.push(error) } });
  const stranger = fixture.stream(variant);
  stranger.subscribe(CLUSTER_TYPE, [], { ...NODE, id: 'stranger' });
  await refused(stranger, status.PERMISSION_DENIED, /strangers are not served/);
  const bug = fixture.stream(variant);
  bug.subscribe(CLUSTER_TYPE, [], { ...NODE, id: 'bug' });
  await refused(bug, status.INTERNAL, /^the control plane made a mistake/);
  assert.equal(errors.length, 1);
});

xdsTest('a provider that throws later ends that stream alone', async (start, { variant }) => {
  const fixture = await start(provider());
  const good = fixture.stream(variant);
  good.subscribe(CLUSTER_TYPE);
  await good.taken();
  const bad = fixture.stream(variant);
  bad.subscribe(CLUSTER_TYPE);
  await bad.taken();
  await bad.settled();
  fixture.provider.last.resources = () => {
    throw new Error('bug');
  };
  await serves(fixture, good);
  await refused(bad, status.INTERNAL, /mistake/);
});

xdsTest('too many names, too long ones and too many types are refused', async (start, { variant }) => {
  const fixture = await start(provider(), { limits: { maxNames: 3, maxNameLength: 80, maxTypes: 2 } });
  const many = fixture.stream(variant);
  many.subscribe(ENDPOINT_TYPE, ['a', 'b', 'c', 'd']);
  await refused(many, status.RESOURCE_EXHAUSTED, /at most 3 names/);
  const more = fixture.stream(variant);
  more.subscribe(ENDPOINT_TYPE, ['a', 'b']);
  await more.taken(['a', 'b']);
  more.subscribe(ENDPOINT_TYPE, variant === 'sotw' ? ['a', 'b', 'c', 'd'] : ['c', 'd']);
  await refused(more, status.RESOURCE_EXHAUSTED, /at most 3 names/);
  const long = fixture.stream(variant);
  long.subscribe(ENDPOINT_TYPE, ['x'.repeat(81)]);
  await refused(long, status.INVALID_ARGUMENT, /longer than 80/);
  const types = fixture.stream(variant);
  for (const typeUrl of ['type.googleapis.com/A', 'type.googleapis.com/B']) {
    types.subscribe(typeUrl);
    await types.taken();
  }
  types.subscribe('type.googleapis.com/C');
  await refused(types, status.RESOURCE_EXHAUSTED, /at most 2 types/);
});

xdsTest('a request that is too large is refused', async (start, { variant }) => {
  const fixture = await start(provider(), { limits: { maxRequestBytes: 10_000, maxNameLength: 100_000 } });
  const stream = fixture.stream(variant);
  stream.subscribe(ENDPOINT_TYPE, ['x'.repeat(20_000)]);
  await refused(stream, status.RESOURCE_EXHAUSTED, /larger than/);
});

xdsTest(
  'streams of one connection are limited, of all connections too, and ended ones count no more',
  async (start, { variant }) => {
    const fixture = await start(provider(), { limits: { maxStreamsPerConnection: 2, maxStreams: 3 } });
    const client = fixture.client();
    const open = async (from = client): Promise<TestStream> => {
      const stream = fixture.stream(variant, from);
      stream.subscribe(CLUSTER_TYPE);
      await stream.taken();
      return stream;
    };
    const first = await open();
    await open();
    await refused(fixture.stream(variant, client), status.RESOURCE_EXHAUSTED, /2 streams are open on this connection/);
    first.end();
    await first.ended();
    await open();
    const other = fixture.client();
    await open(other);
    await refused(fixture.stream(variant, other), status.RESOURCE_EXHAUSTED, /3 streams are open/);
  },
);

xdsTest('a client that asks too fast is read more slowly', async (start, { variant }) => {
  const throttled: number[] = [];
  const fixture = await start(provider(), {
    limits: { requestsPerSecond: 10, requestBurst: 3 },
    events: { onThrottle: (_, delayMs) => throttled.push(delayMs) },
  });
  const stream = fixture.stream(variant);
  const types = ['A', 'B', 'C', 'D'].map((name) => `type.googleapis.com/${name}`);
  for (const typeUrl of types) stream.subscribe(typeUrl);
  for (const typeUrl of types.slice(0, 3)) assert.equal((await stream.next()).typeUrl, typeUrl);
  assert.deepEqual(throttled, [100]);
  fixture.clock.advance(100);
  assert.equal((await stream.next()).typeUrl, types[3]);
});

xdsTest('a stream without a first request is ended', async (start, { variant }) => {
  const fixture = await start(provider(), { limits: { firstRequestMs: 1_000 } });
  const client = fixture.client();
  const silent = fixture.stream(variant, client);
  const good = fixture.stream(variant, client);
  good.subscribe(CLUSTER_TYPE);
  await good.taken();
  fixture.clock.advance(1_000);
  await refused(silent, status.DEADLINE_EXCEEDED, /no request came within 1000 ms/);
  await serves(fixture, good);
});

xdsTest('who a caller is can be found out later, and refused', async (start, { variant }) => {
  const fixture = await start(provider(), {
    authenticate: async ({ address, encrypted, header }) => {
      assert.match(address, /^127\.0\.0\.1:\d+$/);
      if (header('user-agent') === undefined) throw new Error('no header');
      if (!encrypted) return { address, encrypted, identities: ['spiffe://a/ns/b/sa/c'] };
      throw new ConnectError('UNAUTHENTICATED', 'no');
    },
  });
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  await stream.taken();
  assert.deepEqual(fixture.provider.last.peer.identities, ['spiffe://a/ns/b/sa/c']);
  const closed = await start(provider(), {
    authenticate: () => Promise.reject(new ConnectError('UNAUTHENTICATED', 'the token has expired')),
  });
  const stranger = closed.stream(variant);
  stranger.subscribe(CLUSTER_TYPE);
  await refused(stranger, status.UNAUTHENTICATED, /the token has expired/);
});

xdsTest('a server that closes sends its clients away', async (start, { variant }) => {
  const fixture = await start(provider());
  const stream = fixture.stream(variant);
  stream.subscribe(CLUSTER_TYPE);
  await stream.taken();
  fixture.discovery.close('shutting down');
  await refused(stream, status.UNAVAILABLE, /shutting down/);
  await refused(fixture.stream(variant), status.UNAVAILABLE, /shutting down/);
});

xdsTest('a service of one type serves that type, named or not, and no other', async (start, { variant }) => {
  const fixture = await start(provider());
  const method = variant === 'sotw' ? 'StreamEndpoints' : 'DeltaEndpoints';
  const open = (): TestStream => fixture.client().stream(variant, `endpoint.v3.EndpointDiscoveryService/${method}`);
  const named = open();
  named.subscribe(ENDPOINT_TYPE, ['a']);
  assert.deepEqual((await named.taken(['a'])).resources, { a: '1' });
  named.subscribe(CLUSTER_TYPE);
  await refused(named, status.INVALID_ARGUMENT, /this service has the type/);
  const unnamed = open();
  unnamed.subscribe('', ['b']);
  const received = await unnamed.taken(['b']);
  assert.deepEqual([received.typeUrl, received.resources], [ENDPOINT_TYPE, { b: '1' }]);
});

xdsTest(
  'a fetch is one answer',
  async (start) => {
    const fixture = await start(provider());
    const client = fixture.client();
    const fetch = (request: Uint8Array): Promise<Uint8Array> =>
      client.fetch('endpoint.v3.EndpointDiscoveryService/FetchEndpoints', request);
    const answer = await fetch(encodeDiscoveryRequest({ node: NODE, typeUrl: '', resourceNames: ['a'] }));

    const { resources, typeUrl } = decodeDiscoveryResponse(answer);
    assert.equal(typeUrl, ENDPOINT_TYPE);
    assert.deepEqual(
      resources.map(({ value }) => readFakeResource(value)),
      [{ name: 'a', text: '1' }],
    );
    assert.equal(fixture.provider.last.closed, true);
    await assert.rejects(fetch(encodeDiscoveryRequest({ typeUrl: '' })), /INVALID_ARGUMENT.*must have a node/);
    await assert.rejects(fetch(Uint8Array.of(0xff)), /INVALID_ARGUMENT/);
  },
  ['sotw'],
);

xdsTest('the status says for each stream who it is and how far each type is', async (start, { variant }) => {
  const fixture = await start(provider());
  const stream = fixture.stream(variant);
  stream.subscribe(ENDPOINT_TYPE, ['a', 'b']);
  const endpoints = await stream.taken(['a', 'b']);
  stream.subscribe(CLUSTER_TYPE);
  const clusters = await stream.next();
  await stream.settled();
  const [found] = fixture.discovery.streams();
  assert.equal(found?.proxy, NODE.id);
  assert.equal(found?.node.cluster, NODE.cluster);
  assert.equal(found?.variant, variant);
  assert.equal(found?.peer.encrypted, false);
  assert.equal(found?.since, fixture.clock.date());
  const [cds, eds] = found?.types ?? [];
  assert.deepEqual(
    [cds?.typeUrl, cds?.state, cds?.wildcard, cds?.subscribed, cds?.sent?.nonce, cds?.acked],
    [CLUSTER_TYPE, 'pending', true, 0, clusters.nonce, undefined],
  );
  assert.deepEqual(
    [eds?.typeUrl, eds?.wildcard, eds?.subscribed, eds?.acked?.nonce, eds?.nack],
    [ENDPOINT_TYPE, false, 2, endpoints.nonce, undefined],
  );
});
