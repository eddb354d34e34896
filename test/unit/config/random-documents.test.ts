import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { parseFile } from '../../../src/config/parse.ts';
import { collectGarbage } from '../../support/garbage.ts';
import { runs } from '../../support/runs.ts';

const DOCUMENTS = runs(2000);

const SEEDS: readonly string[] = [
  `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: reviews, labels: {app: "x"}}
spec:
  hosts:
  - reviews
  http:
  - match:
    - uri: {prefix: /api}
    route: &route
    - destination: {host: reviews, subset: v1}
      weight: 90
    - destination: {host: reviews, subset: v2}
      weight: 10
  - route: *route
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata:
  name: p
spec:
  rules:
  - from: [{source: {principals: ["a/b"]}}]
`,
  'a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d]\n',
  'a: &a\n  b: *a\n',
  '&a [&b {c: *a, d: *b}]\n',
  `${'['.repeat(300)}x${']'.repeat(300)}`,
  `${'- '.repeat(300)}x`,
  Array.from({ length: 100 }, (_, i) => `${' '.repeat(i)}k${i}:`).join('\n'),
  'base: &base {a: 1, b: {c: 2}}\nall:\n- <<: *base\n- <<: [*base, *base]\n  a: 2\n',
  '{"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}]}}',
  'apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Namespace\n  metadata: {name: a}\n- *x\n',
  "text: |2-\n   a\n\n  b\nfolded: >+\n  c\n\n\"quo\\u0041ted\": 'it''s'\n? complex\n: value\n",
];

const PIECES: readonly string[] = [
  ...[
    '\n',
    '\t',
    '  ',
    '---\n',
    '...\n',
    '- ',
    ': ',
    '? ',
    '{',
    '}',
    '[',
    ']',
    ',',
    '|',
    '>',
    '"',
    "'",
    '#',
    '%YAML 1.1\n',
  ],
  ...[
    '&a ',
    '*a',
    '<<: *a',
    '!!int ',
    '!x ',
    '\0',
    '\r',
    '\u0085',
    '\ud800',
    '\ufeff',
    '{}',
    'null',
    '0777',
    '1e999',
    '.inf',
  ],
  ...['__proto__: ', 'constructor: ', 'kind: List\nitems: ', 'a: &a [*a, *a]\n', '{{{{{{{{', 'a: b: c\n', '"\\ud800"'],
];

type Mutation = (text: string) => string;

const MUTATIONS: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(fc.nat(), fc.constantFrom(...PIECES)).map(
    ([at, piece]): Mutation =>
      (text) =>
        spliced(text, at, 0, piece),
  ),
  fc.tuple(fc.nat(), fc.nat(12)).map(
    ([at, length]): Mutation =>
      (text) =>
        spliced(text, at, length, ''),
  ),
  fc.tuple(fc.nat(), fc.nat(40), fc.nat()).map(([from, length, to]): Mutation => {
    return (text) => spliced(text, to, 0, text.slice(from % (text.length + 1)).slice(0, length));
  }),
  fc.tuple(fc.nat(), fc.string({ unit: 'binary', maxLength: 4 })).map(
    ([at, piece]): Mutation =>
      (text) =>
        spliced(text, at, 1, piece),
  ),
  fc.nat(6).map(
    (times): Mutation =>
      (text) =>
        text.repeat(times + 1),
  ),
);

function spliced(text: string, at: number, length: number, piece: string): string {
  const start = at % (text.length + 1);
  return text.slice(0, start) + piece + text.slice(start + length);
}

const TEXTS: fc.Arbitrary<string | Uint8Array> = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.constantFrom(...SEEDS), fc.array(MUTATIONS, { maxLength: 8 })).map(mutated) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join('')) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
);

function mutated([seed, mutations]: [string, readonly Mutation[]]): string {
  return mutations.reduce((text, mutate) => mutate(text).slice(0, 4000), seed);
}

function heapInUse(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

test('no document, however broken, does more than give findings', () => {
  let count = 0;
  let heap = 0;
  const property = fc.property(TEXTS, (content) => {
    const bytes = typeof content === 'string' ? Buffer.from(content) : content;
    const lines = Buffer.from(bytes)
      .toString('utf8')
      .split(/\r\n?|\n/).length;
    const { configs, refused, diagnostics, documents } = parseFile('f.yaml', bytes, {
      source: 's',
      namespace: 'default',
      strict: false,
    });
    for (const { location } of [...diagnostics, ...configs, ...refused]) {
      assert.ok(location.line >= 1 && location.line <= lines && location.column >= 1, JSON.stringify(location));
    }
    for (const document of documents) {
      if (document.refused.length > 0) assert.ok(document.diagnostics.length > 0, document.raw.text);
    }
    for (const config of configs) assert.equal(typeof JSON.stringify(config.spec), 'string');
    if (++count === Math.ceil(DOCUMENTS / 2)) heap = heapInUse();
  });
  fc.assert(property, { numRuns: DOCUMENTS });
  assert.ok(heapInUse() <= 1.1 * heap + 4e6, `the heap grew from ${heap} to ${heapInUse()}`);
});
