import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE } from '../../src/proto/type-urls.ts';
import type { AdsClient } from '../support/ads-client.ts';
import { nodeJson } from '../support/node.ts';
import { type ServedMesh, servedMesh } from '../support/served-mesh.ts';

const service = (name: string, address: string, port: number) => `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${name}}
spec:
  hosts: [${name}.mesh]
  resolution: STATIC
  ports: [{number: ${port}, name: http, protocol: HTTP}]
  endpoints: [{address: ${address}, labels: {app: ${name}}}]
`;

const filter = (selector: string, patches: string) => `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: patches}
spec:
  ${selector}
  configPatches:
${patches}`;
const TIMEOUT = (service: string, timeout: string) => `  - applyTo: CLUSTER
    match: {context: SIDECAR_OUTBOUND, cluster: {service: ${service}}}
    patch: {operation: MERGE, value: {connect_timeout: ${timeout}}}
`;
const LUA = (code: string) => `  - applyTo: HTTP_FILTER
    match: {context: SIDECAR_INBOUND, listener: {filterChain: {filter: {name: envoy.filters.network.http_connection_manager, subFilter: {name: envoy.filters.http.router}}}}}
    patch:
      operation: INSERT_BEFORE
      value:
        name: lua
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua
          default_source_code: {inline_string: "function envoy_on_request(h) end -- ${code}"}
`;
const WEB = 'workloadSelector: {labels: {app: web}}';

/** Derivations that make something of Envoy's. */
const TRANSLATIONS: ReadonlySet<string> = new Set([
  'cluster',
  'ownCluster',
  'loadAssignment',
  'outboundListener',
  'inboundListener',
  'virtualOutbound',
  'virtualHost',
  'routeConfiguration',
]);

let mesh: ServedMesh;
let clients: Readonly<Record<string, AdsClient>>;

before(async () => {
  mesh = await servedMesh({
    'shop/web.yaml': service('web', '10.20.0.1', 8000),
    'shop/orders.yaml': service('orders', '10.20.0.2', 8080),
    'shop/users.yaml': service('users', '10.20.0.3', 9090),
  });
  const connect = (name: string, ip: string) =>
    mesh.connect({
      node: nodeJson({ id: `${name}.shop`, namespace: 'shop', ips: [ip], metadata: { LABELS: { app: name } } }),
    });
  clients = { web: await connect('web', '10.20.0.1'), other: await connect('other', '10.9.0.1') };
});

after(() => mesh.stop());

/** What is translated and sent for a change of the file of patches. */
async function costOf(text: string | undefined): Promise<{ translated: readonly string[]; sent: readonly string[] }> {
  mesh.runs();
  for (const { log } of Object.values(clients)) log.splice(0);
  mesh.write({ 'shop/patches.yaml': text });
  await mesh.settled();
  const translated = mesh.runs().map(({ derivation }) => derivation);
  const sent = Object.entries(clients).flatMap(([client, { log }]) =>
    log.splice(0).flatMap(({ typeUrl, resources, removed }) => {
      const type = typeUrl.slice(typeUrl.lastIndexOf('.') + 1);
      return [...resources.map(({ name }) => name), ...removed.map((name) => `-${name}`)].map(
        (name) => `${client} ${type} ${name}`,
      );
    }),
  );
  return { translated: translated.filter((name) => TRANSLATIONS.has(name)), sent: sent.sort() };
}

/** Names and versions of all that clients hold. */
const held = (): readonly string[] =>
  Object.entries(clients).flatMap(([client, ads]) =>
    [CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, ROUTE_TYPE].flatMap((type) =>
      [...ads.type(type).held.values()].map(({ name, version }) => `${client} ${type} ${name} ${version}`),
    ),
  );

test('a patch costs what it is for, where it is for it, and nothing is translated; without it all is as it was', async () => {
  const original = held().toSorted();
  // Endpoints are sent again with their cluster.
  const orders = ['Cluster', 'ClusterLoadAssignment'];
  assert.deepEqual(await costOf(filter(WEB, TIMEOUT('orders.mesh', '1s'))), {
    translated: [],
    sent: orders.map((type) => `web ${type} outbound|8080||orders.mesh`),
  });
  // Another value of the same patch.
  assert.deepEqual(await costOf(filter(WEB, TIMEOUT('orders.mesh', '2s'))), {
    translated: [],
    sent: orders.map((type) => `web ${type} outbound|8080||orders.mesh`),
  });
  // A second patch leaves the first alone.
  assert.deepEqual(await costOf(filter(WEB, TIMEOUT('orders.mesh', '2s') + LUA('one'))), {
    translated: [],
    sent: ['web Listener virtualInbound'],
  });
  assert.deepEqual(await costOf(filter(WEB, TIMEOUT('orders.mesh', '2s') + LUA('two'))), {
    translated: [],
    sent: ['web Listener virtualInbound'],
  });
  // The same for one that calls nobody.
  assert.deepEqual(
    await costOf(filter('workloadSelector: {labels: {app: nobody}}', TIMEOUT('orders.mesh', '2s') + LUA('two'))),
    {
      translated: [],
      sent: [...orders.map((type) => `web ${type} outbound|8080||orders.mesh`), 'web Listener virtualInbound'],
    },
  );
  assert.deepEqual(await costOf(undefined), { translated: [], sent: [] });
  assert.deepEqual(held().toSorted(), original);
});

test('what a patch is not for costs nothing, though the patch is for the proxy', async () => {
  await costOf(filter('priority: 3', TIMEOUT('orders.mesh', '1s')));
  mesh.runs();
  for (const { log } of Object.values(clients)) log.splice(0);
  mesh.write({ 'shop/users.yaml': service('users', '10.20.0.9', 9090) });
  await mesh.settled();
  const made = mesh.runs().filter(({ derivation }) => TRANSLATIONS.has(derivation));
  assert.deepEqual(made.length, 1);
  const sent = Object.values(clients).flatMap(({ log }) =>
    log.splice(0).flatMap(({ resources }) => resources.map(({ name }) => name)),
  );
  assert.deepEqual(sent, ['outbound|9090||users.mesh', 'outbound|9090||users.mesh']);
});
