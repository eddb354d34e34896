import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KeySet, WantedKeySet } from '../../../src/config/key-sets.ts';
import { JwksSource } from '../../../src/sources/jwks.ts';
import { KeySetFile, type StoredKeySet } from '../../../src/sources/key-set-file.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { freePorts } from '../../support/free-port.ts';
import { TextServer } from '../../support/text-server.ts';
import { waitFor } from '../../support/wait.ts';
import { WorkDir } from '../../support/work-dir.ts';

const REFRESH_MS = 100_000;
const DAY_MS = 24 * 3600 * 1000;

/** Keys that outlive a source. */
class Kept {
  sets: ReadonlyMap<string, StoredKeySet> = new Map();
  load(): ReadonlyMap<string, StoredKeySet> {
    return this.sets;
  }
  save(sets: () => ReadonlyMap<string, StoredKeySet>): void {
    this.sets = sets();
  }
}

/** A source, the time that it knows, and what it told. */
class Watched {
  readonly clock = new FakeClock();
  readonly told: (readonly [string, KeySet | undefined])[] = [];
  readonly source: JwksSource;

  constructor(storage: Kept = new Kept()) {
    this.source = new JwksSource({
      clock: this.clock,
      log: { info: () => undefined, warn: () => undefined },
      refreshMs: REFRESH_MS,
      blocked: [],
      storage,
      insecure: false,
    });
  }

  want(...wanted: readonly WantedKeySet[]): void {
    this.source.want(wanted, (id, set) => this.told.push([id, set]));
  }

  get last(): KeySet | undefined {
    return this.told.at(-1)?.[1];
  }

  /** Until the attempt that runs now has ended: it then waits for the next one. */
  async settled(): Promise<void> {
    await waitFor(() => this.clock.timers === 1, { what: 'end of the attempt' });
  }

  async advance(ms: number): Promise<void> {
    this.clock.advance(ms);
    await this.settled();
  }
}

const set = (url: string, isIssuer = false): WantedKeySet => ({ id: url, url, isIssuer, timeoutMs: 5_000 });
const keys = (...ids: readonly string[]): string =>
  JSON.stringify({ keys: ids.map((kid) => ({ kty: 'oct', k: 'AA', kid })) });

test('keys are told when they come and when they change, not when they are the same', async () => {
  await using server = await TextServer.start(() => ({ body: keys('a', 'b') }));
  const url = `http://127.0.0.1:${server.port}/keys`;
  const watched = new Watched();
  watched.want(set(url));
  await watched.settled();
  assert.deepEqual(watched.told, [[url, { keys: keys('a', 'b') }]]);
  server.answer = () => ({ body: keys('b', 'a') });
  await watched.advance(REFRESH_MS);
  assert.equal(server.asked.length, 2);
  assert.equal(watched.told.length, 1, 'the order of keys means nothing');
  server.answer = () => ({ body: keys('c') });
  await watched.advance(REFRESH_MS);
  assert.deepEqual(watched.told[1], [url, { keys: keys('c') }]);
  watched.want();
  assert.deepEqual(watched.told[2], [url, undefined]);
  assert.equal(watched.clock.timers, 0, 'nobody asks for what nobody wants');
});

test('a server that is not there is asked again after seconds; what it said last is kept for a week', async () => {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}/keys`;
  const watched = new Watched();
  watched.want(set(url));
  await watched.settled();
  assert.deepEqual(watched.last, { problem: `${url} refuses connections: nothing listens there` });
  for (const ms of [1_000, 2_000, 3_000, 3_000]) await watched.advance(ms);
  assert.equal(watched.told.length, 1, 'the same problem is told once');
  {
    await using _server = await TextServer.start(() => ({ body: keys('a') }), { port });
    await watched.advance(3_000);
    assert.deepEqual(watched.last, { keys: keys('a') });
  }
  await watched.advance(REFRESH_MS);
  const [, kept] = watched.told.at(-1) ?? [];
  assert.equal(kept?.keys, keys('a'));
  assert.match(kept?.problem ?? '', /refuses connections/);
  await watched.advance(8 * DAY_MS);
  assert.deepEqual(Object.keys(watched.last ?? {}), ['problem'], 'old keys are no keys');
  watched.want();
});

test('a set is fetched again when a key is not in it, but not at every such token', async () => {
  await using server = await TextServer.start(() => ({ body: keys('a') }));
  const url = `http://127.0.0.1:${server.port}/keys`;
  const watched = new Watched();
  watched.want(set(url));
  await watched.source.refresh(url, 10_000);
  assert.deepEqual(watched.last, { keys: keys('a') }, 'the first attempt is waited for');
  server.answer = () => ({ body: keys('a', 'b') });
  await watched.source.refresh(url, 10_000);
  assert.equal(server.asked.length, 1);
  watched.clock.advance(10_000);
  await watched.source.refresh(url, 10_000);
  assert.deepEqual(watched.last, { keys: keys('a', 'b') });
  assert.equal(watched.clock.timers, 1, 'one attempt is planned, not two');
  await watched.source.refresh('nobody wants it', 0);
  assert.equal(server.asked.length, 2);
  watched.want();
});

test('an issuer says where its keys are', async () => {
  await using server = await TextServer.start((path) => {
    if (path === '/keys') return { body: keys('a') };
    if (path === '/tenant/.well-known/openid-configuration') return { body: description };
    return { status: 404 };
  });
  const at = `http://127.0.0.1:${server.port}`;
  let description = JSON.stringify({ issuer: at, jwks_uri: `${at}/keys` });
  const watched = new Watched();
  watched.want(set(`${at}/tenant/`, true));
  await watched.settled();
  assert.deepEqual(watched.last, { keys: keys('a') });
  description = '{}';
  await watched.advance(REFRESH_MS);
  const [, kept] = watched.told.at(-1) ?? [];
  assert.match(kept?.problem ?? '', /\/tenant\/\.well-known\/openid-configuration names no jwks_uri$/);
  assert.equal(kept?.keys, keys('a'));
  watched.want();
});

test('only sets of keys are taken, so that no other document gets to proxies', async () => {
  let body = '';
  await using server = await TextServer.start(() => ({ body }));
  const url = `http://127.0.0.1:${server.port}/keys`;
  for (const [text, problem] of [
    ['root:x:0:0', 'answers with something that is no object in JSON'],
    ['[]', 'answers with something that is no object in JSON'],
    ['{"keys": {}}', 'answers with something that is no set of keys'],
  ] as const) {
    body = text;
    const watched = new Watched();
    watched.want(set(url));
    await watched.settled();
    assert.deepEqual(watched.told, [[url, { problem: `${url} ${problem}` }]]);
    watched.want();
  }
});

test('the first attempts are waited for, but no longer than is said', async () => {
  await using server = await TextServer.start(() => undefined);
  const watched = new Watched();
  watched.want(set(`http://127.0.0.1:${server.port}/keys`));
  let isOver = false;
  const tried = watched.source.tried(3_000).then(() => {
    isOver = true;
  });
  watched.clock.advance(2_999);
  await waitFor(() => server.asked.length === 1, { what: 'first attempt' });
  assert.ok(!isOver);
  watched.clock.advance(1);
  await tried;
  watched.want();
});

test('keys that will be wanted in a moment are told before they are', async () => {
  await using server = await TextServer.start(() => ({ body: keys('a') }));
  const soon = set(`http://127.0.0.1:${server.port}/keys`);
  const watched = new Watched();
  watched.want();
  await watched.source.ask([soon]);
  assert.deepEqual(watched.told, [[soon.url, { keys: keys('a') }]]);
  assert.equal(watched.source.ask([soon]), undefined, 'asked for once');
  watched.want(soon);
  assert.equal(server.asked.length, 1);
  watched.want();
  assert.deepEqual(watched.last, undefined);
});

test('keys that were fetched by the process before are used while nobody serves them, for a week', async () => {
  const [port = 0] = await freePorts(1);
  const url = `http://127.0.0.1:${port}/keys`;
  const kept = new Kept();
  {
    await using _server = await TextServer.start(() => ({ body: keys('a') }), { port });
    const before = new Watched(kept);
    before.want(set(url));
    await before.settled();
    before.want();
  }
  const after = new Watched(kept);
  after.want(set(url));
  assert.deepEqual(after.told, [[url, { keys: keys('a') }]], 'before anybody was asked');
  await after.settled();
  assert.equal(after.last?.keys, keys('a'));
  after.want();
  const late = new Watched(kept);
  late.clock.advance(8 * DAY_MS);
  late.want(set(url));
  await late.settled();
  assert.deepEqual(Object.keys(late.last ?? {}), ['problem']);
  late.want();
});

test('keys stand in a file for the next process', async () => {
  using dir = new WorkDir();
  const log = { info: () => undefined, warn: (message: string) => assert.fail(message) };
  const file = new KeySetFile({ directory: dir.at('jwks'), log });
  const sets = new Map([['keys https://a/b', { keys: keys('a'), fetchedAt: 7 }]]);
  assert.deepEqual(file.load(), new Map());
  file.save(() => sets);
  await file.flush();
  assert.deepEqual(new KeySetFile({ directory: dir.at('jwks'), log }).load(), sets);
});
