import { isJsonObject } from '../base/json.ts';
import type { Labels } from '../base/labels.ts';
import { type Finding, type Place, placeOf, refuses } from './finding.ts';
import { metadataFindings } from './kinds/metadata.ts';
import { normalized, writtenPath } from './normalize.ts';
import type { Message } from './schema/schema.ts';

export type { Finding } from './finding.ts';

/** What an object is called and labelled. */
export interface ObjectMeta {
  readonly name: string;
  /** Empty for cluster-scoped kinds. */
  readonly namespace: string;
  readonly labels: Labels;
  readonly annotations: Labels;
}

/** What a semantic check sees: an object whose structure is right. */
export interface ValidationContext<Spec> extends ObjectMeta {
  readonly spec: Spec;
  /** A place in the spec; without arguments the spec itself. */
  readonly at: Place['at'];
  /** A place in the metadata. */
  readonly atMetadata: Place['at'];
}

export interface KindDefinition<Spec = unknown> {
  /** Empty for the core kinds of Kubernetes. */
  readonly group: string;
  /** All versions are read alike; the first is the one to write. */
  readonly versions: readonly string[];
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /** Where the described fields stand: under `spec`, or beside `metadata`. */
  readonly specField: 'spec' | 'root';
  readonly schema: Message;
  /** What is read of its status, where Kubernetes writes one; it is not checked. */
  readonly status?: Message;
  /** What the schema can not say. Never throws. */
  validate?(context: ValidationContext<Spec>): Iterable<Finding>;
  /** Fills in what Kubernetes' API server would. */
  default?(spec: Spec): Spec;
}

/** Gives a definition its type. */
export function defineKind<Spec>(definition: KindDefinition<Spec>): KindDefinition<Spec> {
  return definition;
}

export interface ValidatedSpec {
  /** Normalised, with defaults, deep-frozen; absent when an error forbids taking it. */
  readonly spec?: unknown;
  /** Paths begin at the root of the document and have its spelling of keys. */
  readonly findings: readonly Finding[];
}

/** Keys beside `metadata` that are no part of the described fields. */
const ENVELOPE: ReadonlySet<string> = new Set(['apiVersion', 'kind', 'metadata', 'status']);

function withoutEnvelope(raw: unknown): unknown {
  if (!isJsonObject(raw)) return raw;
  return Object.fromEntries(Object.entries(raw).filter(([key]) => !ENVELOPE.has(key)));
}

/**
 * Reads and checks a spec: its structure, then, when that can be read, its meaning. Never throws.
 *
 * @param raw what stands under `spec`, or, for kinds without one, the whole document or what stands beside its metadata
 * @param options.strict refuses unknown fields; those of security policies always are, as a lost one opens a door
 */
export function validateSpec(
  kind: KindDefinition,
  raw: unknown,
  meta: ObjectMeta,
  options: { readonly strict: boolean },
): ValidatedSpec {
  const prefix = kind.specField === 'spec' ? ['spec'] : [];
  const described = kind.specField === 'spec' ? raw : withoutEnvelope(raw);
  const strict = options.strict || kind.group === 'security.istio.io';
  const isMesh = kind.group === 'mesh.istio.io';
  const read = normalized(kind.schema, described, {
    unknownField: strict ? 'error' : 'warning',
    deprecatedField: isMesh ? 'info' : 'warning',
    lastOfGroup: isMesh,
  });
  const structural = read.findings.map((finding) => ({ ...finding, path: [...prefix, ...finding.path] }));
  const findings: Finding[] = [...structural];
  if (kind.schema.style === 'proto') findings.push(...metadataFindings(kind.kind, read.value, meta));
  if (read.value !== undefined && kind.validate !== undefined) {
    const context = { ...meta, spec: read.value, at: placeOf(prefix).at, atMetadata: placeOf(['metadata']).at };
    const document = kind.specField === 'spec' ? { spec: raw } : described;
    findings.push(...unlessRefused(structural, document, kind.validate(context)));
  }
  if (read.value === undefined || findings.some(refuses)) return { findings };
  return { spec: kind.default?.(read.value) ?? read.value, findings };
}

/** Findings with their keys as written, but for those about a value that the schema already refused. */
function* unlessRefused(
  structural: readonly Finding[],
  document: unknown,
  findings: Iterable<Finding>,
): Generator<Finding> {
  const errors = structural.filter(({ severity }) => severity === 'error');
  const refused = new Set(errors.map(({ path }) => JSON.stringify(path)));
  for (const finding of findings) {
    const path = writtenPath(document, finding.path);
    if (!refused.has(JSON.stringify(path))) yield { ...finding, path };
  }
}
