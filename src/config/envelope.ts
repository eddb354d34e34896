import type { Severity } from '../base/diagnostic.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { Finding, Path } from './finding.ts';
import type { KindDefinition } from './kind.ts';

const TOP = ['apiVersion', 'kind', 'metadata', 'spec', 'status'] as const;

/** @see k8s.io/apimachinery pkg/apis/meta/v1/types.go `ObjectMeta` */
const METADATA = [
  'name',
  'namespace',
  'labels',
  'annotations',
  'creationTimestamp',
  'generateName',
  'generation',
  'resourceVersion',
  'uid',
  'managedFields',
  'ownerReferences',
  'finalizers',
  'selfLink',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

const KNOWN_TOP: ReadonlySet<string> = new Set(TOP);
const KNOWN_METADATA: ReadonlySet<string> = new Set(METADATA);

/**
 * Keys beside an object's spec, and in its metadata, that no object has: what stands below them would be lost without a word.
 *
 * @param severity as that of unknown fields of a spec
 */
export function* envelopeFindings(raw: JsonObject, kind: KindDefinition, severity: Severity): Generator<Finding> {
  const finding = (path: Path, message: string): Finding => ({ severity, code: 'VM0001', path, message });
  for (const key of Object.keys(raw)) {
    if (KNOWN_TOP.has(key)) continue;
    if (kind.specField === 'spec') yield finding([key], topMessage(key, raw, kind));
    else if (isSlip(key, raw, kind))
      yield finding(
        [key],
        `"${key}" is not a field of ${kind.kind}${meant(key, Object.keys(kind.schema.fields), raw)}`,
      );
  }
  const { metadata } = raw;
  for (const key of isJsonObject(metadata) ? Object.keys(metadata) : []) {
    if (!KNOWN_METADATA.has(key))
      yield finding(['metadata', key], `"${key}" is not a field of metadata${meant(key, METADATA)}`);
  }
}

/** Of kinds of Kubernetes only fields that are read are known: another that is nearly called so was meant to be one. */
function isSlip(key: string, raw: JsonObject, { schema: { fields } }: KindDefinition): boolean {
  if (Object.hasOwn(fields, key)) return false;
  const near = nearestName(key, Object.keys(fields));
  return near !== undefined && !Object.hasOwn(raw, near);
}

function topMessage(key: string, raw: JsonObject, { kind, schema }: KindDefinition): string {
  if (!Object.hasOwn(schema.fields, key)) return `"${key}" is not a field of ${kind}${meant(key, TOP, raw)}`;
  return `"${key}" stands beside the spec, where it has no effect: move it below "spec"`;
}

/** @param taken what stands there already is not what was meant */
function meant(key: string, names: readonly string[], taken: JsonObject = {}): string {
  const near = nearestName(
    key,
    names.filter((name) => !Object.hasOwn(taken, name)),
  );
  return near === undefined ? ': remove it, or move it to where it belongs' : `; did you mean "${near}"?`;
}
