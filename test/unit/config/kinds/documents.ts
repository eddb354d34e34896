import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject } from '../../../../src/base/json.ts';
import type { Labels } from '../../../../src/base/labels.ts';
import { splitDocuments } from '../../../../src/config/document.ts';
import { type KindDefinition, type ValidatedSpec, validateSpec } from '../../../../src/config/kind.ts';
import { kindOf } from '../../../../src/config/kinds/kinds.ts';
import { MESH_FILE, MESH_NETWORKS, NO_METADATA } from '../../../../src/config/kinds/mesh-config.ts';
import { readYaml } from '../../../../src/config/yaml.ts';

/** The cases with real istiod's answers; tests of it are skipped where it is absent. */
export const CORPUS: URL = new URL('../../../../../shared/conformance/public/', import.meta.url);

/** A document of a kind that is read. */
export interface KindDocument {
  readonly file: string;
  readonly kind: KindDefinition;
  readonly name: string;
  readonly document: JsonObject;
}

function textsOf(value: unknown): Labels {
  return isJsonObject(value) ? (value as Labels) : {};
}

/** Validates a whole document as the parser does. */
export function validated(kind: KindDefinition, document: JsonObject, namespace = 'default'): ValidatedSpec {
  const metadata = isJsonObject(document['metadata']) ? document['metadata'] : {};
  const meta = {
    name: String(metadata['name'] ?? ''),
    namespace: String(metadata['namespace'] ?? namespace),
    labels: textsOf(metadata['labels']),
    annotations: textsOf(metadata['annotations']),
  };
  return validateSpec(kind, kind.specField === 'spec' ? document['spec'] : document, meta, { strict: false });
}

/** The documents of known kinds in a YAML text. */
export function documentsOf(file: string, bytes: Uint8Array): readonly KindDocument[] {
  return splitDocuments(file, bytes).flatMap(({ raw }) => {
    const { value } = readYaml(raw.text);
    if (!isJsonObject(value)) return [];
    const [version = '', group = ''] = String(value['apiVersion']).split('/').reverse();
    const kind = version === '' ? undefined : kindOf(group, String(value['kind']));
    const metadata = isJsonObject(value['metadata']) ? value['metadata'] : {};
    return kind === undefined ? [] : [{ file, kind, name: String(metadata['name']), document: value }];
  });
}

export interface Refusal {
  readonly file: string;
  readonly kind: string;
  readonly name: string;
}

export interface CorpusCase {
  readonly name: string;
  readonly documents: readonly KindDocument[];
  /** mesh.yaml and meshNetworks.yaml, as validated. */
  readonly files: readonly ValidatedSpec[];
  readonly refused: readonly Refusal[];
}

function* yamlFiles(folder: URL): Generator<string> {
  if (!existsSync(folder)) return;
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) if (/\.ya?ml$/.test(path)) yield path;
}

function jsonList(url: URL): readonly Refusal[] {
  return existsSync(url) ? JSON.parse(readFileSync(url, 'utf8')) : [];
}

export function corpusCases(): readonly CorpusCase[] {
  if (!existsSync(CORPUS)) return [];
  return readdirSync(CORPUS).map((name) => {
    const root = new URL(`${name}/`, CORPUS);
    const conf = new URL('etc/istio/conf/', root);
    const documents = [...yamlFiles(conf)].flatMap((file) => documentsOf(file, readFileSync(new URL(file, conf))));
    const files = [['mesh.yaml', MESH_FILE] as const, ['meshNetworks.yaml', MESH_NETWORKS] as const].flatMap(
      ([file, kind]) => {
        const url = new URL(`etc/istio/${file}`, root);
        if (!existsSync(url)) return [];
        return [validateSpec(kind, readYaml(readFileSync(url, 'utf8')).value, NO_METADATA, { strict: false })];
      },
    );
    return { name, documents, files, refused: jsonList(new URL('expected/rejected.json', root)) };
  });
}
