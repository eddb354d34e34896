import type { Diagnostic } from '../base/diagnostic.ts';
import { contentVersion } from '../base/hash.ts';
import { canonicalJson } from '../base/intern.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { type Config, configKey, type RawDocument } from './config.ts';
import { type SplitDocument, splitDocuments, type TextProblem } from './document.ts';
import { envelopeFindings } from './envelope.ts';
import { type Finding, type Path, refuses } from './finding.ts';
import { type KindDefinition, validateSpec } from './kind.ts';
import { LIMITS } from './limits.ts';
import { locationAt, offsetOf } from './locate.ts';
import { readMetadata } from './metadata.ts';
import {
  movedDocument,
  type ParsedDocument,
  type ParsedFile,
  parsedFile,
  type RefusedObject,
  unreadFile,
} from './parsed.ts';
import { shown } from './schema/scalars.ts';
import { explainedSyntax, type Identity } from './syntax.ts';
import { kindLookup } from './unknown-kind.ts';
import { readYaml, type YamlDocument } from './yaml.ts';

export interface ParseOptions {
  /** Name of the source, as it stands in `Config.source`. */
  readonly source: string;
  /** Of objects that say none. */
  readonly namespace: string;
  /** Refuses what is only likely a mistake: unknown fields, keys that stand twice. */
  readonly strict: boolean;
  /** The file is no object, but holds one thing: mesh.yaml. */
  readonly whole?: WholeFile;
}

/** What a file holds that is no object of Kubernetes' form. */
export interface WholeFile {
  readonly kind: KindDefinition;
  /** Of the object that is made of it; its namespace and group are empty. */
  readonly name: string;
}

/**
 * Reads a file: its documents, the objects in them, and what is wrong with each. A document that is wrong takes no other
 * with it. Never throws.
 *
 * @param file as findings shall name it
 * @param previous of the same file, read with the same options: documents whose text is unchanged are taken from it
 */
export function parseFile(
  file: string,
  content: Uint8Array | string,
  options: ParseOptions,
  previous?: ParsedFile,
): ParsedFile {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  if (bytes.length > LIMITS.fileBytes) return unreadFile(file, options.namespace, tooLarge(file, bytes.length));
  const split = splitDocuments(file, bytes);
  if (options.whole !== undefined) return parsedFile(file, '', wholeDocuments(file, split, options));
  const known = new Map(previous?.documents.map((document) => [document.raw.text, document]));
  const documents = split.slice(0, LIMITS.documents).map((document) => {
    const same = known.get(document.raw.text);
    return same === undefined ? parseDocument(document, options) : movedDocument(same, document.raw.line);
  });
  const excess = split[LIMITS.documents];
  if (excess !== undefined) documents.push(excessDocument(excess.raw, options));
  return parsedFile(file, options.namespace, documents);
}

function excessDocument(raw: RawDocument, options: ParseOptions): ParsedDocument {
  const draft = new Draft(raw, options);
  const message = `the file has more than ${LIMITS.documents} documents; this one and the next are not read: split it`;
  draft.problem({ severity: 'error', code: 'VM0102', offset: 0, message });
  draft.refuse(undefined, 0);
  return draft.result();
}

function tooLarge(file: string, size: number): Diagnostic {
  const message = `the file has ${size} bytes; at most ${LIMITS.fileBytes} are read: split it`;
  return { severity: 'error', code: 'VM0102', location: { file, line: 1, column: 1 }, message };
}

/** Reads one document. */
export function parseDocument(document: SplitDocument, options: ParseOptions): ParsedDocument {
  const draft = new Draft(document.raw, options);
  const read = draft.read(document.problem);
  if (read === undefined) return draft.result();
  if (options.whole === undefined) draft.takeObject(read.value, []);
  else draft.takeWhole(read.value ?? {}, options.whole);
  return draft.result();
}

function wholeDocuments(
  file: string,
  [first, second]: readonly SplitDocument[],
  options: ParseOptions,
): readonly ParsedDocument[] {
  const parsed = parseDocument(first ?? { raw: { file, line: 1, text: '' } }, options);
  if (second === undefined) return [parsed];
  const extra = new Draft(second.raw, options);
  extra.problem({
    severity: 'error',
    code: 'VM0105',
    offset: 0,
    message: 'only the first document of this file is read',
  });
  return [parsed, extra.result()];
}

/** A document while it is read. */
class Draft {
  readonly #raw: RawDocument;
  readonly #options: ParseOptions;
  readonly #configs: Config[] = [];
  readonly #refused: RefusedObject[] = [];
  readonly #diagnostics: Diagnostic[] = [];
  #yaml: YamlDocument = { problems: [], events: [] };

  constructor(raw: RawDocument, options: ParseOptions) {
    this.#raw = raw;
    this.#options = options;
  }

  result(): ParsedDocument {
    return {
      raw: this.#raw,
      configs: this.#configs,
      refused: this.#refused,
      diagnostics: this.#diagnostics,
    };
  }

  /** The value of the document; undefined when its text can not be read, which is then a finding. */
  read(broken: TextProblem | undefined): YamlDocument | undefined {
    if (broken === undefined) this.#yaml = readYaml(this.#raw.text);
    const { value, problems, events } = this.#yaml;
    if (broken === undefined && value !== undefined) return this.#yaml;
    const problem = broken ?? problems.at(-1);
    if (problem === undefined) return undefined;
    const isSyntax = broken === undefined && events.length === 0 && problem.code === 'VM0103';
    const explained = explainedSyntax(this.#raw.text, problem);
    this.#refuseText(isSyntax ? explained.problem : problem, explained.identity);
    return undefined;
  }

  #refuseText(problem: TextProblem, { apiVersion, kind: kindName, namespace, name }: Identity): void {
    const { whole } = this.#options;
    if (whole !== undefined) {
      this.problem(problem, resourceName(whole.kind.kind, '', whole.name));
      this.refuse(configKey('', whole.kind.kind, '', whole.name), 0);
      return;
    }
    const kind = apiVersion === undefined || kindName === undefined ? undefined : kindLookup(apiVersion, kindName).kind;
    const meta = kind && readMetadata({ name, namespace }, kind, this.#options.namespace);
    if (kind === undefined || meta === undefined || !meta.isIdentified) {
      this.problem(problem);
      this.refuse(undefined, problem.offset);
      return;
    }
    this.problem(problem, resourceName(kind.kind, meta.namespace, meta.name));
    this.refuse(configKey(kind.group, kind.kind, meta.namespace, meta.name), 0);
  }

  /** Takes the object that stands at `at`, or the objects of the List that stands there. */
  takeObject(raw: unknown, at: Path): void {
    if (raw === null && at.length === 0) return;
    const apiVersion = isJsonObject(raw) ? raw['apiVersion'] : undefined;
    const kindName = isJsonObject(raw) ? raw['kind'] : undefined;
    if (!isJsonObject(raw) || typeof apiVersion !== 'string' || typeof kindName !== 'string') {
      this.#noObject(raw, at);
      return;
    }
    const items = kindName.endsWith('List') ? raw['items'] : undefined;
    if (Array.isArray(items)) {
      this.#warnings(undefined);
      for (const [i, item] of items.entries()) this.takeObject(item, [...at, 'items', i]);
      return;
    }
    if (items !== undefined && items !== null) {
      this.#refuseObject(at, ['items'], 'must be a list of objects: begin each with "- "');
      return;
    }
    const { kind, version, finding } = kindLookup(apiVersion, kindName);
    if (kind === undefined) {
      this.#warnings(undefined);
      if (finding !== undefined) this.#finding(finding, at);
      if (finding?.severity === 'warning') this.refuse(undefined, this.#offset(at));
      return;
    }
    this.#takeKnown(raw, at, kind, version, finding);
  }

  #noObject(raw: unknown, at: Path): void {
    const what = at.length === 0 ? 'the document' : 'the item';
    if (!isJsonObject(raw)) {
      this.#refuseObject(at, [], `${what} is no object: write "apiVersion", "kind", "metadata" and "spec"`);
      return;
    }
    const [missing, example] =
      typeof raw['apiVersion'] === 'string' ? ['kind', 'ServiceEntry'] : ['apiVersion', 'networking.istio.io/v1'];
    const value = raw[missing];
    if (value === undefined || value === null)
      this.#refuseObject(at, [], `${what} has no "${missing}": write it, as "${example}"`);
    else this.#refuseObject(at, [missing], `must be a text, not ${shown(value)}: write it, as "${example}"`);
  }

  #refuseObject(at: Path, path: Path, message: string): void {
    this.#warnings(undefined);
    this.#finding({ severity: 'error', code: 'VM0105', path, message }, at);
    this.refuse(undefined, this.#offset(at));
  }

  #takeKnown(
    raw: JsonObject,
    at: Path,
    kind: KindDefinition,
    version: string,
    wrongVersion: Finding | undefined,
  ): void {
    const meta = readMetadata(raw['metadata'], kind, this.#options.namespace);
    const resource = resourceName(kind.kind, meta.namespace, meta.name);
    const key = configKey(kind.group, kind.kind, meta.namespace, meta.name);
    const doubtful = this.#warnings(meta.isIdentified ? resource : undefined, kind);
    const described = kind.specField === 'spec' ? raw['spec'] : raw;
    const findings: Finding[] = [...meta.findings, ...envelopeFindings(raw, kind, this.#severity(kind))];
    if (wrongVersion !== undefined) findings.push(wrongVersion);
    const { spec, findings: more } = validateSpec(kind, described, meta, { strict: this.#options.strict });
    if (wrongVersion === undefined) findings.push(...more);
    for (const finding of findings) this.#finding(finding, at, meta.isIdentified ? resource : undefined);
    const offset = this.#offset(at);
    if (doubtful || wrongVersion !== undefined || spec === undefined || findings.some(refuses)) {
      this.refuse(meta.isIdentified ? key : undefined, offset);
      return;
    }
    const { name, namespace, labels, annotations, creationTime, controller } = meta;
    const status = isJsonObject(raw['status']) ? { status: plainFrozen(raw['status']) as JsonObject } : {};
    const identity = { group: kind.group, version, kind: kind.kind, namespace, name };
    const made = controller && { controller };
    this.#take({ ...identity, labels, annotations, ...made, creationTime, spec, ...status }, offset);
  }

  takeWhole(raw: unknown, { kind, name }: WholeFile): void {
    const meta = { name, namespace: '', labels: {}, annotations: {} };
    const resource = resourceName(kind.kind, '', name);
    const doubtful = this.#warnings(resource);
    const other = otherObject(raw, kind);
    const { spec, findings } =
      other === undefined
        ? validateSpec(kind, raw, meta, { strict: this.#options.strict })
        : { spec: undefined, findings: [other] };
    for (const finding of findings) this.#finding(finding, [], resource);
    if (spec === undefined || doubtful) this.refuse(configKey('', kind.kind, '', name), 0);
    else this.#take({ ...meta, group: '', version: kind.versions[0] ?? '', kind: kind.kind, creationTime: 0, spec }, 0);
  }

  #take(content: Omit<Config, 'key' | 'location' | 'document' | 'hash' | 'source'>, offset: number): void {
    const { group, kind, namespace, name } = content;
    this.#configs.push(
      Object.freeze({
        key: configKey(group, kind, namespace, name),
        ...content,
        location: locationAt(this.#raw, offset),
        document: this.#raw,
        hash: contentVersion(canonicalJson(content)),
        source: this.#options.source,
      }),
    );
  }

  refuse(key: string | undefined, offset: number): void {
    const location = locationAt(this.#raw, offset);
    this.#refused.push(key === undefined ? { location } : { key, location });
  }

  problem({ severity, code, offset, message }: TextProblem, resource?: string): void {
    const location = locationAt(this.#raw, offset);
    this.#diagnostics.push({ severity, code, message, location, ...(resource && { resource }) });
  }

  /**
   * Reports what the text has that means nothing, once.
   *
   * @returns whether the object is not taken for it: in security policies a lost key opens a door
   */
  #warnings(resource: string | undefined, kind?: KindDefinition): boolean {
    const severity = this.#severity(kind);
    const { problems } = this.#yaml;
    for (const problem of problems) this.problem({ ...problem, severity }, resource);
    this.#yaml = { ...this.#yaml, problems: [] };
    return severity === 'error' && problems.length > 0;
  }

  /** Of what has no effect. */
  #severity(kind: KindDefinition | undefined): 'error' | 'warning' {
    return this.#options.strict || kind?.group === 'security.istio.io' ? 'error' : 'warning';
  }

  #finding({ severity, code, path, message }: Finding, at: Path, resource?: string): void {
    const part = code === 'VM0001' ? 'key' : 'value';
    const offset = offsetOf(this.#raw.text, this.#yaml.events, [...at, ...path], part);
    this.#diagnostics.push({
      severity,
      code,
      message,
      location: locationAt(this.#raw, offset),
      ...(path.length > 0 && { path: pathText([...at, ...path]) }),
      ...(resource !== undefined && { resource }),
    });
  }

  #offset(at: Path): number {
    return offsetOf(this.#raw.text, this.#yaml.events, at);
  }
}

/** That an object of another kind stands in a file that holds one thing, as the ConfigMap that Kubernetes keeps it in. */
function otherObject(raw: unknown, { kind, schema }: KindDefinition): Finding | undefined {
  const written = isJsonObject(raw) ? raw['kind'] : undefined;
  if (typeof written !== 'string' || written === kind || Object.hasOwn(schema.fields, 'kind')) return undefined;
  const message = `"${written}" is another kind, and this file is a ${kind} itself: write its fields at the top of the file`;
  return { severity: 'error', code: 'VM0105', path: ['kind'], message };
}

/** `Kind/namespace/name`, without a namespace `Kind/name`. */
export function resourceName(kind: string, namespace: string, name: string): string {
  return namespace === '' ? `${kind}/${name}` : `${kind}/${namespace}/${name}`;
}

/** `spec.http[0].match`; a key that is no plain word stands in brackets and quotes. */
export function pathText(path: Path): string {
  return path
    .map((step, i) => {
      if (typeof step === 'number') return `[${step}]`;
      if (!/^[\w$-]+$/.test(step)) return `[${JSON.stringify(step)}]`;
      return i === 0 ? step : `.${step}`;
    })
    .join('');
}

/** A frozen copy in which whole numbers beyond 2^53 are text, as in proto JSON. */
function plainFrozen(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return Object.freeze(value.map(plainFrozen));
  if (!isJsonObject(value)) return value;
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainFrozen(item)])));
}
