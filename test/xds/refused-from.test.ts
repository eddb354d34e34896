import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../src/base/json.ts';
import { CLUSTER_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../src/proto/type-urls.ts';
import type { Received } from '../support/ads-stream.ts';
import { resourceJson } from '../support/ads-stream.ts';
import { nodeJson } from '../support/node.ts';
import { type LogLine, servedMesh } from '../support/served-mesh.ts';

const HEAD = 'apiVersion: networking.istio.io/v1\nkind: ';

const service = (name: string, port = 8080): string => `${HEAD}ServiceEntry
metadata: {name: ${name}}
spec:
  hosts: [${name}.mesh.internal]
  ports: [{number: ${port}, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: 10.0.0.1}]
`;
const rule = (name: string, seconds: number): string => `${HEAD}DestinationRule
metadata: {name: ${name}}
spec:
  host: ${name}.mesh.internal
  trafficPolicy: {connectionPool: {tcp: {connectTimeout: ${seconds}s}}}
`;
const routes = (name: string, prefix: string): string => `${HEAD}VirtualService
metadata: {name: ${name}}
spec:
  hosts: [${name}.mesh.internal]
  http:
  - match: [{uri: {prefix: ${prefix}}}]
    route: [{destination: {host: ${name}.mesh.internal}}]
`;
const FILES = {
  'mesh.yaml': 'accessLogFile: ""\n',
  'shop/services.yaml': ['orders', 'users', 'carts'].map((name) => service(name)).join('---\n'),
  'shop/rules.yaml': ['orders', 'users'].map((name) => rule(name, 3)).join('---\n'),
  'shop/routes.yaml': ['orders', 'users'].map((name) => routes(name, '/')).join('---\n'),
};

type Judge = (name: string, resource: JsonObject) => string | undefined;

/** Refuses as Envoy does: what is wrong with each resource, in one text. */
function judging(typeUrl: string, judge: Judge) {
  return (received: Received): string | undefined => {
    if (received.typeUrl !== typeUrl) return undefined;
    const words = received.resources.flatMap(({ name, bytes }) => judge(name, resourceJson(typeUrl, { bytes })) ?? []);
    return words.length === 0 ? undefined : words.join('; ');
  };
}

async function refusal(judge: (received: Received) => string | undefined, edit: Readonly<Record<string, string>>) {
  const mesh = await servedMesh(FILES);
  try {
    await mesh.connect({ node: nodeJson({ id: 'client-1.shop', namespace: 'shop' }), judge });
    mesh.write(edit);
    await mesh.settled();
    const [line, ...more] = mesh.log.filter(({ refused }) => refused !== undefined);
    assert.deepEqual(more, []);
    assert(line);
    return { ...line, from: (line['from'] as readonly string[])[0] ?? '' };
  } finally {
    mesh.stop();
  }
}

test('a refused cluster is told with the rule that it was changed by', async () => {
  const judge = judging(CLUSTER_TYPE, (name, { connectTimeout }) =>
    connectTimeout === '7s' ? `Error adding/updating cluster(s) ${name}: too slow` : undefined,
  );
  const line: LogLine = await refusal(judge, { 'shop/rules.yaml': `${rule('users', 3)}---\n${rule('orders', 7)}` });
  assert.equal(line['proxy'], 'client-1.shop');
  assert.equal(line['type'], 'cds');
  assert.deepEqual(line['resources'], ['outbound|8080||orders.mesh.internal']);
  assert.equal(line['from'], 'etc/istio/conf/shop/rules.yaml:8:1');
  assert.match(String(line['refused']), /too slow/);
});

test('a refused route configuration is told with the routes that were changed, though it holds those of many', async () => {
  const judge = judging(ROUTE_TYPE, (_name, resource) =>
    JSON.stringify(resource).includes('/broken') ? 'no such thing' : undefined,
  );
  const text = `# above\n${routes('orders', '/')}---\n${routes('users', '/broken')}`;
  const line: LogLine = await refusal(judge, { 'shop/routes.yaml': text });
  assert.deepEqual(line['resources'], ['8080']);
  assert.equal(line['from'], 'etc/istio/conf/shop/routes.yaml:11:1');
});

test('what the words of a refusal are about comes before what was changed', async () => {
  const judge = judging(ROUTE_TYPE, (_name, resource) =>
    JSON.stringify(resource).includes('/broken') ? 'duplicate domain orders.mesh.internal' : undefined,
  );
  const line: LogLine = await refusal(judge, {
    'shop/routes.yaml': `${routes('orders', '/')}---\n${routes('users', '/broken')}`,
  });
  assert.match(String(line['from']), /routes.yaml:1:1$/);
});

test('a listener that is refused after an edit of mesh.yaml is told with it', async () => {
  const judge = judging(LISTENER_TYPE, (name, resource) =>
    JSON.stringify(resource).includes('/dev/bad')
      ? `Error adding/updating listener(s) ${name}: unable to open`
      : undefined,
  );
  const line: LogLine = await refusal(judge, { 'mesh.yaml': 'accessLogFile: /dev/bad\n' });
  assert.equal(line['type'], 'lds');
  assert.deepEqual(line['from'], 'etc/istio/mesh.yaml:1:1');
});

test('a refused resource that a patch has changed, or added, is told with the EnvoyFilter', async () => {
  const filter = (patches: string) => `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: patches}
spec:
  configPatches:
${patches}`;
  const patch = (operation: string, value: string) =>
    `  - {applyTo: CLUSTER, patch: {operation: ${operation}, value: {${value}}}}\n`;
  const slow = judging(CLUSTER_TYPE, (name, { connectTimeout }) =>
    connectTimeout === '7s' && name.startsWith('outbound')
      ? `Error adding/updating cluster(s) ${name}: too slow`
      : undefined,
  );
  const merged = await refusal(slow, { 'shop/patches.yaml': filter(patch('MERGE', 'connect_timeout: 7s')) });
  assert.equal(merged.from, 'etc/istio/conf/shop/patches.yaml:1:1');
  const odd = judging(CLUSTER_TYPE, (name) =>
    name === 'odd' ? `Error adding/updating cluster(s) odd: odd` : undefined,
  );
  const added = await refusal(odd, { 'shop/patches.yaml': filter(patch('ADD', 'name: odd')) });
  assert.equal(added.from, 'etc/istio/conf/shop/patches.yaml:1:1');
});
