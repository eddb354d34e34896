import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Config, ConfigKey } from '../../../src/config/config.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../../src/proto/type-urls.ts';
import { type Client, type MeshFixture, meshFixture } from '../../support/mesh-fixture.ts';
import { randomGatewayEdit } from '../../support/random-gateways.ts';
import { runs } from '../../support/runs.ts';

const CLIENTS: Readonly<Record<string, Client>> = {
  'istio p': { labels: { app: 'p' } },
  'envoy p': { labels: { app: 'p', tier: 't' }, dataplane: 'envoy' },
  'bare p': { labels: { app: 'p' }, dataplane: 'bare', metadata: { UNPRIVILEGED_POD: 'true' } },
  'istio q': { labels: { app: 'q' }, namespace: 'a' },
};
const TYPES = [CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE];

function connect(mesh: MeshFixture): MeshFixture {
  for (const [name, client] of Object.entries(CLIENTS))
    mesh.connect(name, { type: 'router', namespace: 'edge', ...client });
  return mesh;
}

/** Names and versions of all that each client is sent. */
function served({ pipeline }: MeshFixture): readonly string[] {
  return Object.keys(CLIENTS).flatMap((client) => {
    const scope = pipeline.mesh.scopeOf.get(client);
    return TYPES.flatMap((type) => {
      const set = scope && pipeline.resources.get(type)?.get(scope);
      return [...(set?.entries() ?? [])].map(([name, { version }]) => `${client} ${type} ${name} ${version}`);
    });
  });
}

test('after any edits routers are sent what a mesh that began with the same objects sends', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(randomGatewayEdit, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 }),
      (batches) => {
        const live = connect(meshFixture([]));
        const objects = new Map<ConfigKey, Config>();
        for (const batch of batches) {
          live.graph.batch(() => {
            for (const { key, config } of batch) {
              live.pipeline.mesh.configs.set(key, config);
              if (config === undefined) objects.delete(key);
              else objects.set(key, config);
            }
          });
          assert.deepEqual(served(live), served(connect(meshFixture([...objects.values()]))));
        }
      },
    ),
    { numRuns: runs(15) },
  );
});
