import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DestinationRule } from '../../../src/config/schema/destination-rule.ts';
import { MeshConfig } from '../../../src/config/schema/mesh-config.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE } from '../../../src/proto/type-urls.ts';
import { meshFixture, object } from '../../support/mesh-fixture.ts';
import { runs } from '../../support/runs.ts';
import { randomFrom, specFrom } from '../config/schema/random-spec.ts';

type Spec = Readonly<Record<string, unknown>>;

/** What of MeshConfig shapes clusters and endpoints. */
const FACETS = [
  'connectTimeout',
  'tcpKeepalive',
  'h2UpgradePolicy',
  'tlsDefaults',
  'outboundClusterStatName',
  'inboundClusterStatName',
  'defaultTrafficPolicy',
  'localityLbSetting',
  'zoneAwareLbSetting',
  'outboundTrafficPolicy',
];

const service = (name: string, resolution: string, address: string) =>
  object('ServiceEntry', name, {
    hosts: [`${name}.example.com`],
    resolution,
    location: 'MESH_INTERNAL',
    ports: [
      { number: 80, name: 'http', protocol: 'HTTP' },
      { number: 81, name: 'auto' },
    ],
    endpoints: [
      { address, locality: 'r1/z1', labels: { version: 'v1' } },
      { address, locality: 'r2', weight: 3 },
    ],
  });
const SERVICES = [service('static', 'STATIC', '10.0.0.1'), service('dns', 'DNS', 'b.example.com')];

/** Half of the settings for ports are for one that the services have. */
function aimed(spec: Spec): Spec {
  const policy = spec['trafficPolicy'] as { readonly portLevelSettings?: readonly Spec[] } | undefined;
  const settings = policy?.portLevelSettings?.map((own, i) => (i === 0 ? { ...own, port: { number: 80 } } : own));
  return settings === undefined ? spec : { ...spec, trafficPolicy: { ...policy, portLevelSettings: settings } };
}

test('every rule, under any settings of the mesh, gives clusters and endpoints that can be sent', () => {
  const given = fc.tuple(fc.integer(), fc.constantFrom('istio', 'envoy', 'bare'));
  fc.assert(
    fc.property(given, ([seed, dataplane]) => {
      const random = randomFrom(seed);
      const rule = specFrom(DestinationRule, random);
      const mesh = specFrom(MeshConfig, random);
      const facets = Object.fromEntries(Object.entries(mesh as Spec).filter(([name]) => FACETS.includes(name)));
      const rules = ['static', 'dns'].map((name) =>
        object('DestinationRule', name, { ...aimed(rule as Spec), host: `${name}.example.com`, exportTo: [] }),
      );
      const { connect, resources } = meshFixture([...SERVICES, ...rules, object('MeshConfig', '', facets)]);
      connect('one', { dataplane: dataplane as 'istio', locality: { region: 'r1' }, labels: { version: 'v1' } });
      assert(resources('one', CLUSTER_TYPE).has('outbound|80||static.example.com'));
      for (const name of resources('one', ENDPOINT_TYPE).keys()) assert(resources('one', CLUSTER_TYPE).has(name));
    }),
    { numRuns: runs(150) },
  );
});
