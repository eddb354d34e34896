import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import fc from 'fast-check';
import { fileMesh, type MeshFiles } from '../support/mesh-files.ts';
import { connectAll, resourcesOf, snapshot } from './snapshot.ts';

const service = (name: string, more: string): string => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${name}}
spec:
  hosts: [${name}.mesh]
  location: MESH_INTERNAL
${more}`;

const object = (kind: string, name: string, spec: string, group = 'networking'): string =>
  `apiVersion: ${group}.istio.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\nspec: ${spec}\n`;

const HTTP = '  ports: [{number: 8080, name: http, protocol: HTTP}]\n';

/** Objects whose order could matter: hosts in common, one port, several endpoints, rules that are merged, policies. */
const OBJECTS: readonly (readonly [path: string, text: string])[] = [
  ['mesh.yaml', 'accessLogFile: /dev/stdout\n'],
  ...['a', 'b', 'c'].map((name, i) => {
    const endpoints = `  endpoints: [{address: 10.20.${i}.1, locality: eu/west, labels: {version: v1}}, {address: 10.20.${i}.2, locality: us/east}]\n`;
    return [`shop/${name}.yaml`, service(name, `  resolution: STATIC\n${HTTP}${endpoints}`)] as const;
  }),
  [
    'shop/again.yaml',
    service('again', `  resolution: STATIC\n${HTTP}  endpoints: [{address: 10.20.0.9}]\n`).replace(
      'again.mesh',
      'a.mesh',
    ),
  ],
  ['edge/a.yaml', service('a', `  resolution: STATIC\n${HTTP}  endpoints: [{address: 10.20.0.8}]\n`)],
  ['shop/tcp1.yaml', service('tcp1', '  resolution: STATIC\n  ports: [{number: 3306, name: db, protocol: TCP}]\n')],
  ['shop/tcp2.yaml', service('tcp2', '  resolution: STATIC\n  ports: [{number: 3306, name: db, protocol: TCP}]\n')],
  [
    'shop/dns.yaml',
    service('dns', `  resolution: DNS\n${HTTP}  endpoints: [{address: one.test}, {address: two.test}]\n`),
  ],
  ['shop/web.yaml', service('web', `  resolution: STATIC\n${HTTP}  workloadSelector: {labels: {app: web}}\n`)],
  ...['1', '2', '3'].map(
    (n) =>
      [
        `shop/web-${n}.yaml`,
        object('WorkloadEntry', `web-${n}`, `{address: 10.20.2.${n}, labels: {app: web}}`),
      ] as const,
  ),
  [
    'shop/vs1.yaml',
    object(
      'VirtualService',
      'vs1',
      '{hosts: [a.mesh, x.test], http: [{timeout: 1s, route: [{destination: {host: a.mesh, subset: v1}}]}]}',
    ),
  ],
  [
    'shop/vs2.yaml',
    object(
      'VirtualService',
      'vs2',
      '{hosts: [a.mesh, "*.test"], http: [{timeout: 2s, route: [{destination: {host: b.mesh}}]}]}',
    ),
  ],
  ['shop/dr1.yaml', object('DestinationRule', 'dr1', '{host: a.mesh, subsets: [{name: v1, labels: {version: v1}}]}')],
  [
    'shop/dr2.yaml',
    object(
      'DestinationRule',
      'dr2',
      '{host: a.mesh, subsets: [{name: v2}], trafficPolicy: {loadBalancer: {simple: RANDOM}}}',
    ),
  ],
  ['shop/pa.yaml', object('PeerAuthentication', 'pa', '{mtls: {mode: STRICT}}', 'security')],
  ...['one', 'two'].map(
    (name) =>
      [
        `shop/${name}.yaml`,
        object('AuthorizationPolicy', name, `{rules: [{to: [{operation: {paths: [/${name}]}}]}]}`, 'security'),
      ] as const,
  ),
  ['edge/side.yaml', object('Sidecar', 'default', '{egress: [{hosts: ["*/a.mesh", "*/x.test", "./*"]}]}')],
];

const EXPECTED = snapshot(Object.fromEntries(OBJECTS));

const shuffled = fc.shuffledSubarray([...OBJECTS], { minLength: OBJECTS.length });

test('clients are sent the same bytes in whichever order files are read', () => {
  assert(EXPECTED.length > 60);
  fc.assert(
    fc.property(shuffled, (objects) => assert.deepEqual(snapshot(Object.fromEntries(objects)), EXPECTED)),
    { numRuns: 25 },
  );
});

test('clients are sent the same bytes when files come one by one, after changes that were undone', () => {
  const steps = fc.tuple(shuffled, fc.shuffledSubarray([...OBJECTS]));
  fc.assert(
    fc.property(steps, ([objects, undone]) => {
      const mesh = fileMesh({});
      connectAll(mesh);
      for (const [path, text] of objects) mesh.write({ [path]: text });
      resourcesOf(mesh);
      for (const [path] of undone) mesh.write({ [path]: undefined });
      resourcesOf(mesh);
      mesh.write(Object.fromEntries(undone));
      assert.deepEqual(resourcesOf(mesh), EXPECTED);
    }),
    { numRuns: 15 },
  );
});

test('clients are sent the same bytes by another process', () => {
  const files: MeshFiles = Object.fromEntries([...OBJECTS].reverse());
  const script = `import { snapshot } from ${JSON.stringify(import.meta.resolve('./snapshot.ts'))};
    process.stdout.write(JSON.stringify(snapshot(${JSON.stringify(files)})));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.deepEqual(JSON.parse(stdout), EXPECTED);
});
