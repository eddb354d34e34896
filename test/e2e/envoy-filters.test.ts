import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Diagnostic } from '../../src/base/diagnostic.ts';
import { freePorts } from '../support/free-port.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { type HttpAnswer, httpRequest } from '../support/http-client.ts';
import { waitFor } from '../support/wait.ts';
import { LocalMesh } from './local-mesh.ts';

const HOST = 'web.shop.internal';
const FILE = 'shop/patches.yaml';

const service = (port: number, backend: number): string => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: web}
spec:
  hosts: [${HOST}]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: ${port}, name: http, protocol: HTTP}]
  endpoints: [{address: 127.0.0.2, ports: {http: ${backend}}}]
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [${HOST}]
  http:
  - name: closed
    match: [{uri: {prefix: /closed}}]
    directResponse: {status: 403}
  - name: open
    route: [{destination: {host: ${HOST}}}]
`;

const patches = (...list: readonly string[]): string => `
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: patches}
spec:
  workloadSelector: {labels: {app: client}}
  configPatches:
${list.join('')}`;

const HTTP_FILTER = (operation: string, value: string): string => `
  - applyTo: HTTP_FILTER
    match:
      context: SIDECAR_OUTBOUND
      listener:
        filterChain:
          filter:
            name: envoy.filters.network.http_connection_manager
            subFilter: {name: envoy.filters.http.router}
    patch:
      operation: ${operation}
      value:${value}`;

const LUA_TYPE = 'type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua';
const lua = (header: string): string => `
          "@type": ${LUA_TYPE}
          default_source_code:
            inline_string: |
              function envoy_on_response(handle) handle:headers():add("${header}", "yes") end`;

const LUA = HTTP_FILTER('INSERT_BEFORE', `\n        name: lua\n        typed_config:${lua('x-lua')}`);

const RATE_LIMIT = HTTP_FILTER(
  'INSERT_BEFORE',
  `
        name: envoy.filters.http.local_ratelimit
        typed_config:
          "@type": type.googleapis.com/udpa.type.v1.TypedStruct
          type_url: type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit
          value:
            stat_prefix: few
            token_bucket: {max_tokens: 2, tokens_per_fill: 1, fill_interval: 3600s}
            filter_enabled: {runtime_key: enabled, default_value: {numerator: 100, denominator: HUNDRED}}
            filter_enforced: {runtime_key: enforced, default_value: {numerator: 100, denominator: HUNDRED}}`,
);

const DISCOVERED = `
  - applyTo: EXTENSION_CONFIG
    match: {context: SIDECAR_OUTBOUND}
    patch:
      operation: ADD
      value:
        name: discovered
        typed_config:${lua('x-discovered')}${HTTP_FILTER(
          'INSERT_BEFORE',
          `
        name: discovered
        config_discovery:
          config_source: {ads: {}, resource_api_version: V3}
          type_urls: [${LUA_TYPE}]`,
        )}`;

const route = (operation: string, name: string, value = ''): string => `
  - applyTo: HTTP_ROUTE
    match: {context: SIDECAR_OUTBOUND, routeConfiguration: {vhost: {route: {name: ${name}}}}}
    patch: {operation: ${operation}${value}}`;

let mesh: LocalMesh;
let backend: HttpBackend;
let url: string;

before(async () => {
  backend = await HttpBackend.start('web', 0, '127.0.0.2');
  const [port = 0] = await freePorts(1);
  mesh = await LocalMesh.start({ files: { 'shop/web.yaml': service(port, backend.port) } });
  url = `http://127.0.0.1:${port}`;
});

after(async () => {
  await mesh?.[Symbol.asyncDispose]();
  await backend?.stop();
});

const get = (path = '/'): Promise<HttpAnswer> => httpRequest(url + path, { host: HOST });

/** Writes the patches, and waits until an answer shows them. */
async function patched(text: string, what: string, shows: (answer: HttpAnswer) => boolean, path = '/'): Promise<void> {
  mesh.write(FILE, text);
  await waitFor(async () => shows(await get(path)), { what });
}

const NOTHING = '# no patches\n';
const isPlain = ({ status, headers }: HttpAnswer): boolean => status === 200 && headers['x-lua'] === undefined;

test('a Lua filter adds a header, and goes with its patch', { timeout: 60_000 }, async () => {
  await patched(patches(LUA), 'a header that Lua adds', ({ headers }) => headers['x-lua'] === 'yes');
  await patched(NOTHING, 'an answer without it', isPlain);
});

test('a local rate limit answers 429 when the tokens are spent', { timeout: 60_000 }, async () => {
  await patched(patches(RATE_LIMIT), 'the status 429', ({ status }) => status === 429);
  await patched(NOTHING, 'the status 200', isPlain);
});

test('a filter is configured by discovery, and anew when its config is edited', { timeout: 60_000 }, async () => {
  const found =
    (header: string) =>
    ({ headers }: HttpAnswer) =>
      headers[header] === 'yes';
  await patched(patches(DISCOVERED), 'a header of the discovered filter', found('x-discovered'));
  await patched(patches(DISCOVERED.replace('x-discovered', 'x-edited')), 'the edited header', found('x-edited'));
  await patched(NOTHING, 'an answer without it', ({ headers }) => headers['x-edited'] === undefined);
});

test('a route is changed, and removed, so that the next one takes its requests', { timeout: 60_000 }, async () => {
  assert.equal((await get('/closed')).status, 403);
  const merge = route('MERGE', 'closed', ', value: {direct_response: {status: 418}}');
  await patched(patches(merge), 'the merged status', ({ status }) => status === 418, '/closed');
  await patched(patches(route('REMOVE', 'closed')), 'the next route', ({ status }) => status === 200, '/closed');
  await patched(NOTHING, 'the original status', ({ status }) => status === 403, '/closed');
});

test('what this Envoy would refuse is left out at its line, and the patch beside it works', {
  timeout: 60_000,
}, async () => {
  const missing = HTTP_FILTER(
    'INSERT_BEFORE',
    '\n        name: x\n        typed_config: {"@type": type.googleapis.com/io.istio.http.peer_metadata.Config}',
  );
  const late = HTTP_FILTER('INSERT_AFTER', `\n        name: late\n        typed_config:${lua('x-late')}`);
  const misspelt = `
  - applyTo: CLUSTER
    patch: {operation: MERGE, value: {conect_timeout: 1s}}
  - applyTo: CLUSTER
    patch: {operation: MERGE, value: {connect_timeout: soon}}`;
  const text = patches(missing, late, misspelt, LUA);
  await patched(text, 'a header that Lua adds', ({ headers }) => headers['x-lua'] === 'yes');
  assert.equal(await mesh.envoy.rejected(), 0);
  const linesOf = (part: string): readonly number[] =>
    text.split('\n').flatMap((line, i) => (line.startsWith(part) ? [i + 1] : []));
  const [ofMissing, ofLate] = linesOf('    patch:');
  const [ofName, ofValue] = linesOf('    patch: {');
  const findings = await mesh.istiod.json<Diagnostic[]>('/debug/diagnosticsz');
  const told = findings
    .filter(({ location, code }) => location.file.endsWith(FILE) && code.startsWith('VM'))
    .map(({ code, severity, location }) => `${location.line} ${severity} ${code}`);
  assert.deepEqual(told, [
    `${ofMissing} warning VM0231`,
    `${ofLate} warning VM0231`,
    `${ofName} warning VM0001`,
    `${ofValue} error VM0003`,
  ]);
  await patched(NOTHING, 'an answer without it', isPlain);
});
