import assert from 'node:assert/strict';
import fc from 'fast-check';
import { CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../src/proto/type-urls.ts';
import { FakeProvider, type FakeScope, FakeSet, readFakeResource } from '../support/fake-provider.ts';
import { type Fixture, type TestClient, xdsTest } from './harness.ts';
import { ModelClient, type Refusal } from './model-client.ts';

const ISTIO_TYPE = 'type.googleapis.com/istio.test.Config';
const WILDCARD_TYPES: readonly string[] = [CLUSTER_TYPE, LISTENER_TYPE, ISTIO_TYPE];
const NAMED_TYPES: readonly string[] = [ENDPOINT_TYPE, ROUTE_TYPE];
const TYPES: readonly string[] = [...WILDCARD_TYPES, ...NAMED_TYPES];
const NAMES = ['a', 'b', 'c', 'd', 'e'];
const RUNS = Number(process.env['XDS_PROPERTY_RUNS'] ?? 200);

type Action =
  | { readonly do: 'edit'; readonly typeUrl: string; readonly name: string; readonly text: string | undefined }
  | { readonly do: 'add' | 'drop'; readonly typeUrl: string; readonly names: readonly string[] }
  | { readonly do: 'pump' | 'reconnect' | 'move' | 'wait' };

const name = fc.constantFrom(...NAMES);
const text = fc.constantFrom(undefined, undefined, '1', '2', '3', 'bad1', 'bad2');
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('edit'), typeUrl: fc.constantFrom(...TYPES), name, text }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('add', 'drop'),
      typeUrl: fc.constantFrom(...NAMED_TYPES),
      names: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('pump', 'pump', 'pump', 'reconnect', 'move', 'wait') }) },
);
const firstNames = fc.uniqueArray(name, { minLength: 1, maxLength: 4 });
const refusal: fc.Arbitrary<Refusal> = fc.constantFrom('silent about names', 'by name');

const emptyScope = (): FakeScope => new Map(TYPES.map((typeUrl) => [typeUrl, new FakeSet({}, 3)]));

function content(scope: FakeScope, typeUrl: string): Readonly<Record<string, string>> {
  const resources = [...(scope.get(typeUrl)?.values() ?? [])];
  return Object.fromEntries(
    resources.map(({ bytes }) => readFakeResource(bytes)).map((read) => [read.name, read.text]),
  );
}

/** One history: two scopes that are edited, and a client of each variant. */
class History {
  readonly #fixture: Fixture;
  readonly #scopes = [emptyScope(), emptyScope()] as const;
  readonly #clients: readonly ModelClient[];
  readonly #cluster: string;
  #current = 0;

  constructor(fixture: Fixture, client: TestClient, cluster: string, how: Refusal, names: readonly string[]) {
    this.#fixture = fixture;
    this.#cluster = cluster;
    fixture.provider.scopes.set(cluster, this.scope);
    this.#clients = [
      new ModelClient(fixture, client, 'sotw', cluster, how),
      new ModelClient(fixture, client, 'delta', cluster, how),
    ];
    for (const client of this.#clients) {
      for (const typeUrl of WILDCARD_TYPES) client.open(typeUrl, []);
      for (const typeUrl of NAMED_TYPES) client.open(typeUrl, names);
    }
  }

  get scope(): FakeScope {
    return this.#scopes[this.#current] as FakeScope;
  }

  async run(step: Action): Promise<void> {
    if (step.do !== 'pump' && step.do !== 'wait') for (const client of this.#clients) client.changed();
    switch (step.do) {
      case 'edit':
        this.scope.get(step.typeUrl)?.edit({ [step.name]: step.text });
        return this.#fixture.provider.notify();
      case 'add':
        for (const client of this.#clients) client.add(step.typeUrl, step.names);
        return;
      case 'drop':
        for (const client of this.#clients) client.drop(step.typeUrl, step.names);
        return;
      case 'pump':
        for (const client of this.#clients) await client.pump();
        return;
      case 'wait':
        return this.#fixture.clock.advance(1_000);
      case 'reconnect':
        for (const client of this.#clients) client.reconnect();
        return;
      case 'move':
        this.#current = 1 - this.#current;
        this.#fixture.provider.scopes.set(this.#cluster, this.scope);
        for (const session of this.#fixture.provider.sessions) {
          if (!session.closed && session.node.cluster === this.#cluster) session.move(this.scope);
        }
    }
  }

  /** Replaces all that clients refuse, and lets everything come to rest. */
  async settle(): Promise<void> {
    for (const typeUrl of TYPES) {
      const bad = Object.entries(content(this.scope, typeUrl)).filter(([, value]) => value.startsWith('bad'));
      this.scope.get(typeUrl)?.edit(Object.fromEntries(bad.map(([key]) => [key, 'good'])));
    }
    for (const client of this.#clients) client.changed();
    this.#fixture.provider.notify();
    for (let quiet = 0; quiet < 3; quiet++) {
      for (const client of this.#clients) while ((await client.pump()) > 0) quiet = 0;
      this.#fixture.clock.advance(3_000);
    }
  }

  check(): void {
    const [sotw, delta] = this.#clients as [ModelClient, ModelClient];
    for (const typeUrl of WILDCARD_TYPES) {
      const set = content(this.scope, typeUrl);
      assert.deepEqual(sotw.texts(typeUrl), set, `state of the world, ${typeUrl}`);
      assert.deepEqual(delta.texts(typeUrl), set, `incremental, ${typeUrl}`);
    }
    for (const typeUrl of NAMED_TYPES) {
      const set = content(this.scope, typeUrl);
      const asked = Object.fromEntries(Object.entries(set).filter(([key]) => delta.names(typeUrl).has(key)));
      assert.deepEqual(delta.texts(typeUrl), asked, `incremental, ${typeUrl}`);
      // A removal cannot be told: what is left over is not compared.
      const held = Object.entries(sotw.texts(typeUrl)).filter(([key]) => set[key] !== undefined);
      assert.deepEqual(Object.fromEntries(held), asked, `state of the world, ${typeUrl}`);
    }
  }

  close(): void {
    for (const client of this.#clients) client.close();
  }
}

xdsTest(
  'after any history both variants have what the provider has',
  async (start) => {
    const fixture = await start(new FakeProvider({}));
    const client = fixture.client();
    let run = 0;
    await fc.assert(
      fc.asyncProperty(refusal, firstNames, fc.array(action, { maxLength: 40 }), async (how, names, actions) => {
        const history = new History(fixture, client, `run-${++run}`, how, names);
        try {
          for (const step of actions) await history.run(step);
          await history.settle();
          history.check();
        } finally {
          history.close();
        }
      }),
      { numRuns: RUNS },
    );
  },
  ['delta'],
);
