import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import type { Diagnostic } from '../../src/base/diagnostic.ts';
import { check } from '../../src/istiod/check/check.ts';

const CORPUS = '../shared/conformance/public';
const skip = existsSync(CORPUS) ? false : 'the conformance corpus is absent';

/** Findings that istioctl has not, each with the reason why it is right: `case CODE object`. */
const MORE: ReadonlyMap<string, string> = new Map([
  [
    '035-vs-match-uri IST0130 VirtualService default/reviews',
    'the only match of rule 4 has no effect, as istioctl says',
  ],
  [
    '048-vs-shortnames-exportto IST0101 VirtualService team-a/short',
    'the short name means no service, and the answers for proxies have no cluster for it; istioctl did not know Services',
  ],
  [
    '048-vs-shortnames-exportto IST0101 VirtualService team-b/dotted',
    'a name with a dot is no short name, and the answers for proxies have no cluster for it',
  ],
  [
    '050-dr-lb-simple IST0002 DestinationRule default/warmold',
    'the field is deprecated in the API; istioctl knows two of such',
  ],
  [
    '108-authz-custom IST0101 AuthorizationPolicy default/c3',
    'mesh.yaml has no such provider, and the policy denies all',
  ],
  ['108-authz-custom IST0101 MeshConfig mesh', 'the service of a provider is not defined, and the policy denies all'],
  ['070-gw-https-simple IST0101 Gateway default/secure', 'the Secret that it names is not there'],
  ['075-gw-tcp IST0101 Gateway default/t', 'the Secret that it names is not there'],
  ['136-ef-gateway-listener IST0101 Gateway default/sec', 'the Secret that it names is not there'],
  ['182-mesh-http-proxy IST0101 Gateway default/web', 'the Secret that it names is not there'],
  ['103-ra-jwt VM0212 Gateway istio-system/web', 'no VirtualService names the Gateway'],
  ['136-ef-gateway-listener VM0212 Gateway default/sec', 'no VirtualService names the Gateway'],
  ['182-mesh-http-proxy VM0212 Gateway default/web', 'no VirtualService names the Gateway'],
  [
    '108-authz-custom VM0214 AuthorizationPolicy default/c4',
    'its provider is at no service, and the policy denies all',
  ],
  ['123-telemetry-tracing IST0133 MeshConfig mesh', 'the answers for proxies have no access token for SkyWalking'],
  ['140-wasm-http VM0104 WasmPlugin default/authn', 'the key "n" is read as a boolean'],
  ['140-wasm-http VM0215 WasmPlugin default/authn2', 'an image, which only an agent of Istio fetches'],
  [
    '185-mesh-default-config IST0002 MeshConfig mesh',
    'the field is deprecated in the API; istioctl was not given mesh.yaml',
  ],
  ['212-duplicate-names VM0201 DestinationRule default/one', 'of an object that stands twice, one is not served'],
  ['213-yaml-quirks VM0104 DestinationRule default/dupkeys', 'a key stands twice'],
  ['213-yaml-quirks VM0104 VirtualService default/keys', 'keys are read as booleans'],
  ['020-workloadgroup VM0004 WorkloadGroup vms/cart', 'no agent registers its workloads'],
  ['135-ef-ecds-misc VM0004 EnvoyFilter default/ecds', 'filterClass has no effect, in Istio neither'],
  ['143-proxyconfig VM0004 ProxyConfig default/all', 'what it sets is for the bootstrap of Envoy'],
  ['143-proxyconfig VM0004 ProxyConfig default/one', 'what it sets is for the bootstrap of Envoy'],
  [
    '150-ingress-paths VM0301 Ingress default/paths',
    'two of its backends are not there; istioctl does not look at Ingresses',
  ],
  [
    '160-gwapi-http-basic IST0133 HTTPRoute default/main',
    'a match by expression never decides, as rules by prefix are tried first',
  ],
  [
    '160-gwapi-http-basic IST0133 HTTPRoute team-a/alt',
    'it names a parent in two forms; istioctl does not look at HTTPRoutes',
  ],
  ['160-gwapi-http-basic VM0302 HTTPRoute team-a/alt', 'a listener takes no routes of its namespace'],
  ['170-networks-static VM0004 MeshNetworks meshNetworks', 'the locality of a gateway has no effect, in Istio neither'],
  ['185-mesh-default-config VM0004 MeshConfig mesh', 'two of its fields have no effect'],
]);

interface Answer {
  readonly code: string;
  /** `Kind namespace/name`. */
  readonly object: string;
}

async function checked(directory: string): Promise<readonly Diagnostic[]> {
  let text = '';
  const out = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  await check(directory, { CHECK_FORMAT: 'json' }, out);
  return JSON.parse(text) as readonly Diagnostic[];
}

test('istiod check has each finding of istioctl analyze, and others for a reason', { skip }, async (t) => {
  const files = globSync(`${CORPUS}/*/expected/analyze.json`).sort();
  const lacking: string[] = [];
  const more = new Set<string>();
  let wanted = 0;
  for (const file of files) {
    const [name = ''] = file.slice(CORPUS.length + 1).split('/');
    const answers = JSON.parse(readFileSync(file, 'utf8')) as readonly Answer[];
    const expected = new Set(answers.map(({ code, object }) => `${name} ${code} ${object}`));
    // What is not made into resources yet says so; that is not a finding about the configuration.
    const found = (await checked(join(CORPUS, name))).filter(({ code }) => code !== 'VM0002');
    const given = new Set(found.map(({ code, resource = '' }) => `${name} ${code} ${resource.replace('/', ' ')}`));
    wanted += expected.size;
    lacking.push(...expected.difference(given));
    for (const one of given.difference(expected)) more.add(one);
  }
  t.diagnostic(
    `${wanted - lacking.length} of ${wanted} findings of istioctl in ${files.length} cases, ${more.size} more of our own`,
  );
  assert.deepEqual(lacking, []);
  assert.deepEqual([...more].sort(), [...MORE.keys()].sort());
});
