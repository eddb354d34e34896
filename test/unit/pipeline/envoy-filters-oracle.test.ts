import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Config, ConfigKey } from '../../../src/config/config.ts';
import type { CollectionView } from '../../../src/derive/graph.ts';
import type { EncodedResource } from '../../../src/proto/resource-set.ts';
import { CLUSTER_TYPE, EXTENSION_CONFIG_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../../src/proto/type-urls.ts';
import { type Client, type MeshFixture, meshFixture, object } from '../../support/mesh-fixture.ts';
import { randomEnvoyFilterEdit } from '../../support/random-envoy-filters.ts';

const CLIENTS: Readonly<Record<string, Client>> = {
  'istio web': { labels: { app: 'web' }, ip: '10.1.0.1' },
  'envoy web': { labels: { app: 'web' }, ip: '10.1.0.1', dataplane: 'envoy' },
  'envoy other': { dataplane: 'envoy' },
  'envoy edge': { type: 'router', labels: { app: 'edge' }, dataplane: 'envoy' },
};
const TYPES = [CLUSTER_TYPE, LISTENER_TYPE, ROUTE_TYPE, EXTENSION_CONFIG_TYPE];

const entry = (name: string, port: number, protocol: string, address: string) =>
  object(
    'ServiceEntry',
    name,
    {
      hosts: [`${name}.mesh`],
      addresses: [`240.0.0.${port % 250}`],
      resolution: 'STATIC',
      ports: [{ number: port, name: 'p', protocol }],
      endpoints: [{ address }],
    },
    'shop',
  );
const BASE: readonly Config[] = [
  entry('a', 80, 'HTTP', '10.2.0.1'),
  entry('db', 3306, 'TCP', '10.2.0.2'),
  entry('web', 8080, 'HTTP', '10.1.0.1'),
  object(
    'Gateway',
    'edge',
    {
      selector: { app: 'edge' },
      servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
    },
    'shop',
  ),
];

const connected = (objects: readonly Config[]): MeshFixture => {
  const mesh = meshFixture([...BASE, ...objects]);
  for (const [name, client] of Object.entries(CLIENTS)) mesh.connect(name, { namespace: 'shop', ...client });
  return mesh;
};

type Sets = ReadonlyMap<string, ReadonlyMap<string, EncodedResource>>;

function served({ pipeline }: MeshFixture): Sets {
  return new Map(
    Object.keys(CLIENTS).flatMap((client) => {
      const scope = pipeline.mesh.scopeOf.get(client);
      return TYPES.map((type) => {
        const set = scope && pipeline.resources.get(type)?.get(scope);
        return [`${client} ${type}`, new Map(set?.entries() ?? [])] as const;
      });
    }),
  );
}

const versions = (sets: Sets): readonly string[] =>
  [...sets].flatMap(([set, resources]) => [...resources].map(([name, { version }]) => `${set} ${name} ${version}`));

test('after any edits of EnvoyFilters proxies are sent what a mesh that began with the same objects sends', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(randomEnvoyFilterEdit, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 4 }),
      (batches) => {
        const live = connected([]);
        const objects = new Map<ConfigKey, Config>();
        const untouched = served(live);
        for (const batch of batches) {
          live.graph.batch(() => {
            for (const { key, config } of batch) {
              live.pipeline.mesh.configs.set(key, config);
              if (config === undefined) objects.delete(key);
              else objects.set(key, config);
            }
          });
          served(live);
        }
        assert.deepEqual(versions(served(live)), versions(served(connected([...objects.values()]))));
        live.remove(...objects.values());
        const after = served(live);
        for (const [set, resources] of untouched) {
          assert.deepEqual([...(after.get(set) ?? [])].length, resources.size);
          // Not equal alone, but the very same: nothing was translated again.
          for (const [name, resource] of resources) assert.equal(after.get(set)?.get(name), resource, name);
        }
      },
    ),
    { numRuns: 6 },
  );
});

/** Places for patches, whose content the edits change. */
const places = ['shop', 'istio-system'].flatMap((namespace) =>
  ['one', 'two'].map((name) => {
    const patch = { applyTo: 'CLUSTER', patch: { operation: 'REMOVE' } };
    return object('EnvoyFilter', name, { configPatches: Array(4).fill(patch) }, namespace);
  }),
);

test('what a watched set says of its changes leads from what it was to what it is', () => {
  let changed = 0;
  fc.assert(
    fc.property(fc.array(randomEnvoyFilterEdit, { minLength: 1, maxLength: 8 }), (edits) => {
      const mesh = connected(places);
      // It keeps the places, whatever becomes of the patches in them.
      const scope = mesh.pipeline.mesh.scopeOf.get('envoy web');
      assert(scope);
      assert.equal(scope.patches.length, 16);
      const followers = TYPES.map((type) => {
        const collection = mesh.pipeline.resources.get(type);
        assert(collection);
        const view: CollectionView<string, EncodedResource> = mesh.graph.watch(collection, scope).value;
        const held = new Map([...view.entries()].map(([name, { version }]) => [name, version]));
        return { view, held, revision: view.revision };
      });
      for (const { key, config } of edits) {
        mesh.graph.batch(() => mesh.pipeline.mesh.configs.set(key, config));
        for (const follower of followers) {
          const { view, held } = follower;
          const changes = view.changesSince(follower.revision);
          assert(changes);
          changed += changes.changed.size;
          for (const name of changes.removed) held.delete(name);
          for (const [name, { version }] of changes.changed) held.set(name, version);
          follower.revision = view.revision;
          const now = [...view.entries()].map(([name, resource]) => [name, resource.version] as const);
          assert.deepEqual([...held].sort(), now.sort());
          assert.equal(view.size, now.length);
        }
      }
    }),
    { numRuns: 8 },
  );
  assert(changed > 0);
});
