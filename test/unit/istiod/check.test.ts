import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { Writable } from 'node:stream';
import { type TestContext, test } from 'node:test';
import sarifSchema from '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json' with { type: 'json' };
import { Ajv } from 'ajv';
import type { Diagnostic } from '../../../src/base/diagnostic.ts';
import { CODES } from '../../../src/config/codes.ts';
import { check } from '../../../src/istiod/check/check.ts';
import { StartError } from '../../../src/process/failure.ts';
import { WorkDir } from '../../support/work-dir.ts';

const ENTRY = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: orders}
spec:
  hosts: [orders.mesh]
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP}]
`;
const MISSPELT = `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: routes}
spec:
  hosts: [orders.mesh]
  http:
  - timeot: 5s
    route: [{destination: {host: orders.mesh}}]
`;
const WRONG = `apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: orders}
spec:
  host: orders.mesh
  trafficPolicy: {outlierDetection: {maxEjectionPercent: 101}}
---
apiVersion: networking.istio.io/v1
kind: VirtualServce
metadata: {name: unheard}
`;

type Files = Readonly<Record<string, string>>;

function tree(t: TestContext, files: Files): WorkDir {
  const dir = new WorkDir('check');
  t.after(() => dir.remove('.'));
  for (const [path, text] of Object.entries(files)) dir.write(path, text);
  return dir;
}

async function checked(directory: string, env: Readonly<Record<string, string>> = {}) {
  let text = '';
  const out = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  const code = await check(directory, env, out);
  return { code, text };
}

test('a tree without mistakes is 0, one with warnings too unless they count, one with errors is 2', async (t) => {
  const right = tree(t, { 'etc/istio/conf/shop/a.yaml': ENTRY });
  assert.deepEqual(await checked(right.path), { code: 0, text: '1 file: 0 errors, 0 warnings, 0 infos\n' });
  const doubtful = tree(t, { 'etc/istio/conf/shop/a.yaml': ENTRY, 'etc/istio/conf/shop/b.yaml': MISSPELT });
  assert.equal((await checked(doubtful.path)).code, 0);
  assert.equal((await checked(doubtful.path, { CHECK_STRICT: '1' })).code, 2);
  const wrong = tree(t, { 'etc/istio/conf/shop/a.yaml': ENTRY, 'etc/istio/conf/shop/b.yaml': WRONG });
  assert.equal((await checked(wrong.path)).code, 2);
});

test('a finding is one line: its place, how bad it is, its code, the field, and what to write', async (t) => {
  const dir = tree(t, { 'shop/a.yaml': ENTRY, 'shop/b.yaml': MISSPELT, 'shop/c.yaml': WRONG });
  const { text } = await checked(dir.path);
  const lines = text.split('\n').map((line) => line.slice(line.indexOf('shop/')));
  assert.deepEqual(lines.slice(0, 3), [
    'shop/b.yaml:7:5: warning VM0001: spec.http[0].timeot: "timeot" is not a field of HTTPRoute; did you mean "timeout"?',
    'shop/c.yaml:6:58: error IST0106: spec.trafficPolicy.outlierDetection.maxEjectionPercent: 101 is not between 0 and 100',
    'shop/c.yaml:9:7: warning VM0106: kind: networking.istio.io/v1 VirtualServce is not known and is ignored; did you mean "kind: VirtualService"?',
  ]);
  assert.match(text, /\n3 files: 1 error, 2 warnings, 0 infos\n$/);
});

test('a part of a root stands for the root, so that objects are in the namespaces that they are served in', async (t) => {
  const dir = tree(t, {
    'etc/istio/mesh.yaml': 'rootNamespace: roots\n',
    'etc/istio/conf/shop/a.yaml': ENTRY,
    'etc/istio/conf/shop/b.yaml': MISSPELT,
  });
  const whole = await checked(dir.path);
  assert.match(whole.text, /etc\/istio\/conf\/shop\/b\.yaml:7:5: warning/);
  for (const part of ['etc', 'etc/istio', 'etc/istio/conf']) assert.deepEqual(await checked(dir.at(part)), whole);
});

test('JSON has the same findings as lines have', async (t) => {
  const dir = tree(t, { 'etc/istio/istiod.yaml': 'lisen: {}\n', 'etc/istio/conf/shop/c.yaml': WRONG });
  const findings = JSON.parse((await checked(dir.path, { CHECK_FORMAT: 'json' })).text) as readonly Diagnostic[];
  const lines = (await checked(dir.path)).text.trimEnd().split('\n');
  assert.deepEqual(
    findings.map(({ severity, code, location: { file, line, column } }) => [file, line, column, severity, code]),
    lines.slice(0, -1).map((text) => {
      const [, file, line, column, severity, code] = /^(.+?):(\d+):(\d+): (\w+) (\w+):/.exec(text) ?? [];
      return [file, Number(line), Number(column), severity, code];
    }),
  );
  assert.equal(findings.length, 3);
});

interface SarifResult {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly locations: readonly [
    {
      readonly physicalLocation: {
        readonly artifactLocation: { readonly uri: string };
        readonly region: { readonly startLine: number; readonly startColumn: number };
      };
    },
  ];
  readonly partialFingerprints: Readonly<Record<string, string>>;
}

interface SarifLog {
  readonly runs: readonly [
    {
      readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
      readonly results: readonly SarifResult[];
    },
  ];
}

async function sarif(dir: WorkDir): Promise<SarifLog> {
  return JSON.parse((await checked(dir.path, { CHECK_FORMAT: 'sarif' })).text) as SarifLog;
}

test('SARIF is valid 2.1.0, and says of each finding what its line says', async (t) => {
  // The schema is of draft 4, whose keywords in it mean the same today.
  const { $schema: _schema, id: _id, ...schema } = sarifSchema;
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false, unicodeRegExp: false });
  const validate = ajv.compile(schema);
  const odd = 'etc/istio/conf/shop/# 50% näher.yaml';
  const dir = tree(t, { [odd]: MISSPELT, 'etc/istio/conf/shop/c.yaml': WRONG });
  const log = await sarif(dir);
  assert.ok(validate(log), JSON.stringify(validate.errors));
  const [run] = log.runs;
  for (const { ruleId, ruleIndex } of run.results) assert.equal(run.tool.driver.rules[ruleIndex]?.id, ruleId);
  const findings = JSON.parse((await checked(dir.path, { CHECK_FORMAT: 'json' })).text) as readonly Diagnostic[];
  assert.deepEqual(
    run.results.map(({ ruleId, level, locations: [{ physicalLocation: at }] }) => [
      decodeURIComponent(at.artifactLocation.uri),
      at.region.startLine,
      at.region.startColumn,
      level.replace('note', 'info'),
      ruleId,
    ]),
    findings.map(({ severity, code, location: { file, line, column } }) => [file, line, column, severity, code]),
  );
  assert.ok(
    run.results.some(({ locations: [place] }) => place.physicalLocation.artifactLocation.uri.includes('%23%2050%25')),
  );
  assert.ok(run.tool.driver.rules.every(({ id }) => Object.hasOwn(CODES, id)));
  assert.ok(validate(await sarif(tree(t, {}))), 'a log without results');
});

test('a finding that moves in its file keeps its fingerprint, and no two findings share one', async (t) => {
  const dir = tree(t, { 'shop/b.yaml': `${MISSPELT}---\n${MISSPELT.replace('routes', 'more')}` });
  const prints = async () =>
    (await sarif(dir)).runs[0].results.map((result) => result.partialFingerprints['finding/v1']);
  const before = await prints();
  assert.equal(new Set(before).size, before.length);
  dir.write('shop/b.yaml', `# a comment\n\n${dir.read('shop/b.yaml')}`);
  assert.deepEqual(await prints(), before);
});

test('an unknown format and a directory that is not there are refused before anything is read', async (t) => {
  const dir = tree(t, {});
  const usage = (error: unknown) => error instanceof StartError && error.exitCode === 64;
  await assert.rejects(checked(dir.path, { CHECK_FORMAT: 'xml' }), usage);
  await assert.rejects(checked(dir.path, { CHECK_STRICT: 'yes' }), usage);
  const absent = (error: unknown) => error instanceof StartError && error.exitCode === 66;
  await assert.rejects(checked(dir.at('nowhere')), absent);
});

test('a root in which configuration is no directory is refused as one that can not be read', async (t) => {
  const dir = tree(t, { 'etc/istio/conf': 'a file' });
  const noInput = (error: unknown) => error instanceof StartError && error.exitCode === 66;
  await assert.rejects(checked(dir.path), noInput);
});

test('an object of another revision is not looked at as one that stands there twice', async (t) => {
  const canary = ENTRY.replace('{name: orders}', '{name: orders, labels: {istio.io/rev: canary}}');
  const dir = tree(t, { 'etc/istio/conf/shop/a.yaml': ENTRY, 'etc/istio/conf/shop/b.yaml': canary });
  assert.match(
    (await checked(dir.path)).text,
    /^\S+b\.yaml:1:1: info VM0220: [^\n]+\n2 files: 0 errors, 0 warnings, 1 info\n$/,
  );
  dir.write('etc/istio/istiod.yaml', 'revision: canary\n');
  assert.match((await checked(dir.path)).text, /2 files: 0 errors, 0 warnings, 0 infos\n$/);
});

test('a certificate for TLS that can not be served is an error, unless TLS is switched off', async (t) => {
  const dir = tree(t, { 'etc/istio/conf/shop/a.yaml': ENTRY, 'etc/certs/cert-chain.pem': 'no PEM' });
  const { code, text } = await checked(dir.path);
  assert.equal(code, 2);
  assert.match(text, /etc\/certs\/cert-chain\.pem:1:1: error VM0501: etc\/certs\/key\.pem is missing beside/);
  dir.write('etc/certs/key.pem', 'no PEM');
  assert.match(
    (await checked(dir.path)).text,
    /cert-chain\.pem:1:1: error VM0501: it holds no certificate in PEM form/,
  );
  dir.remove('etc/certs');
  dir.write('etc/certs/root-cert.pem', 'no PEM');
  assert.match((await checked(dir.path)).text, /root-cert\.pem:1:1: error VM0501: it holds no certificate in PEM form/);
  dir.write('etc/istio/istiod.yaml', 'listen: {grpcTls: ""}\n');
  assert.equal((await checked(dir.path)).code, 0);
});

test('what is no file in the place of a file of options is an error, and does not block', async (t) => {
  const dir = tree(t, { 'etc/istio/conf/shop/a.yaml': ENTRY });
  for (const name of ['istiod.yaml', 'mesh.yaml']) symlinkSync('/dev/zero', dir.at(`etc/istio/${name}`));
  const { code, text } = await checked(dir.path);
  assert.equal(code, 2);
  assert.match(text, /istiod\.yaml:1:1: error VM0101: it can not be read: it is no regular file/);
  assert.match(text, /mesh\.yaml:1:1: error VM0101: it can not be read: it is no regular file/);
});

test('the key of an authority is handed out by no name, wherever the authority is plugged in', async (t) => {
  const gateway = `apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: edge}
spec:
  selector: {app: edge}
  servers:
  - port: {number: 443, name: https, protocol: HTTPS}
    hosts: [a.example.com]
    tls: {mode: SIMPLE, serverCertificate: etc/ours/ca-cert.pem, privateKey: etc/ours/ca-key.pem}
`;
  const dir = tree(t, {
    'etc/istio/conf/shop/a.yaml': gateway,
    'etc/istio/mesh.yaml': 'env: {ROOT_CA_DIR: ./etc/ours/}\n',
    'etc/ours/ca-cert.pem': 'a certificate',
    'etc/ours/ca-key.pem': 'a key',
  });
  assert.match((await checked(dir.path)).text, /ca-key\.pem:1:1: error VM0501: it is a file of istiod itself/);
});

test('mesh.yaml makes a check as strict as the server that it is for', async (t) => {
  const dir = tree(t, { 'etc/istio/conf/shop/a.yaml': ENTRY, 'etc/istio/conf/shop/b.yaml': MISSPELT });
  assert.equal((await checked(dir.path)).code, 0);
  dir.write('etc/istio/mesh.yaml', 'env: {CHECK_STRICT: "true"}\n');
  const { code, text } = await checked(dir.path);
  assert.equal(code, 2);
  assert.match(text, /b\.yaml:7:5: error VM0001: /);
});

test('a namespace that mesh.yaml has served, and that has no object, is told', async (t) => {
  const dir = tree(t, { 'etc/istio/conf/shop/a.yaml': ENTRY, 'etc/istio/mesh.yaml': 'namespaces: [shop, shpo]\n' });
  const { code, text } = await checked(dir.path);
  assert.equal(code, 0);
  assert.match(
    text,
    /etc\/istio\/mesh\.yaml:1:20: warning IST0133: namespaces\[1\]: no object is in "shpo"; did you mean "shop"\?\n/,
  );
});
