import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { Config, ConfigKey } from '../../src/config/config.ts';
import { configKey } from '../../src/config/config.ts';
import { validateSpec } from '../../src/config/kind.ts';
import { kindOf } from '../../src/config/kinds/kinds.ts';
import { controllerOf } from '../../src/config/metadata.ts';
import { type CorpusCase, readCase } from './case-files.ts';

/** A case with its configuration, read in this process: as far as translation alone needs it. */
export interface ConformanceCase extends CorpusCase {
  readonly configs: ReadonlyMap<ConfigKey, Config>;
}

export function loadCase(directory: string): ConformanceCase {
  return { ...readCase(directory), configs: loadConfigs(directory) };
}

function loadConfigs(directory: string): ReadonlyMap<ConfigKey, Config> {
  const out = new Map<ConfigKey, Config>();
  const root = join(directory, 'etc/istio/conf');
  for (const file of globSync('**/*.{yaml,yml}', { cwd: root }).sort()) {
    const namespace = file.split('/')[0] ?? '';
    for (const document of parseAllDocuments(readFileSync(join(root, file), 'utf8'))) {
      const config = toConfig(document.toJS(), namespace, join(relative(directory, root), file));
      if (config !== undefined) out.set(config.key, config);
    }
  }
  for (const [file, kind, name] of [
    ['etc/istio/mesh.yaml', 'MeshConfig', 'mesh'],
    ['etc/istio/meshNetworks.yaml', 'MeshNetworks', 'meshNetworks'],
  ] as const) {
    const path = join(directory, file);
    if (!existsSync(path)) continue;
    const spec = parse(readFileSync(path, 'utf8')) ?? {};
    const key = configKey('', kind, '', name);
    out.set(key, {
      ...EMPTY,
      key,
      kind,
      name,
      spec,
      location: { file, line: 1, column: 1 },
      hash: JSON.stringify(spec),
    });
  }
  return out;
}

const EMPTY = {
  group: '',
  version: 'v1',
  namespace: '',
  labels: {},
  annotations: {},
  creationTime: 0,
  document: { file: '', line: 1, text: '' },
  source: 'case',
};

// biome-ignore lint/suspicious/noExplicitAny: a document as it was written
function toConfig(raw: any, directory: string, file: string): Config | undefined {
  if (raw === null || typeof raw !== 'object') return undefined;
  const [group, version] = String(raw.apiVersion).includes('/')
    ? String(raw.apiVersion).split('/')
    : ['', raw.apiVersion];
  const kind = kindOf(group ?? '', raw.kind);
  if (kind === undefined) return undefined;
  const { name = '', labels = {}, annotations = {}, creationTimestamp } = raw.metadata ?? {};
  const namespace = kind.scope === 'Cluster' ? '' : (raw.metadata?.namespace ?? directory);
  const meta = { name, namespace, labels, annotations };
  const { spec } = validateSpec(kind, kind.specField === 'spec' ? raw.spec : raw, meta, { strict: false });
  if (spec === undefined) return undefined;
  const controller = controllerOf(raw.metadata ?? {});
  return {
    ...EMPTY,
    ...meta,
    ...(controller && { controller }),
    key: configKey(kind.group, kind.kind, namespace, name),
    group: kind.group,
    version,
    kind: kind.kind,
    creationTime: creationTimestamp ? Date.parse(creationTimestamp) : 0,
    spec,
    ...(raw.status ? { status: raw.status } : {}),
    location: { file, line: 1, column: 1 },
    hash: JSON.stringify(raw),
  };
}
