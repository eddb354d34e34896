import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { type Document, isMap, isPair, isScalar, LineCounter, parseDocument, type ScalarTag, stringify } from 'yaml';
import { splitDocuments } from '../../../src/config/document.ts';
import type { Path } from '../../../src/config/finding.ts';
import { locationAt, offsetOf } from '../../../src/config/locate.ts';
import { readYaml } from '../../../src/config/yaml.ts';
import { plainValue } from '../../../src/config/yaml-schema.ts';
import { runs } from '../../support/runs.ts';

const SHARED = new URL('../../../../shared/', import.meta.url);

/** The scalars of `yaml` with the meaning of ours: all else in the comparison is each parser's own. */
const KUBERNETES_SCALAR: ScalarTag = {
  tag: 'tag:yaml.org,2002:plain',
  default: true,
  test: /^.*$/s,
  resolve: (text) => plainValue(text),
};

function other(text: string, lineCounter = new LineCounter()): Document {
  return parseDocument(text, {
    lineCounter,
    merge: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    customTags: (tags) => [...tags.filter((tag) => tag !== 'null' && tag !== 'bool'), KUBERNETES_SCALAR],
    schema: 'failsafe',
  });
}

/** Every path of a document with the place of its value, as `yaml` has them, where the value is a scalar or on its key's line. */
function* places(document: Document, lines: LineCounter): Generator<readonly [Path, string]> {
  const text = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${line}:${col}`;
  };
  function* below(node: unknown, path: Path): Generator<readonly [Path, string]> {
    if (isMap(node)) {
      for (const { key, value } of node.items.filter(isPair)) {
        if (!isScalar(key) || typeof key.value !== 'string' || key.value === '<<') continue;
        const here = [...path, key.value];
        if (isScalar(value) && value.source !== '' && value.range) yield [here, text(value.range[0])];
        yield* below(value, here);
      }
    }
  }
  yield* below(document.contents, []);
}

function assertEqualReading(text: string, name: string): void {
  const lines = new LineCounter();
  const document = other(text, lines);
  const ours = readYaml(text);
  assert.deepEqual([ours.value !== undefined, name], [document.errors.length === 0, name], document.errors[0]?.message);
  if (ours.value === undefined) return;
  assert.deepEqual(ours.value, document.toJS({ maxAliasCount: -1 }) ?? null, name);
  // Of a key that stands twice the last place counts.
  const expected = new Map(
    [...places(document, lines)].map(([path, place]) => [JSON.stringify(path), [path, place] as const]),
  );
  for (const [path, place] of expected.values()) {
    const { line, column } = locationAt({ file: '', line: 1, text }, offsetOf(text, ours.events, path));
    assert.equal(`${line}:${column}`, place, `${name} ${path.join('.')}`);
  }
}

test('both parsers read the corpus, the scenarios and the schemas alike', { skip: !existsSync(SHARED) }, () => {
  let documents = 0;
  for (const pattern of ['conformance/public/*/{etc/**/,}*.yaml', 'scenarios/**/*.yaml', 'schemas/*.yaml']) {
    for (const file of globSync(pattern, { cwd: SHARED })) {
      for (const { raw } of splitDocuments(file, readFileSync(new URL(file, SHARED)))) {
        const { problems } = readYaml(raw.text);
        // Larger than what is read, or with a tag or key that the other parser leaves out: no case for both.
        if (problems.some(({ code }) => code === 'VM0102')) continue;
        assertEqualReading(raw.text, `${file}:${raw.line}`);
        documents++;
      }
    }
  }
  assert.ok(documents > 1000);
});

const SCALARS = fc.oneof(
  fc.string({ unit: 'grapheme-ascii', maxLength: 12 }),
  fc.constantFrom(
    'yes',
    'off',
    '0777',
    '1_000',
    '12:30',
    '2001-01-01',
    'null',
    '~',
    '- x',
    'a: b',
    '# c',
    '*x',
    '&y',
    '1e3',
  ),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
);

const VALUES = fc.letrec<{ value: unknown; list: unknown[]; map: Record<string, unknown> }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, SCALARS, tie('list'), tie('map')),
  list: fc.array(tie('value'), { maxLength: 4 }),
  map: fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9.-]{0,8}$/), tie('value'), { maxKeys: 5 }),
})).map;

test('both parsers read generated documents alike, in every style', () => {
  fc.assert(
    fc.property(
      VALUES,
      fc.constantFrom('BLOCK_LITERAL', 'BLOCK_FOLDED', 'QUOTE_DOUBLE', 'QUOTE_SINGLE', 'PLAIN'),
      fc.constantFrom<'block' | 'flow'>('block', 'flow'),
      (value, defaultStringType, collectionStyle) => {
        const text = stringify(value, { defaultStringType, defaultKeyType: 'PLAIN', collectionStyle, version: '1.1' });
        assertEqualReading(text, text);
      },
    ),
    { numRuns: runs(500) },
  );
});
