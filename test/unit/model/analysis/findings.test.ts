import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Config } from '../../../../src/config/config.ts';
import { pathText } from '../../../../src/config/parse.ts';
import { readYaml } from '../../../../src/config/yaml.ts';
import type { Pipeline } from '../../../../src/pipeline/pipeline.ts';
import { meshFixture, object } from '../../../support/mesh-fixture.ts';

type Spec = Readonly<Record<string, unknown>>;

interface Case {
  /** Specs by `Kind namespace/name`. */
  readonly mesh: Readonly<Record<string, Spec>>;
  readonly finds: readonly string[];
}

function configOf([title, spec]: readonly [string, Spec]): Config {
  const [kind = '', id = ''] = title.split(' ');
  const [namespace, name = ''] = id.split('/');
  return object(kind, name, spec, namespace);
}

function found({ analysis, mesh }: Pipeline): readonly string[] {
  return analysis.kinds.flatMap((kind) =>
    [...analysis.findings.get(kind).entries()].flatMap(([key, findings]) => {
      const { namespace, name } = mesh.configs.get(key) as Config;
      return findings.map(
        ({ severity, code, path, message }) =>
          `${kind} ${namespace}/${name} ${severity} ${code} ${pathText(path)} ${message}`,
      );
    }),
  );
}

/** `Kind namespace/name severity CODE path part-of-the-message`. */
function says(finding: string, expected: string): boolean {
  const [, place = '', part = ''] = /^((?:\S+ ){5})(.*)$/.exec(expected) ?? [];
  return place !== '' && finding.startsWith(place) && finding.slice(place.length).includes(part);
}

const { value, problems } = readYaml(readFileSync(new URL('findings.yaml', import.meta.url), 'utf8'));
assert.deepEqual(problems, []);

for (const [name, { mesh, finds }] of Object.entries(value as Readonly<Record<string, Case>>)) {
  test(`${name}: each finding is given once, at its place`, () => {
    const rest = [...found(meshFixture(Object.entries(mesh).map(configOf)).pipeline)];
    for (const expected of finds) {
      const at = rest.findIndex((finding) => says(finding, expected));
      assert.ok(at >= 0, `no "${expected}" among\n${rest.join('\n')}`);
      rest.splice(at, 1);
    }
    assert.deepEqual(rest, []);
  });
}
