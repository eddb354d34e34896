import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { formatLocation } from '../../../src/base/diagnostic.ts';
import { Findings } from '../../../src/istiod/findings.ts';
import { fileMesh } from '../../support/mesh-files.ts';

const SERVICE = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: orders}
spec:
  hosts: [orders.mesh.internal]
  ports: [{number: 8080, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: 10.0.0.1, labels: {version: v1}}, {address: 10.0.0.2, labels: {version: v2}}]
`;

const routes = (subset: string, above = ''): string => `${above}
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: orders}
spec:
  hosts: [orders.mesh.internal]
  http:
  - route:
    - destination: {host: orders.mesh.internal, subset: ${subset}}
`;

const rule = (...subsets: readonly string[]): string => `
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: orders}
spec:
  host: orders.mesh.internal
  subsets:
${subsets.map((name) => `  - {name: ${name}, labels: {version: ${name}}}`).join('\n')}
`;

/** A mesh, and what is told of its files since the last look: `file: before → now`, each finding as `code line:column`. */
function followed(files: Readonly<Record<string, string>>) {
  const mesh = fileMesh(files);
  const told: string[] = [];
  const short = (list: readonly { code: string; location: { line: number; column: number } }[]) =>
    list.map(({ code, location }) => `${code} ${location.line}:${location.column}`).join();
  const findings = new Findings(mesh.graph, mesh.store, mesh.pipeline.analysis, (changes) => {
    for (const { file, before, now } of changes) told.push(`${file}: ${short(before)} → ${short(now)}`);
  });
  return {
    ...mesh,
    findings,
    told: async (): Promise<readonly string[]> => {
      await turn();
      return told.splice(0);
    },
  };
}

const VS = 'etc/istio/conf/shop/vs.yaml';

test('a subset that is missing is named at its place until it is there', async () => {
  const { write, told, findings } = followed({
    'shop/se.yaml': SERVICE,
    'shop/vs.yaml': routes('v1'),
    'shop/dr.yaml': rule('v1'),
  });
  assert.deepEqual(await told(), []);
  write({ 'shop/vs.yaml': routes('v2') });
  assert.deepEqual(await told(), [`${VS}:  → IST0101 9:57`]);
  const [finding] = findings.all();
  assert.equal(finding?.resource, 'VirtualService/shop/orders');
  assert.equal(finding?.path, 'spec.http[0].route[0].destination.subset');
  assert.match(finding?.message ?? '', /add it to DestinationRule shop\/orders, which has v1/);
  assert.deepEqual(findings.counts(), { error: 1, warning: 0, info: 0 });
  write({ 'shop/dr.yaml': rule('v1', 'v2') });
  assert.deepEqual(await told(), [`${VS}: IST0101 9:57 → `]);
  assert.deepEqual(findings.all(), []);
});

test('route and rule that change in one batch give no finding', async () => {
  const { write, told } = followed({
    'shop/se.yaml': SERVICE,
    'shop/vs.yaml': routes('v1'),
    'shop/dr.yaml': rule('v1'),
  });
  await told();
  write({ 'shop/vs.yaml': routes('v2'), 'shop/dr.yaml': rule('v2') });
  assert.deepEqual(await told(), []);
});

test('a finding moves with its line, and with its file', async () => {
  const { write, told, findings } = followed({ 'shop/se.yaml': SERVICE, 'shop/vs.yaml': routes('v1') });
  assert.deepEqual(await told(), [`${VS}:  → IST0101 9:57`]);
  write({ 'shop/vs.yaml': routes('v1', '# one more line\n') });
  assert.deepEqual(
    findings.all().map(({ location }) => formatLocation(location)),
    [`${VS}:10:57`],
  );
  write({ 'shop/vs.yaml': undefined, 'shop/other.yaml': routes('v1') });
  assert.deepEqual(
    findings.all().map(({ location }) => formatLocation(location)),
    ['etc/istio/conf/shop/other.yaml:9:57'],
  );
});

test('what is wrong with a file and what is wrong in view of others is told together', async () => {
  const misspelt = routes('v1').replace('  http:', '  htttp: []\n  http:');
  const { write, told } = followed({ 'shop/se.yaml': SERVICE, 'shop/vs.yaml': misspelt });
  assert.deepEqual(await told(), [`${VS}:  → VM0001 7:3,IST0101 10:57`]);
  write({ 'shop/vs.yaml': routes('v1') });
  assert.deepEqual(await told(), [`${VS}: VM0001 7:3,IST0101 10:57 → IST0101 9:57`]);
  write({ 'shop/vs.yaml': undefined });
  assert.deepEqual(await told(), [`${VS}: IST0101 9:57 → `]);
});

test('nothing is told after the end', async () => {
  const { write, told, findings } = followed({ 'shop/se.yaml': SERVICE });
  findings.stop();
  write({ 'shop/vs.yaml': routes('v1') });
  assert.deepEqual(await told(), []);
});
