import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { formatDiagnostic } from '../../../src/base/diagnostic.ts';
import type { Config, ConfigKey } from '../../../src/config/config.ts';
import { type LastGoodChanges, type LastGoodCopy, lastGoodCopy } from '../../../src/config/last-good.ts';
import { MESH } from '../../../src/config/mesh-files.ts';
import { parseFile } from '../../../src/config/parse.ts';
import type { ParsedFile } from '../../../src/config/parsed.ts';
import type { ConfigSink } from '../../../src/config/sink.ts';
import { ConfigStore, type ConfigStoreOptions } from '../../../src/config/store.ts';
import { Graph } from '../../../src/derive/graph.ts';

const SOURCE = 'file:conf';

/** A ServiceEntry on one line, refused when `port` is none. */
function entry(name: string, port: number | string = 80): string {
  return `{apiVersion: networking.istio.io/v1, kind: ServiceEntry, metadata: {name: ${name}}, spec: {hosts: [${name}.test], resolution: DNS, ports: [{number: ${port}, name: http}]}}\n`;
}

function file(path: string, ...documents: readonly string[]): ParsedFile {
  const [namespace = ''] = path.split('/');
  return parseFile(path, documents.join('---\n'), { source: SOURCE, namespace, strict: false });
}

function mesh(text: string): ParsedFile {
  return parseFile('mesh.yaml', text, { source: SOURCE, namespace: '', strict: false, whole: MESH });
}

function key(name: string, namespace = 'ns'): ConfigKey {
  return `networking.istio.io/ServiceEntry/${namespace}/${name}`;
}

class Changes {
  readonly graph: Graph = new Graph();
  readonly store: ConfigStore;
  readonly sink: ConfigSink;
  /** `+key`, `~key` and `-key` of each batch, as a reader of the graph sees them. */
  readonly log: string[] = [];
  #seen: ReadonlyMap<ConfigKey, Config> = new Map();

  constructor(options: Partial<ConfigStoreOptions> = {}) {
    this.store = new ConfigStore(this.graph, { rootNamespace: 'istio-system', ...options });
    this.sink = this.store.source(SOURCE);
    const all = this.graph.derived<'', ReadonlyMap<ConfigKey, Config>>(
      'all',
      () => new Map(this.store.configs.keys().map((k) => [k, this.store.configs.get(k) as Config])),
    );
    this.graph.watch(all, '', (now) => {
      for (const [k, config] of now) {
        const before = this.#seen.get(k);
        if (before === undefined) this.log.push(`+${short(k)}`);
        else if (before.hash !== config.hash) this.log.push(`~${short(k)}`);
      }
      for (const k of this.#seen.keys()) if (!now.has(k)) this.log.push(`-${short(k)}`);
      this.#seen = now;
    });
  }

  take(): string[] {
    return this.log.splice(0).sort();
  }

  port(name: string): unknown {
    const spec = this.store.configs.get(key(name))?.spec as { ports: { number: number }[] } | undefined;
    return spec?.ports[0]?.number;
  }

  findings(): string[] {
    return this.store.allDiagnostics().map(formatDiagnostic);
  }
}

function short(k: ConfigKey): string {
  return k.split('/').slice(2).join('/');
}

let it: Changes;
beforeEach(() => {
  it = new Changes();
});

test('a whole state is taken, and what is not in the next one is gone', () => {
  it.sink.replace([file('ns/a.yaml', entry('a')), file('ns/b.yaml', entry('b'))]);
  assert.deepEqual(it.take(), ['+ns/a', '+ns/b']);
  it.sink.replace([file('ns/b.yaml', entry('b', 81))]);
  assert.deepEqual(it.take(), ['-ns/a', '~ns/b']);
});

test('equal content is no change, however it is written', () => {
  it.sink.replace([file('ns/a.yaml', entry('a'))]);
  it.take();
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', `# comment\n\n${entry('a')}`));
  assert.deepEqual(it.take(), []);
  assert.equal(it.store.get(key('a'))?.location.line, 3);
  assert.equal(it.store.place(key('a'), ['spec', 'hosts'])?.line, 3);
});

test('an object that moves to other files in one batch is no change', () => {
  it.sink.replace([file('ns/all.yaml', entry('a'), entry('b'))]);
  it.take();
  it.sink.batch(() => {
    it.sink.apply('ns/all.yaml', undefined);
    it.sink.apply('ns/z.yaml', file('ns/z.yaml', entry('a')));
    it.sink.apply('ns/b.yaml', file('ns/b.yaml', entry('b')));
  });
  assert.deepEqual(it.take(), []);
  assert.deepEqual(it.findings(), []);
});

test('a refused version leaves the last good one in force, with findings that name both', () => {
  it.sink.replace([file('ns/a.yaml', entry('a'))]);
  const good = it.store.get(key('a'));
  it.take();
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', `\n${entry('a', 70000)}`));
  assert.deepEqual(it.take(), []);
  assert.deepEqual(it.store.status(key('a')), {
    accepted: false,
    serving: 'last-good',
    hash: good?.hash,
    source: SOURCE,
    location: { file: 'ns/a.yaml', line: 1, column: 1 },
    refusedAt: { file: 'ns/a.yaml', line: 2, column: 1 },
  });
  const [held, error, ...others] = it.findings();
  assert.match(error ?? '', /^ns\/a.yaml:2:\d+: error IST0106: .*70000/);
  assert.match(held ?? '', new RegExp(`^ns/a.yaml:2:1: warning VM0202: .*ns/a.yaml:1:1, hash ${good?.hash}`));
  assert.deepEqual(others, []);
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', entry('a', 81)));
  assert.deepEqual([it.take(), it.findings()], [['~ns/a'], []]);
  assert.equal(it.store.status(key('a'))?.serving, 'current');
});

test('a status tells when the version that is served was taken, if it changed since the start', () => {
  let now = 1000;
  it = new Changes({ now: () => now });
  it.sink.replace([file('ns/a.yaml', entry('a')), file('ns/b.yaml', entry('b'))]);
  assert.equal(it.store.status(key('a'))?.since, undefined);
  now = 2000;
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', entry('a', 81)));
  now = 3000;
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', `\n${entry('a', 81)}`));
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', entry('a', 70000)));
  assert.deepEqual([it.store.status(key('a'))?.since, it.store.changedAt(key('b'))], [2000, undefined]);
  it.sink.apply('ns/a.yaml', undefined);
  assert.deepEqual([it.store.status(key('a')), it.store.changedAt(key('a'))], [undefined, undefined]);
});

test('an object that was never right, or is not to be served, has a status, too', () => {
  it = new Changes({ watchNamespaces: ['ns'] });
  it.sink.replace([file('ns/a.yaml', entry('a', 70000)), file('other/b.yaml', entry('b'))]);
  assert.deepEqual(it.store.keys(), [key('a'), key('b', 'other')]);
  const location = { file: 'ns/a.yaml', line: 1, column: 1 };
  const never = { accepted: false, serving: 'none', source: SOURCE, location, refusedAt: location };
  assert.deepEqual(it.store.status(key('a')), never);
  assert.equal(it.store.status(key('b', 'other'))?.serving, 'none');
});

test('a file that can not be read keeps all that it had; what it still says of others is taken', () => {
  it.sink.replace([file('ns/a.yaml', entry('a'), entry('b'), entry('c'))]);
  it.take();
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', 'just text\n', entry('c', 81)));
  assert.deepEqual(it.take(), ['~ns/c']);
  assert.match(it.findings().join('\n'), /VM0202: what this file held before .*ns\/a .*ns\/b /);
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', entry('c', 81)));
  assert.deepEqual(it.take(), ['-ns/a', '-ns/b']);
});

test('an object of a broken file that stands in another file counts from there', () => {
  it.sink.replace([file('ns/z.yaml', entry('a'))]);
  it.take();
  it.sink.batch(() => {
    it.sink.apply('ns/z.yaml', file('ns/z.yaml', 'just text\n'));
    it.sink.apply('ns/b.yaml', file('ns/b.yaml', entry('a', 81)));
  });
  assert.deepEqual([it.take(), it.port('a')], [['~ns/a'], 81]);
});

test('an object that is broken while it moves keeps its last good version', () => {
  it.sink.replace([file('ns/a.yaml', entry('a'))]);
  it.take();
  it.sink.batch(() => {
    it.sink.apply('ns/a.yaml', undefined);
    it.sink.apply('ns/b.yaml', file('ns/b.yaml', entry('a', 70000)));
  });
  assert.deepEqual(it.take(), []);
  assert.match(it.findings().join('\n'), /ns\/b.yaml:1:1: warning VM0202/);
});

test('a file that goes takes its objects with it, also those that were only held', () => {
  it.sink.replace([file('ns/a.yaml', entry('a'))]);
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', entry('a', 70000)));
  it.take();
  it.sink.apply('ns/a.yaml', undefined);
  assert.deepEqual([it.take(), it.findings()], [['-ns/a'], []]);
});

test('within a source the later path wins, within a file the later document, and a finding names both places', () => {
  it.sink.replace([
    file('ns/b.yaml', entry('a', 81)),
    file('ns/a.yaml', entry('a', 80)),
    file('ns/c.yaml', entry('c', 80), entry('c', 81)),
  ]);
  assert.deepEqual([it.port('a'), it.port('c')], [81, 81]);
  const [a, c, ...others] = it.findings();
  assert.match(a ?? '', /^ns\/a.yaml:1:1: warning VM0201: .*ns\/b.yaml:1:1/);
  assert.match(c ?? '', /^ns\/c.yaml:1:1: warning VM0201: .*ns\/c.yaml:3:1/);
  assert.deepEqual(others, []);
  it.sink.apply('ns/b.yaml', undefined);
  assert.equal(it.port('a'), 80);
  assert.doesNotMatch(it.findings().join('\n'), /ns\/a.yaml/);
});

test('a refused version in the file that wins does not fall back to the other file', () => {
  it.sink.replace([file('ns/a.yaml', entry('a', 80)), file('ns/b.yaml', entry('a', 81))]);
  it.take();
  it.sink.apply('ns/b.yaml', file('ns/b.yaml', entry('a', 70000)));
  assert.deepEqual([it.take(), it.port('a')], [[], 81]);
});

test('of several sources the first one wins, and the next takes over when it lets go', () => {
  const second = it.store.source('mcp://remote');
  assert.equal(it.store.isSynced, false);
  second.replace([
    parseFile('mcp://remote/a', entry('a', 90), { source: 'mcp://remote', namespace: 'ns', strict: false }),
  ]);
  it.sink.replace([file('ns/a.yaml', entry('a', 80))]);
  assert.equal(it.store.isSynced, true);
  assert.equal(it.port('a'), 80);
  assert.match(
    it.findings().join(),
    /^mcp:\/\/remote\/a:1:1: warning VM0201: .*ns\/a.yaml:1:1.* file:conf comes first/,
  );
  it.sink.apply('ns/a.yaml', undefined);
  assert.deepEqual([it.port('a'), it.findings()], [90, []]);
});

test('only the namespaces that mesh.yaml names are served, with the root namespace, and a change is live', () => {
  const entries = ['a', 'b', 'istio-system'].map((ns) => file(`${ns}/x.yaml`, entry('x')));
  it.sink.replace([...entries, file('b/bad.yaml', entry('bad', 70000))]);
  it.take();
  it.sink.apply('mesh.yaml', mesh('namespaces: [a]'));
  assert.deepEqual(it.take(), ['+/mesh', '-b/x']);
  assert.deepEqual(it.findings(), []);
  it.sink.apply('mesh.yaml', mesh('namespaces: [b]\nrootNamespace: b'));
  assert.deepEqual(it.take(), ['+b/x', '-a/x', '-istio-system/x', '~/mesh']);
  assert.equal(it.findings().length, 1);
  it.sink.apply('mesh.yaml', undefined);
  assert.deepEqual(it.take(), ['+a/x', '+istio-system/x', '-/mesh']);
});

test('namespaces from the options count while mesh.yaml names none', () => {
  const other = new Changes({ watchNamespaces: ['a'] });
  other.sink.replace([file('a/x.yaml', entry('x')), file('b/x.yaml', entry('x'))]);
  assert.deepEqual(other.take(), ['+a/x']);
});

test('a bad mesh.yaml leaves the last good one in force', () => {
  it.sink.replace([mesh('rootNamespace: root')]);
  assert.equal(it.sink.rootNamespace, 'root');
  it.sink.apply('mesh.yaml', mesh('rootNamespace: [x]'));
  assert.equal(it.sink.rootNamespace, 'root');
  it.sink.apply('mesh.yaml', mesh('a: ['));
  assert.equal(it.sink.rootNamespace, 'root');
  it.sink.apply('mesh.yaml', undefined);
  assert.equal(it.sink.rootNamespace, 'istio-system');
});

test('findings are told file by file, and only when they change', () => {
  const told: string[][] = [];
  const end = it.store.onDiagnostics((files) => told.push([...files]));
  it.sink.replace([file('ns/a.yaml', entry('a', 70000)), file('ns/b.yaml', entry('b'))]);
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', entry('a', 70000)));
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', entry('a')));
  end();
  it.sink.apply('ns/b.yaml', file('ns/b.yaml', entry('b', 70000)));
  assert.deepEqual(told, [['ns/a.yaml'], ['ns/a.yaml']]);
  assert.deepEqual(it.store.diagnostics.keys(), ['ns/b.yaml']);
});

test('counts say what is held, served and refused', () => {
  it.sink.replace([file('ns/a.yaml', entry('a')), file('ns/b.yaml', entry('b', 70000))]);
  it.sink.apply('ns/a.yaml', file('ns/a.yaml', entry('a', 70000)));
  assert.deepEqual(it.store.counts(), { objects: 1, lastGood: 1, files: 2, refused: 2 });
});

class Memory {
  readonly copies = new Map<ConfigKey, LastGoodCopy>();
  loads = 0;

  load(): readonly LastGoodCopy[] {
    this.loads++;
    return [...this.copies.values()];
  }

  save(_source: string, { whole, put, removed }: LastGoodChanges): void {
    if (whole) this.copies.clear();
    for (const config of put) this.copies.set(config.key, lastGoodCopy(config));
    for (const k of removed) this.copies.delete(k);
  }
}

test('after a restart beside an invalid file the last good version is served, and it goes with its file', () => {
  const lastGood = new Memory();
  const before = new Changes({ lastGood });
  before.sink.replace([
    file('ns/a.yaml', entry('a')),
    file('ns/b.yaml', entry('b'), entry('c')),
    mesh('rootNamespace: r'),
  ]);
  const hash = before.store.get(key('a'))?.hash;
  assert.equal(lastGood.loads, 0);

  const after = new Changes({ lastGood });
  after.sink.replace([file('ns/a.yaml', entry('a', 70000)), file('ns/b.yaml', 'just text'), mesh('rootNamespace: [')]);
  assert.deepEqual(after.take(), ['+/mesh', '+ns/a', '+ns/b', '+ns/c']);
  assert.equal(after.store.get(key('a'))?.hash, hash);
  assert.equal(after.sink.rootNamespace, 'r');
  assert.equal(lastGood.loads, 1);
  assert.equal(lastGood.copies.size, 4);

  const third = new Changes({ lastGood });
  third.sink.replace([file('ns/b.yaml', entry('b'))]);
  assert.deepEqual(third.take(), ['+ns/b']);
  assert.deepEqual([...lastGood.copies.keys()], [key('b')]);
});

test('a copy of any kind is read as the object that it was made of', () => {
  const lastGood = new Memory();
  const documents = [
    'apiVersion: v1\nkind: Service\nmetadata: {name: a, labels: {x: z}, creationTimestamp: 2024-01-02T03:04:05Z}\nspec: {ports: [{port: 80}]}\nstatus: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}\n',
    'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\ntype: Opaque\ndata: {x: eA==}\n',
    'apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n',
    'apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: a}\naddressType: IPv4\nendpoints: [{addresses: [1.2.3.4]}]\nports: [{port: 80}]\n',
  ];
  const before = new Changes({ lastGood });
  before.sink.replace(documents.map((text, i) => file(`ns/${i}.yaml`, text)));
  const hashes = (changes: Changes) => changes.store.configs.keys().map((k) => [k, changes.store.get(k)?.hash]);
  assert.equal(before.store.configs.keys().length, documents.length);
  const after = new Changes({ lastGood });
  after.sink.replace(documents.map((_, i) => file(`ns/${i}.yaml`, 'just text')));
  assert.deepEqual(hashes(after), hashes(before));
});

test('what a batch put before it threw is taken', () => {
  it.sink.replace([]);
  assert.throws(() =>
    it.sink.batch(() => {
      it.sink.apply('ns/a.yaml', file('ns/a.yaml', entry('a')));
      throw new Error('later');
    }),
  );
  assert.deepEqual(it.take(), ['+ns/a']);
});
