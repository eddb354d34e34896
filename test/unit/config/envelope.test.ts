import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDiagnostic } from '../../../src/base/diagnostic.ts';
import { parseFile } from '../../../src/config/parse.ts';

function read(text: string, strict = false) {
  const { configs, diagnostics } = parseFile('f.yaml', text, { source: '', namespace: 'shop', strict });
  return { taken: configs.map(({ name }) => name), findings: diagnostics.map(formatDiagnostic) };
}

const WORKLOAD =
  'apiVersion: networking.istio.io/v1\nkind: WorkloadEntry\nmetadata: {name: x}\nspec: {address: 10.0.0.1}\n';

test('a key beside the spec that no object has is a finding, and the object is taken', () => {
  assert.deepEqual(read(`${WORKLOAD}stauts: {}\n`), {
    taken: ['x'],
    findings: ['f.yaml:5:1: warning VM0001: stauts: "stauts" is not a field of WorkloadEntry; did you mean "status"?'],
  });
  assert.deepEqual(read(`${WORKLOAD}stauts: {}\n`, true).taken, []);
});

test('a security policy whose spec is misspelt or left out is refused, as it would open a door', () => {
  const policy = 'apiVersion: security.istio.io/v1\nkind: PeerAuthentication\nmetadata: {name: x}\n';
  assert.deepEqual(read(`${policy}sepc: {mtls: {mode: STRICT}}\n`), {
    taken: [],
    findings: ['f.yaml:4:1: error VM0001: sepc: "sepc" is not a field of PeerAuthentication; did you mean "spec"?'],
  });
  assert.deepEqual(read(`${policy}mtls: {mode: STRICT}\n`), {
    taken: [],
    findings: [
      'f.yaml:4:1: error VM0001: mtls: "mtls" stands beside the spec, where it has no effect: move it below "spec"',
    ],
  });
});

test('a key of metadata that no object has is a finding', () => {
  const metadata = 'metadata: {name: x, label: {app: web}, team: a}';
  assert.deepEqual(read(WORKLOAD.replace('metadata: {name: x}', metadata)), {
    taken: ['x'],
    findings: [
      'f.yaml:3:21: warning VM0001: metadata.label: "label" is not a field of metadata; did you mean "labels"?',
      'f.yaml:3:40: warning VM0001: metadata.team: "team" is not a field of metadata: remove it, or move it to where it belongs',
    ],
  });
});

test("what Kubernetes writes into an object's metadata is passed over", () => {
  const metadata =
    'metadata: {name: x, uid: a, resourceVersion: "1", generation: 2, managedFields: [], ownerReferences: [], finalizers: []}';
  assert.deepEqual(read(WORKLOAD.replace('metadata: {name: x}', metadata)), { taken: ['x'], findings: [] });
});

test("a key that is nearly one of a kind without a spec is a finding, and others of Kubernetes' are passed over", () => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: x}\nimmutable: true\n';
  assert.deepEqual(read(`${secret}stringdata: {a: b}\n`).findings, [
    'f.yaml:5:1: warning VM0001: stringdata: "stringdata" is not a field of Secret; did you mean "stringData"?',
  ]);
  assert.deepEqual(read(`${secret}stringData: {a: b}\n`), { taken: ['x'], findings: [] });
  const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: b}\nbinaryData: {c: ZA==}\n';
  assert.deepEqual(read(map), { taken: ['x'], findings: [] });
});
