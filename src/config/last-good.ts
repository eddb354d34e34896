import type { Config, ConfigKey } from './config.ts';
import { kindOf } from './kinds/kinds.ts';
import { CERTIFICATE_FILES, certificateFiles } from './kinds/secret.ts';
import { MESH, NETWORKS, wholeFileKey } from './mesh-files.ts';
import { parseDocument, type WholeFile } from './parse.ts';

/** A copy of an object that was right once, to be served where its file is wrong after a restart. */
export interface LastGoodCopy {
  readonly key: ConfigKey;
  /** Where it stood. */
  readonly file: string;
  readonly line: number;
  /** The object as a document in JSON. */
  readonly text: string;
}

export interface LastGoodChanges {
  /** All objects of the source are in `put`: other copies of it are dropped. */
  readonly whole: boolean;
  readonly put: readonly Config[];
  readonly removed: readonly ConfigKey[];
}

/** Where copies outlive the process. Failures are its own concern: they are logged, and never stop a change. */
export interface LastGoodStorage {
  load(source: string): readonly LastGoodCopy[];
  save(source: string, changes: LastGoodChanges): void;
}

export function lastGoodCopy({ key, location, ...config }: Config): LastGoodCopy {
  return {
    key,
    file: location.file,
    line: location.line,
    text: JSON.stringify(objectOf({ key, location, ...config })),
  };
}

function objectOf({
  key,
  group,
  version,
  kind,
  namespace,
  name,
  labels,
  annotations,
  controller,
  creationTime,
  spec,
  status,
}: Config) {
  if (wholeFile(key) !== undefined) return spec;
  const metadata = {
    name,
    ...(namespace !== '' && { namespace }),
    labels,
    annotations,
    ...(controller && { generateName: name, ownerReferences: [{ ...controller, controller: true }] }),
    ...(creationTime !== 0 && { creationTimestamp: new Date(creationTime).toISOString() }),
  };
  const envelope = { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata };
  const isRoot = kindOf(group, kind)?.specField === 'root';
  return { ...envelope, ...(isRoot ? (spec as object) : { spec }), ...(status && { status }) };
}

const CERTIFICATES_KEY = wholeFileKey({ kind: CERTIFICATE_FILES, name: '' });

function wholeFile(key: ConfigKey): WholeFile | undefined {
  if (key.startsWith(CERTIFICATES_KEY)) return certificateFiles(key.slice(CERTIFICATES_KEY.length));
  return [MESH, NETWORKS].find((whole) => wholeFileKey(whole) === key);
}

/** The object of a copy; undefined when this version of the program does not take it any more. */
function restored({ key, file, line, text }: LastGoodCopy, source: string): Config | undefined {
  const whole = wholeFile(key);
  const raw = { file, line, text };
  const options = { source, namespace: 'default', strict: false, ...(whole && { whole }) };
  return parseDocument({ raw }, options).configs.find((config) => config.key === key);
}

/** The copies that an earlier process left of one source, each read when it is asked for. */
export class EarlierCopies {
  readonly #source: string;
  readonly #load: () => readonly LastGoodCopy[];
  #byKey: ReadonlyMap<ConfigKey, LastGoodCopy> | undefined;

  constructor(source: string, load: () => readonly LastGoodCopy[]) {
    this.#source = source;
    this.#load = load;
  }

  ofKey(key: ConfigKey): Config | undefined {
    const copy = this.#copies().get(key);
    return copy && restored(copy, this.#source);
  }

  *ofFile(file: string): Generator<Config> {
    for (const copy of this.#copies().values()) {
      const config = copy.file === file ? restored(copy, this.#source) : undefined;
      if (config !== undefined) yield config;
    }
  }

  #copies(): ReadonlyMap<ConfigKey, LastGoodCopy> {
    this.#byKey ??= new Map(this.#load().map((copy) => [copy.key, copy]));
    return this.#byKey;
  }
}
