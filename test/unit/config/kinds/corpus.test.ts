import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Finding } from '../../../../src/config/finding.ts';
import { corpusCases, validated } from './documents.ts';

const cases = corpusCases();
const skip = cases.length === 0 ? 'the conformance corpus is absent' : false;

test('a document is refused if, and only if, istiod refused it', { skip }, () => {
  const wrong: string[] = [];
  for (const { name, documents, refused } of cases) {
    for (const { file, kind, name: object, document } of documents) {
      const expected = refused.some(
        (entry) => entry.file === file && entry.kind === kind.kind && entry.name === object,
      );
      const { spec, findings } = validated(kind, document, file.split('/')[0]);
      if ((spec === undefined) === expected) continue;
      wrong.push(`${name} ${file} ${kind.kind} ${object}: ${JSON.stringify(findings)}`);
    }
  }
  assert.deepEqual(wrong, []);
});

test('every mesh.yaml and meshNetworks.yaml that istiod read is taken', { skip }, () => {
  for (const { name, files } of cases)
    for (const { spec, findings } of files) assert.ok(spec, `${name}: ${findings[0]?.message}`);
});

function errorsOf(findings: readonly Finding[]): readonly Finding[] {
  return findings.filter(({ severity }) => severity === 'error');
}

test('documents of Kubernetes kinds give no findings, and of its CRDs no errors', { skip }, () => {
  for (const { name, documents } of cases) {
    for (const { kind, document } of documents) {
      const { findings } = validated(kind, document);
      if (kind.schema.style === 'kubernetes') assert.deepEqual(findings, [], name);
      if (kind.schema.style === 'crd') assert.deepEqual(errorsOf(findings), [], name);
    }
  }
});
