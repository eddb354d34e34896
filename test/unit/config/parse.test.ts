import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDiagnostic, formatLocation } from '../../../src/base/diagnostic.ts';
import { locate } from '../../../src/config/locate.ts';
import { MESH } from '../../../src/config/mesh-files.ts';
import { type ParseOptions, parseFile } from '../../../src/config/parse.ts';
import type { ParsedFile } from '../../../src/config/parsed.ts';

const OPTIONS: ParseOptions = { source: 'file:conf', namespace: 'shop', strict: false };

function parse(text: string, options: Partial<ParseOptions> = {}, previous?: ParsedFile): ParsedFile {
  return parseFile('f.yaml', text, { ...OPTIONS, ...options }, previous);
}

function findings(text: string, options: Partial<ParseOptions> = {}): readonly string[] {
  return parse(text, options).diagnostics.map(formatDiagnostic);
}

function serviceEntry(name: string, metadata = '', host = `${name}.internal`): string {
  return `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata:
  name: ${name}
${metadata}spec:
  hosts: [${host}]
  ports:
  - {number: 80, name: http, protocol: HTTP}
  resolution: DNS
`;
}

test('an object is located, frozen, and keyed by group, kind, namespace and name', () => {
  const [config, ...others] = parse(`# comment\n\n${serviceEntry('a', '  labels: {app: x}\n')}`).configs;
  assert.ok(config);
  assert.equal(others.length, 0);
  const { key, group, version, kind, namespace, name, labels, annotations, creationTime, source } = config;
  assert.deepEqual(
    { key, group, version, kind, namespace, name, labels, annotations, creationTime, source },
    {
      key: 'networking.istio.io/ServiceEntry/shop/a',
      group: 'networking.istio.io',
      version: 'v1',
      kind: 'ServiceEntry',
      namespace: 'shop',
      name: 'a',
      labels: { app: 'x' },
      annotations: {},
      creationTime: 0,
      source: 'file:conf',
    },
  );
  assert.equal(formatLocation(config.location), 'f.yaml:3:1');
  assert.ok(Object.isFrozen(config) && Object.isFrozen(config.spec) && Object.isFrozen(config.labels));
});

test("a document's own namespace wins", () => {
  assert.equal(parse(serviceEntry('a', '  namespace: own\n')).configs[0]?.namespace, 'own');
});

test('cluster-scoped kinds have no namespace', () => {
  const text = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: x, namespace: y, labels: {a: b}}\n';
  assert.equal(parse(text).configs[0]?.key, '/Namespace//x');
});

test('creationTimestamp is read, and null is none', () => {
  const at = (time: string): number | undefined =>
    parse(serviceEntry('a', `  creationTimestamp: ${time}\n`)).configs[0]?.creationTime;
  assert.equal(at('2024-01-02T03:04:05Z'), Date.UTC(2024, 0, 2, 3, 4, 5));
  assert.equal(at('"2024-01-02T03:04:05Z"'), Date.UTC(2024, 0, 2, 3, 4, 5));
  assert.equal(at('null'), 0);
  assert.equal(at('2024-01-02T03:04:05.5+01:00'), Date.UTC(2024, 0, 2, 2, 4, 5, 500));
  for (const time of ['soon', '2024-01-02', '1704164645']) {
    assert.match(findings(serviceEntry('a', `  creationTimestamp: ${time}\n`))[0] ?? '', /:5:22: error VM0105/);
  }
});

test('the hash is of the content: neither form nor place nor order of keys counts', () => {
  const hash = (text: string): string | undefined => parse(text).configs[0]?.hash;
  const base = hash(serviceEntry('a'));
  assert.equal(hash(`# moved\n\n---\n${serviceEntry('a')}`), base);
  assert.equal(
    hash(
      '{"spec": {"resolution": "DNS", "hosts": ["a.internal"], "ports": [{"protocol": "HTTP", "name": "http", "number": 80}]}, "metadata": {"name": "a"}, "kind": "ServiceEntry", "apiVersion": "networking.istio.io/v1"}',
    ),
    base,
  );
  assert.notEqual(hash(serviceEntry('a', '', 'b.internal')), base);
  assert.notEqual(hash(serviceEntry('a', '  labels: {x: y}\n')), base);
});

test('a List is read item by item, each at its place', () => {
  const text = `apiVersion: v1
items:
- apiVersion: networking.istio.io/v1
  kind: ServiceEntry
  metadata: {name: a, namespace: x}
  spec: {hosts: [a.internal], resolution: DNS, ports: [{number: 80, name: http}]}
- apiVersion: networking.istio.io/v1
  kind: ServiceEntry
  metadata: {name: b}
  spec: {hosts: [], resolution: DNS}
- apiVersion: networking.istio.io/v1
  kind: ServiceEntry
  metadata: {name: c}
  spec: {hosts: [c.internal], resolution: DNS, ports: [{number: 80, name: http}]}
kind: List
`;
  const { configs, refused, diagnostics } = parse(text);
  assert.deepEqual(
    configs.map(({ key, location }) => [key, location.line]),
    [
      ['networking.istio.io/ServiceEntry/x/a', 3],
      ['networking.istio.io/ServiceEntry/shop/c', 11],
    ],
  );
  assert.deepEqual(
    refused.map(({ key }) => key),
    ['networking.istio.io/ServiceEntry/shop/b'],
  );
  assert.equal(diagnostics[0]?.location.line, 10);
  assert.match(diagnostics[0]?.path ?? '', /^items\[1\]\.spec\.hosts/);
  const [, last] = configs;
  assert.ok(last);
  assert.equal(locate(last, ['spec', 'hosts', 0]).line, 14);
});

test('a bad document takes no other with it', () => {
  const text = [
    serviceEntry('a'),
    'kind: [\n',
    serviceEntry('b').replace('DNS', 'DNSS'),
    'just text\n',
    serviceEntry('c'),
  ].join('---\n');
  const { configs, refused, diagnostics } = parse(text);
  assert.deepEqual(
    configs.map(({ name }) => name),
    ['a', 'c'],
  );
  assert.deepEqual(
    refused.map(({ key }) => key),
    [undefined, 'networking.istio.io/ServiceEntry/shop/b', undefined],
  );
  assert.deepEqual(
    diagnostics.map(({ code, location }) => [code, location.line]),
    [
      ['VM0103', 11],
      ['IST0106', 21],
      ['VM0105', 23],
    ],
  );
});

test('what a broken text most likely is, is told from what can be read of it', () => {
  const { refused, diagnostics } = parse(`${serviceEntry('a')}  endpoints: [\n---\n`);
  assert.deepEqual(
    refused.map(({ key }) => key),
    ['networking.istio.io/ServiceEntry/shop/a'],
  );
  assert.equal(diagnostics[0]?.resource, 'ServiceEntry/shop/a');
});

test('empty documents and those of comments give nothing', () => {
  assert.deepEqual(parse('---\n# c\n---\n\n---\nnull\n---\n').diagnostics, []);
});

const WRONG: readonly (readonly [string, string, RegExp])[] = [
  [
    'no apiVersion',
    'kind: ServiceEntry\nmetadata: {name: a}\n',
    /^f.yaml:1:1: error VM0105: the document has no "apiVersion"/,
  ],
  ['no kind', 'apiVersion: v1\nmetadata: {name: a}\n', /^f.yaml:1:1: error VM0105: the document has no "kind"/],
  ['no metadata', 'apiVersion: v1\nkind: Service\nspec: {}\n', /^f.yaml:1:1: error VM0105: metadata: an object needs/],
  [
    'no name',
    'apiVersion: v1\nkind: Service\nmetadata: {}\n',
    /^f.yaml:3:11: error VM0105: metadata.name: an object needs a name/,
  ],
  [
    'a name that is a boolean',
    'apiVersion: v1\nkind: Service\nmetadata: {name: on}\n',
    /^f.yaml:3:18: warning VM0104: metadata.name: .*quotes/,
  ],
  [
    'a name in capitals',
    'apiVersion: v1\nkind: Service\nmetadata: {name: Web}\n',
    /^f.yaml:3:18: error VM0105: .*"Web"/,
  ],
  [
    'a namespace with a dot',
    serviceEntry('a', '  namespace: x.y\n'),
    /^f.yaml:5:14: error VM0105: metadata.namespace: /,
  ],
  [
    'a label of Istio that is a number',
    serviceEntry('a', '  labels:\n    v: 1\n'),
    /^f.yaml:6:8: warning VM0104: metadata.labels.v: .*number 1 and becomes "1".*quotes/,
  ],
  [
    'a label of Kubernetes that is a number',
    'apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  labels: {v: 1}\n',
    /^f.yaml:5:15: error VM0105: metadata.labels.v: .*number 1, .*quotes/,
  ],
  [
    'annotations that are a list',
    serviceEntry('a', '  annotations: [x]\n'),
    /^f.yaml:5:16: error VM0105: metadata.annotations/,
  ],
  [
    'a label Kubernetes refuses',
    serviceEntry('a', '  labels: {"a b": c}\n'),
    /^f.yaml:5:19: warning IST0133: metadata.labels\["a b"\]/,
  ],
  [
    'an unknown field',
    `${serviceEntry('a')}  endpoint: []\n`,
    /^f.yaml:10:3: warning VM0001: spec.endpoint: .*"endpoints"/,
  ],
  ['a tab', 'apiVersion: v1\nkind: Service\nmetadata:\n\tname: a\n', /^f.yaml:4:1: error VM0103: .*tab/],
  ['a bare wildcard', serviceEntry('a', '', '*.internal'), /^f.yaml:6:11: error VM0103: .*needs quotes/],
];

for (const [what, text, expected] of WRONG) {
  test(`${what} is one finding at its place`, () => {
    const all = findings(text);
    assert.match(all[0] ?? '', expected);
    assert.equal(all.length, 1);
  });
}

test('a directory that is no namespace is a finding at each object that would be in it', () => {
  assert.match(findings(serviceEntry('a'), { namespace: 'My Dir' })[0] ?? '', /VM0105: metadata.namespace: "My Dir"/);
});

test('a kind or version that is not read is one finding and never an error', () => {
  const finding = (apiVersion: string, kind: string): string =>
    findings(`apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a}\nspec: {x: 1}\n`).join('\n');
  assert.match(
    finding('networking.istio.io/v1', 'ServiceEntyr'),
    /^f.yaml:2:7: warning VM0106: .*"kind: ServiceEntry"\?$/,
  );
  assert.match(
    finding('networking.istio.io/v1', 'AuthorizationPolicy'),
    /^f.yaml:1:13: warning VM0106: .*security.istio.io\/v1"\?$/,
  );
  assert.match(finding('networkin.istio.io/v1', 'Gateway'), /warning VM0106: .*"apiVersion: networking.istio.io\/v1"/);
  assert.match(
    finding('networking.istio.io/v7', 'Gateway'),
    /^f.yaml:1:13: warning VM0107: .*"networking.istio.io\/v1"$/,
  );
  assert.match(finding('apps/v1', 'Deployment'), /^f.yaml:2:7: info VM0106/);
  assert.match(finding('serving.knative.dev/v1', 'Service'), /^f.yaml:2:7: info VM0106/);
  assert.match(finding('gateway.networking.k8s.io/v1', 'UDPRoute'), /^f.yaml:2:7: info VM0002/);
});

test('an object of an unknown version keeps its identity, a foreign one has none', () => {
  const refused = (apiVersion: string, kind: string) =>
    parse(`apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: {name: a}\n`).refused.map(({ key }) => key);
  assert.deepEqual(refused('networking.istio.io/v7', 'Gateway'), ['networking.istio.io/Gateway/shop/a']);
  assert.deepEqual(refused('networking.istio.io/v1', 'Gatewai'), [undefined]);
  assert.deepEqual(refused('apps/v1', 'Deployment'), []);
});

test('a key that stands twice refuses a security policy, and anything in strict mode', () => {
  const policy =
    'apiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: {name: a}\nspec:\n  mtls: {mode: STRICT}\n  mtls: {mode: DISABLE}\n';
  assert.equal(parse(policy).configs.length, 0);
  assert.match(findings(policy)[0] ?? '', /^f.yaml:6:3: error VM0104/);
  const entry = `${serviceEntry('a')}  resolution: DNS\n`;
  assert.equal(parse(entry).configs.length, 1);
  assert.equal(parse(entry, { strict: true }).configs.length, 0);
});

test('a ConfigMap in the place of mesh.yaml is refused, and not read as a mesh that says nothing', () => {
  const { configs, refused, diagnostics } = parse(
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: istio}\ndata: {mesh: "accessLogFile: /x"}\n',
    { whole: MESH },
  );
  assert.deepEqual([configs.length, refused.length], [0, 1]);
  assert.deepEqual(diagnostics.map(formatDiagnostic), [
    'f.yaml:2:7: error VM0105: kind: "ConfigMap" is another kind, and this file is a MeshConfig itself: write its fields at the top of the file',
  ]);
  assert.equal(parse('kind: MeshConfig\ntrustDomain: a.test\n', { whole: MESH }).configs.length, 1);
});

test('mesh.yaml is one object without an envelope', () => {
  const mesh = (text: string) => parse(text, { whole: MESH });
  const [config] = mesh('accessLogFile: /dev/stdout\nenv: {A: 1}\nnamespaces: [a]\n').configs;
  assert.equal(config?.key, '/MeshConfig//mesh');
  assert.deepEqual(config?.spec, { accessLogFile: '/dev/stdout', env: { A: '1' }, namespaces: ['a'] });
  assert.deepEqual(mesh('').configs[0]?.spec, {});
  assert.deepEqual(mesh('a: [').refused[0]?.key, '/MeshConfig//mesh');
  assert.deepEqual(mesh('connectTimeout: 5').refused[0]?.key, '/MeshConfig//mesh');
  assert.match(mesh('a: 1\n---\nb: 2\n').diagnostics.map(formatDiagnostic).join('\n'), /f.yaml:3:1: error VM0105/);
});

test('a file above 4 MB is refused by its size', () => {
  const { refused, diagnostics } = parse('x'.repeat(4 * 1024 * 1024 + 1));
  assert.deepEqual([refused.length, diagnostics.map(({ code }) => code)], [1, ['VM0102']]);
});

test('of a file with very many documents the first 20,000 are read', () => {
  const { documents, diagnostics } = parse('---\n0\n'.repeat(20_001));
  assert.equal(documents.length, 20_001);
  assert.deepEqual([diagnostics.at(-1)?.code, diagnostics.at(-1)?.location.line], ['VM0102', 40_002]);
});

test('whole numbers beyond 2^53 keep their digits', () => {
  const text = `apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: a}
spec:
  configPatches:
  - applyTo: CLUSTER
    patch: {operation: MERGE, value: {a: 18446744073709551615}}
`;
  const [config] = parse(text).configs;
  assert.match(JSON.stringify(config?.spec), /"a":"18446744073709551615"/);
});

test('documents whose text is unchanged are not read again, and follow their lines', () => {
  const before = parse([serviceEntry('a'), serviceEntry('b', '', ''), serviceEntry('c')].join('---\n'));
  const after = parse(
    [serviceEntry('new'), serviceEntry('a'), serviceEntry('b', '', ''), serviceEntry('c')].join('---\n'),
    {},
    before,
  );
  assert.deepEqual(
    after.configs.map(({ name, location, document }) => [name, location.line, document.line]),
    [
      ['new', 1, 1],
      ['a', 11, 11],
      ['c', 31, 31],
    ],
  );
  assert.equal(after.configs[1]?.spec, before.configs[0]?.spec);
  assert.equal(after.diagnostics[0]?.location.line, (before.diagnostics[0]?.location.line ?? 0) + 10);
});
