import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { API_KINDS, declaredSupport } from '../../build/reference/support.ts';
import { validateSpec } from '../../src/config/kind.ts';
import type { Field } from '../../src/config/schema/schema.ts';
import { WorkDir } from '../support/work-dir.ts';
import { withCertificates } from './certificates.ts';
import { ELSEWHERE } from './elsewhere.ts';
import { type Tried, tryFields } from './influence.ts';
import { places, samples, shaped, withValue } from './probe.ts';
import { SAMPLES } from './samples.ts';

const MESHES = join(import.meta.dirname, 'meshes');
const supports = declaredSupport();

/** Names of fields of which a mark in the schema says something. */
function marked(is: (field: Field) => boolean): readonly string[] {
  const all = API_KINDS.flatMap((kind) => [...places(kind.schema, undefined)]);
  return [...new Set(all.flatMap(({ fields, field }) => (is(field) ? [fields.at(-1) ?? ''] : [])))];
}

test('each field that is said to have an effect has one, and no other has', (t) => {
  const dir = new WorkDir('api');
  t.after(() => dir.remove('.'));
  const tried: Tried = { proven: new Set(), told: new Set(), changes: 0 };
  for (const file of globSync('*.yaml', { cwd: MESHES }).sort()) {
    tryFields(withCertificates(readFileSync(join(MESHES, file), 'utf8'), dir.path), tried);
  }
  const { proven, told } = tried;
  t.diagnostic(`${proven.size} of ${supports.size} fields make a difference, found by ${tried.changes} changes`);
  const fields = [...supports.keys()];
  const supported = fields.filter((field) => supports.get(field)?.is === 'supported');
  assert.deepEqual(
    supported.filter((field) => !proven.has(field) && !told.has(field) && !Object.hasOwn(ELSEWHERE, field)),
    [],
    'these make no difference: write a mesh in which they do, or mark them as ignored in the schema',
  );
  assert.deepEqual(
    fields.filter((field) => proven.has(field) && supports.get(field)?.is !== 'supported'),
    [],
    'these make a difference, so they are not ignored',
  );
  assert.deepEqual(
    Object.keys(ELSEWHERE).filter((field) => proven.has(field) || supports.get(field)?.is !== 'supported'),
    [],
    'these need no word',
  );
  assert.deepEqual(
    marked(({ unserved }) => unserved !== undefined).filter((field) => !told.has(field)),
    [],
    'of these nothing is said when they are set',
  );
});

test('each field without effect says so when it is set, at its place', () => {
  const told = new Set<string>();
  for (const kind of API_KINDS) {
    const prefix = kind.specField === 'spec' ? ['spec'] : [];
    for (const { path, fields, field } of places(kind.schema, undefined)) {
      const name = fields.at(-1) ?? '';
      if ((field.ignored ?? field.refused) === undefined || told.has(name)) continue;
      const [value] = SAMPLES[name] ?? samples(field.type).map((one) => shaped(field, one));
      const meta = { name: 'x', namespace: 'shop', labels: {}, annotations: {} };
      const { findings } = validateSpec(kind, withValue(kind.schema, undefined, path, value), meta, { strict: false });
      const at = JSON.stringify([...prefix, ...path]);
      const own = findings.filter((finding) => JSON.stringify(finding.path) === at);
      const wanted = field.ignored === undefined ? ['error', 'IST0106'] : ['warning', 'VM0004'];
      if (own.some(({ severity, code }) => severity === wanted[0] && code === wanted[1])) told.add(name);
    }
  }
  assert.deepEqual(
    marked(({ ignored, refused }) => (ignored ?? refused) !== undefined).filter((name) => !told.has(name)),
    [],
  );
});
