import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileMesh } from '../support/mesh-files.ts';

const CORPUS = '../shared/conformance/public';
const skip = existsSync(CORPUS) ? false : 'the conformance corpus is absent';

/** Codes of findings in view of other objects that both give. */
const CODES: ReadonlySet<string> = new Set([
  'IST0101',
  'IST0109',
  'IST0110',
  'IST0111',
  'IST0127',
  'IST0134',
  'IST0145',
  'IST0174',
]);

/**
 * Where more is said. The answers were taken without Kubernetes, so analyzers that compare with Services were not run; as
 * the answers for proxies show, these hosts have no cluster.
 */
const DIFFERENCES: Readonly<Record<string, string>> = {
  '048-vs-shortnames-exportto: given: IST0101 VirtualService team-a/short': 'its short name means no service',
  '048-vs-shortnames-exportto: given: IST0101 VirtualService team-b/dotted': 'a name with a dot is no short name',
};

/** What stands under etc/istio, by path as `fileMesh` takes it. */
function filesOf(directory: string): Readonly<Record<string, string>> {
  const root = join(directory, 'etc/istio');
  return Object.fromEntries(
    globSync('**/*.{yaml,yml}', { cwd: root })
      .sort()
      .map((path) => [path.replace(/^conf\//, ''), readFileSync(join(root, path), 'utf8')]),
  );
}

test('findings across objects are those of istioctl analyze, but for differences with a reason', { skip }, () => {
  const differing: string[] = [];
  for (const file of globSync(`${CORPUS}/*/expected/analyze.json`).sort()) {
    const [name = ''] = file.slice(CORPUS.length + 1).split('/');
    const answer = JSON.parse(readFileSync(file, 'utf8')) as readonly { code: string; object: string }[];
    const expected = new Set(
      answer.filter(({ code }) => CODES.has(code)).map(({ code, object }) => `${code} ${object}`),
    );
    const given = new Set(
      fileMesh(filesOf(join(CORPUS, name)))
        .findings()
        .filter(({ code }) => CODES.has(code))
        .map(({ code, resource = '' }) => `${code} ${resource.replace('/', ' ')}`),
    );
    for (const one of expected.difference(given)) differing.push(`${name}: not given: ${one}`);
    for (const one of given.difference(expected)) differing.push(`${name}: given: ${one}`);
  }
  assert.deepEqual(differing, Object.keys(DIFFERENCES).sort());
});
