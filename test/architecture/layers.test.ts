import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

/** A folder of src may import itself and those named here (docs/architecture.md). Types count, too. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  process: ['base'],
  derive: [],
  proto: ['base'],
  config: ['base', 'derive', 'proto'],
  convert: ['base', 'config'],
  model: ['base', 'config'],
  envoy: ['base', 'proto', 'config', 'model'],
  pipeline: ['base', 'derive', 'proto', 'config', 'convert', 'model', 'envoy'],
  xds: ['base', 'proto'],
  sources: ['base', 'process', 'proto', 'config', 'xds'],
  security: ['base', 'proto'],
  admin: ['base', 'config', 'pipeline', 'xds', 'sources', 'security', 'proto'],
  istiod: [
    'base',
    'process',
    'derive',
    'proto',
    'config',
    'convert',
    'model',
    'pipeline',
    'xds',
    'sources',
    'security',
    'admin',
  ],
  agent: ['base', 'process', 'proto', 'config', 'xds', 'security'],
  bin: ['base', 'process', 'istiod', 'agent'],
};

/** Node's modules and packages that only some folders may use: I/O stands at the two ends. */
const RESTRICTED: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^node:crypto$/, ['base', 'security']],
  [/^node:net$/, ['base', 'process', 'istiod', 'sources', 'agent', 'admin']],
  [
    /^node:(fs|fs\/promises|child_process|http|https|tls|dns|os|worker_threads)$/,
    ['process', 'sources', 'istiod', 'admin', 'agent', 'security', 'bin'],
  ],
  [/^@grpc\/grpc-js$/, ['xds', 'istiod', 'sources', 'agent']],
  [/^(pino|pino-pretty)$/, ['process']],
  [/^dns-packet$/, ['agent']],
  [/^prom-client$/, ['admin']],
  [/^(js-yaml|yaml)$/, ['config']],
];

const IMPORT = /(?:import|export)\s(?:[^'";]*?\sfrom\s)?'([^']+)'|import\('([^']+)'\)/g;

function importsOf(file: string): readonly string[] {
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].map((match) => match[1] ?? match[2] ?? '');
}

/** The folder of src that an import leads to; undefined for packages. */
function folderOf(specifier: string, from: string): string | undefined {
  if (specifier.startsWith('#generated/')) return specifier.split('/')[1];
  if (!specifier.startsWith('.')) return undefined;
  return normalize(join(dirname(from), specifier)).split('/')[1];
}

function* violations(): Generator<string> {
  for (const file of globSync('src/**/*.ts')) {
    const folder = file.split('/')[1] ?? '';
    const allowed = MAY_IMPORT[folder];
    if (allowed === undefined) yield `${file}: the folder ${folder} has no place in the layers`;
    for (const specifier of importsOf(file)) {
      const target = folderOf(specifier, file);
      if (target !== undefined && target !== folder && !allowed?.includes(target)) {
        yield `${file} imports ${specifier}: ${folder} may not import ${target}`;
      }
      for (const [pattern, folders] of RESTRICTED) {
        if (pattern.test(specifier) && !folders.includes(folder))
          yield `${file} imports ${specifier}: not in ${folder}`;
      }
    }
  }
}

test('each folder imports only what stands below it', () => {
  assert.deepEqual([...violations()], []);
});

test('no source file has more than 400 lines', () => {
  const long = globSync('src/**/*.ts').filter((file) => readFileSync(file, 'utf8').split('\n').length > 401);
  assert.deepEqual(long, []);
});
