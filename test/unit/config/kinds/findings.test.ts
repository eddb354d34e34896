import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { kindName } from '../../../../src/config/config.ts';
import type { Path } from '../../../../src/config/finding.ts';
import { type KindDefinition, validateSpec } from '../../../../src/config/kind.ts';
import { KINDS } from '../../../../src/config/kinds/kinds.ts';
import { MESH_FILE, MESH_NETWORKS, NO_METADATA } from '../../../../src/config/kinds/mesh-config.ts';
import { readYaml } from '../../../../src/config/yaml.ts';

interface Case {
  readonly spec: unknown;
  /** `severity path part-of-the-message` */
  readonly finds: readonly string[];
}

function casesOf(file: string): Readonly<Record<string, readonly Case[]>> {
  const { value, problems } = readYaml(readFileSync(new URL(file, import.meta.url), 'utf8'));
  assert.deepEqual(problems, []);
  return value as Readonly<Record<string, readonly Case[]>>;
}

function written(path: Path): string {
  return path.map((step, i) => (typeof step === 'number' ? `[${step}]` : i === 0 ? step : `.${step}`)).join('');
}

function check(kind: KindDefinition, { spec, finds }: Case): void {
  const result = validateSpec(kind, spec, { ...NO_METADATA, name: 'x', namespace: 'shop' }, { strict: false });
  // That a field has no effect is tried for all such fields in test/api.
  const told = result.findings.filter(({ code }) => code !== 'VM0004');
  const found = told.map(({ severity, path, message }) => `${severity} ${written(path)} ${message}`);
  const matches = (finding: string, expected: string) => {
    const at = finds.length > 0 ? expected.indexOf(' ', expected.indexOf(' ') + 1) : 0;
    const place = expected.slice(0, at + 1);
    return finding.startsWith(place) && finding.slice(place.length).includes(expected.slice(at + 1));
  };
  const rest = [...found];
  for (const expected of finds) {
    const i = rest.findIndex((finding) => matches(finding, expected));
    assert.ok(i >= 0, `${kind.kind} ${JSON.stringify(spec)}: no "${expected}" among\n${rest.join('\n')}`);
    rest.splice(i, 1);
  }
  assert.deepEqual(rest, [], `${kind.kind} ${JSON.stringify(spec)}`);
  const hasError = finds.some((expected) => expected.startsWith('error'));
  assert.equal(result.spec === undefined, hasError, JSON.stringify(spec));
}

for (const [file, kinds] of [
  ['findings.yaml', KINDS],
  ['gateway-api-findings.yaml', KINDS],
  ['mesh-findings.yaml', [MESH_FILE, MESH_NETWORKS]],
] as const) {
  for (const [name, cases] of Object.entries(casesOf(file))) {
    test(`${name}: each mistake is found once, at its place`, () => {
      const kind = kinds.find((candidate) => kindName(candidate) === name);
      assert.ok(kind);
      for (const example of cases) check(kind, example);
    });
  }
}
