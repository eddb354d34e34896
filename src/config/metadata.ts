import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Labels } from '../base/labels.ts';
import type { Controller } from './config.ts';
import { type Finding, placeOf } from './finding.ts';
import type { KindDefinition, ObjectMeta } from './kind.ts';

/** The metadata of an object, as far as it can be read. */
export interface ReadMetadata extends ObjectMeta {
  readonly controller?: Controller;
  /** Milliseconds since 1970, 0 when the document has none. */
  readonly creationTime: number;
  /** Whether name and namespace are right, so that the object can be told from others. */
  readonly isIdentified: boolean;
  readonly findings: readonly Finding[];
}

const LABEL = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;
/** RFC 3339, the only form that Kubernetes takes. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
const QUALIFIED_NAME = /^(?:[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/**
 * Reads `metadata` as Kubernetes' API server would take it. What it sets itself (uid, managedFields, …) is passed over.
 *
 * @param defaultNamespace of an object that says none
 * @see k8s.io/apimachinery pkg/util/validation/validation.go
 */
export function readMetadata(raw: unknown, kind: KindDefinition, defaultNamespace: string): ReadMetadata {
  const at = placeOf(['metadata']).at;
  if (!isJsonObject(raw)) {
    const isThere = raw !== undefined && raw !== null;
    const needed = isThere ? 'must be a map with a "name"' : 'an object needs "metadata" with a "name"';
    const finding = at().error(needed, 'VM0105');
    return {
      name: '',
      namespace: '',
      labels: {},
      annotations: {},
      creationTime: 0,
      isIdentified: false,
      findings: [finding],
    };
  }
  const findings: Finding[] = [];
  const name = readName(raw['name'], findings);
  const namespace = kind.scope === 'Cluster' ? '' : readNamespace(raw['namespace'], defaultNamespace, findings);
  const isIdentified = findings.every(({ severity }) => severity !== 'error');
  const controller = controllerOf(raw);
  return {
    name,
    namespace,
    isIdentified,
    ...(controller && { controller }),
    labels: readLabels('labels', raw['labels'], kind, findings),
    annotations: readLabels('annotations', raw['annotations'], kind, findings),
    creationTime: readTime(raw['creationTimestamp'], findings),
    findings,
  };
}

/** Of metadata that says that the name was made from a prefix: who made it. */
export function controllerOf({ generateName, ownerReferences }: JsonObject): Controller | undefined {
  if (!generateName || !Array.isArray(ownerReferences)) return undefined;
  const owner = ownerReferences.filter(isJsonObject).find(({ controller }) => controller === true);
  return owner && Object.freeze({ kind: textOf(owner['kind']), name: textOf(owner['name']) });
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function readName(raw: unknown, findings: Finding[]): string {
  const place = placeOf(['metadata', 'name']);
  if (raw === undefined || raw === null || raw === '') {
    findings.push(place.error('an object needs a name: write "name: …" under "metadata"', 'VM0105'));
  } else if (typeof raw === 'boolean' || typeof raw === 'number') {
    const message = `the name is read as the ${typeof raw} ${raw} and becomes "${raw}": put what you mean in quotes`;
    findings.push(place.warning(message, 'VM0104'));
    return String(raw);
  } else if (typeof raw !== 'string') {
    findings.push(place.error(`the name ${notText(raw)}`, 'VM0105'));
  } else if (raw.length > 253 || !SUBDOMAIN.test(raw)) {
    const rule = 'lowercase letters, digits, "-" and ".", at most 253, a letter or digit first and last';
    findings.push(place.error(`"${shortened(raw)}" is no name of an object: use ${rule}`, 'VM0105'));
  } else return raw;
  return '';
}

function readNamespace(raw: unknown, byDefault: string, findings: Finding[]): string {
  const place = placeOf(['metadata', 'namespace']);
  const isOwn = raw !== undefined && raw !== null && raw !== '';
  const namespace = isOwn ? raw : byDefault;
  if (typeof namespace !== 'string') {
    findings.push(place.error(`the namespace ${notText(namespace)}`, 'VM0105'));
    return '';
  }
  if (LABEL.test(namespace)) return namespace;
  const whose = isOwn ? '' : ', of which the object gets its namespace,';
  const message = `"${shortened(namespace)}"${whose} is no namespace: use lowercase letters, digits and "-", at most 63`;
  findings.push(place.error(message, 'VM0105'));
  return '';
}

/**
 * Of Istio's own kinds, numbers and booleans become texts, as in istiod when it reads files; a Pod of Kubernetes is not taken with them.
 *
 * @see sigs.k8s.io/yaml yaml.go `convertToJSONableObject`
 */
function readLabels(
  field: 'labels' | 'annotations',
  raw: unknown,
  { group }: KindDefinition,
  findings: Finding[],
): Labels {
  const place = placeOf(['metadata', field]);
  if (raw === undefined || raw === null) return NONE;
  if (!isJsonObject(raw)) {
    findings.push(place.error(`${field} must be a map of texts: write "name: value" pairs`, 'VM0105'));
    return NONE;
  }
  const labels: Record<string, string> = {};
  for (const [key, value] of Object.entries(raw)) {
    if (typeof value === 'string') {
      labels[key] = value;
      if (field === 'labels' && !isLabel(key, value)) {
        findings.push(place.at(key).warning(`"${key}: ${shortened(value)}" is no label that Kubernetes would take`));
      }
    } else if (group.endsWith('istio.io') && (typeof value === 'number' || typeof value === 'boolean')) {
      labels[key] = String(value);
      const message = `the value is read as the ${typeof value} ${value} and becomes "${value}": put what you mean in quotes`;
      findings.push(place.at(key).warning(message, 'VM0104'));
    } else if (value !== null && value !== undefined) {
      findings.push(place.at(key).error(`the value ${notText(value)}`, 'VM0105'));
    } else labels[key] = '';
  }
  return Object.freeze(labels);
}

const NONE: Labels = Object.freeze({});

function notText(value: unknown): string {
  if (typeof value === 'object') return 'must be a text, not a list or map';
  return `is read as the ${typeof value} ${String(value)}, but must be a text: put it in quotes`;
}

function isLabel(key: string, value: string): boolean {
  return QUALIFIED_NAME.test(key) && value.length <= 63 && LABEL_VALUE.test(value);
}

function readTime(raw: unknown, findings: Finding[]): number {
  if (raw === undefined || raw === null) return 0;
  const time = typeof raw === 'string' && TIME.test(raw) ? Date.parse(raw) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  const message = 'this is no time: write it as "2006-01-02T15:04:05Z", or leave it out';
  findings.push(placeOf(['metadata', 'creationTimestamp']).error(message, 'VM0105'));
  return 0;
}

function shortened(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
