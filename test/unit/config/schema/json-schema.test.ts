import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import fc from 'fast-check';
import { anyKindSchema, kindSchema } from '../../../../build/schemas/json-schema.ts';
import { kindName } from '../../../../src/config/config.ts';
import { KINDS } from '../../../../src/config/kinds/kinds.ts';
import { normalized } from '../../../../src/config/normalize.ts';
import { runs } from '../../../support/runs.ts';
import { corpusCases, validated } from '../kinds/documents.ts';
import { damaged, randomFrom, specFrom, withoutDefaults } from './random-spec.ts';

const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false, allErrors: false });

test('one schema for all kinds takes what istiod took', () => {
  const validate = ajv.compile(anyKindSchema(KINDS));
  for (const { name, documents, refused } of corpusCases()) {
    if (refused.length > 0) continue;
    for (const { kind, document, name: object } of documents) {
      // YAML 1.1 reads a name as `off` as a boolean, which editors do not.
      const named = { ...document, metadata: { ...(document['metadata'] as object), name: object } };
      const { spec } = validated(kind, document);
      // Second spellings (snake_case) are read, but editors advise the first one.
      const canonical = kind.specField === 'spec' ? { ...named, spec } : named;
      assert.ok(validate(canonical), `${name}: ${ajv.errorsText(validate.errors)}`);
    }
  }
});

for (const kind of KINDS) {
  const name = kindName(kind);
  const { schema, specField } = kind;
  const envelope = { apiVersion: [kind.group, kind.versions[0]].filter(Boolean).join('/'), kind: kind.kind };
  const document = (spec: unknown) => ({
    ...envelope,
    metadata: { name: 'x' },
    ...(specField === 'spec' ? { spec } : (spec as object)),
  });
  const validate = ajv.compile(kindSchema(kind));
  const options = { unknownField: 'warning', deprecatedField: 'info', lastOfGroup: false } as const;

  test(`${name}: what its schema says is read without a loss, and editors take it`, () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const spec = specFrom(schema, randomFrom(seed));
        const { value, findings } = normalized(schema, spec, options);
        assert.deepEqual(
          findings.filter(({ severity, code }) => severity !== 'info' && code !== 'VM0004'),
          [],
        );
        assert.deepEqual(withoutDefaults(value, spec), spec);
        assert.ok(validate(document(spec)), ajv.errorsText(validate.errors));
      }),
      { numRuns: runs(100) },
    );
  });

  test(`${name}: a value of a wrong type is an error to us and to editors`, () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const random = randomFrom(seed);
        const spec = damaged(schema, specFrom(schema, random), random);
        const { findings } = normalized(schema, spec, options);
        const refused = findings.some(({ severity }) => severity === 'error');
        assert.equal(refused, !validate(document(spec)), JSON.stringify(spec));
      }),
      { numRuns: runs(200) },
    );
  });
}
