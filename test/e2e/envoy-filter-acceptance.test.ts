import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../src/base/json.ts';
import { CLUSTER_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../src/proto/type-urls.ts';
import { meshFixture, object } from '../support/mesh-fixture.ts';
import { randomEnvoyFilterEdit } from '../support/random-envoy-filters.ts';
import { envoyRefusals } from '../support/validate-envoy.ts';
import { WorkDir } from '../support/work-dir.ts';
import { ALL } from './conditions.ts';

const files = new WorkDir('validate');
after(() => files[Symbol.dispose]());

const entry = (name: string, port: number, protocol: string, address: string) =>
  object('ServiceEntry', name, {
    hosts: [`${name}.mesh`],
    resolution: 'STATIC',
    ports: [{ number: port, name: 'p', protocol }],
    endpoints: [{ address }],
  });
const MESH = [
  entry('a', 80, 'HTTP', '10.2.0.1'),
  entry('db', 3306, 'TCP', '10.2.0.2'),
  entry('web', 8080, 'HTTP', '10.1.0.1'),
  object('Gateway', 'edge', {
    selector: { app: 'web' },
    servers: [{ port: { number: 80, name: 'http', protocol: 'HTTP' }, hosts: ['*'] }],
  }),
];

/** Each takes an Envoy a tenth of a second. */
const RUNS = ALL ? 300 : 30;

test('whatever EnvoyFilters say, an upstream Envoy refuses nothing', { timeout: 60_000 + RUNS * 2_000 }, () => {
  const edits = fc.array(randomEnvoyFilterEdit, { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(edits, fc.constantFrom('sidecar' as const, 'router' as const), (written, type) => {
      const filters = new Map(written.flatMap(({ key, config }) => (config ? [[key, config] as const] : [])));
      const mesh = meshFixture([...MESH, ...filters.values()]);
      const client = { type, namespace: 'shop', ip: '10.1.0.1', labels: { app: 'web' }, dataplane: 'envoy' } as const;
      mesh.connect('web', client);
      const sent = (typeUrl: string) => mesh.resources('web', typeUrl) as ReadonlyMap<string, JsonObject>;
      const resources = { clusters: sent(CLUSTER_TYPE), listeners: sent(LISTENER_TYPE), routes: sent(ROUTE_TYPE) };
      assert.deepEqual(envoyRefusals(resources, files), []);
    }),
    { numRuns: RUNS },
  );
});
