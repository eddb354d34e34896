import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfigKey } from '../../../src/config/config.ts';
import { parseFile } from '../../../src/config/parse.ts';
import type { ParsedFile } from '../../../src/config/parsed.ts';
import { ConfigStore } from '../../../src/config/store.ts';
import { Graph } from '../../../src/derive/graph.ts';

const KEY: ConfigKey = 'networking.istio.io/ServiceEntry/ns/web';

/** A version of the object, which is told by its port. */
const version = (port: number, revision?: string): string =>
  JSON.stringify({
    apiVersion: 'networking.istio.io/v1',
    kind: 'ServiceEntry',
    metadata: { name: 'web', ...(revision === undefined ? {} : { labels: { 'istio.io/rev': revision } }) },
    spec: { hosts: ['web.test'], resolution: 'DNS', ports: [{ number: port, name: 'http' }] },
  });

const file = (path: string, ...documents: readonly string[]): ParsedFile =>
  parseFile(path, documents.join('\n---\n'), { source: 'file', namespace: 'ns', strict: false });

function served(revision: string, ...files: readonly ParsedFile[]) {
  const store = new ConfigStore(new Graph(), { rootNamespace: 'istio-system', revision });
  const sink = store.source('file');
  sink.replace(files);
  const port = (): unknown =>
    (store.get(KEY)?.spec as { readonly ports?: readonly { readonly number: number }[] } | undefined)?.ports?.[0]
      ?.number;
  const codes = (): readonly string[] => store.allDiagnostics().map(({ severity, code }) => `${severity} ${code}`);
  return { sink, port, codes };
}

test('an object that names no revision is served by every control plane', () => {
  for (const revision of ['default', 'canary']) {
    const { port, codes } = served(revision, file('a.yaml', version(80)), file('b.yaml', version(80, '')));
    assert.equal(port(), 80);
    assert.deepEqual(codes(), ['warning VM0201']);
  }
});

test('an object that names a revision is served by that one, and another says why not', () => {
  const one = file('a.yaml', version(80, 'canary'));
  assert.deepEqual([served('canary', one).port(), served('canary', one).codes()], [80, []]);
  assert.deepEqual([served('default', one).port(), served('default', one).codes()], [undefined, ['info VM0220']]);
});

test('of two versions the one that names the revision counts, in whatever order files and documents come', () => {
  const [all, canary] = [version(80), version(81, 'canary')];
  for (const files of [
    [file('a.yaml', all), file('b.yaml', canary)],
    [file('a.yaml', canary), file('b.yaml', all)],
    [file('a.yaml', all, canary)],
    [file('a.yaml', canary, all)],
  ]) {
    assert.deepEqual([served('canary', ...files).port(), served('canary', ...files).codes()], [81, []]);
    assert.deepEqual([served('default', ...files).port(), served('default', ...files).codes()], [80, ['info VM0220']]);
  }
});

test('a version that is given to one revision first is given to all by taking its label away', () => {
  const { sink, port } = served('default', file('a.yaml', version(80)), file('b.yaml', version(81, 'canary')));
  assert.equal(port(), 80);
  sink.apply('b.yaml', file('b.yaml', version(81)));
  assert.equal(port(), 81);
});

test('what is wrong with an object of another revision is not said here', () => {
  const odd = version(80, 'canary').replace('"resolution"', '"newField":1,"resolution"');
  assert.deepEqual(served('canary', file('a.yaml', odd)).codes(), ['warning VM0001']);
  assert.deepEqual(served('default', file('a.yaml', odd)).codes(), ['info VM0220']);
});
