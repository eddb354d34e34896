import type { Labels } from '../../base/labels.ts';
import type { Finding, Place } from '../finding.ts';

const LABEL = '[a-zA-Z0-9](?:[-a-zA-Z0-9]*[a-zA-Z0-9])?';
const DNS_LABEL = new RegExp(`^${LABEL}$`);
const FIRST_LABEL = new RegExp(`^(?:\\*|(?:\\*|\\*-)?${LABEL})$`);
const LABEL_KEY = new RegExp(`^(?:(${LABEL}(?:\\.${LABEL})*)/)?((?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`);
const LABEL_VALUE = /^(?:(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/** A label of a DNS name (RFC 1123), in letters of either case. */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && DNS_LABEL.test(text);
}

function lengthProblem(name: string): string | undefined {
  if (name === '') return 'a host name must not be empty';
  return name.length > 255 ? `the host name "${name.slice(0, 40)}…" is longer than 255 characters` : undefined;
}

/** A host of which more is written than its name: a URL, or an address with a port. */
const URL_LIKE = /^(?:[a-z][a-z0-9+.-]*:\/\/([^/:]+)(?::\d+)?(?:\/.*)?|([^/:]+):\d+)$/i;

/** @param name of which all is shown @param labels of which each is looked at */
function labelsProblem(name: string, labels: readonly string[] = name.split('.')): string | undefined {
  const last = labels.at(-1) ?? '';
  if (/^[+-]?\d+$/.test(last)) return `"${name}" is not a host name: its last label is a number`;
  for (const [i, label] of labels.entries()) {
    if (i === labels.length - 1 && label === '') return undefined;
    if (!isDnsLabel(label)) {
      return `"${name}" is not a host name: the label "${label}" must be letters, digits and inner hyphens`;
    }
  }
  return undefined;
}

/** Why a text is no host name without wildcard; undefined when it is one. @see istio/istio pkg/config/validation/agent `ValidateFQDN` */
export function hostProblem(name: string): string | undefined {
  return lengthProblem(name) ?? moreThanName(name, hostProblem) ?? labelsProblem(name);
}

function moreThanName(name: string, problemOf: typeof hostProblem): string | undefined {
  const [, ofUrl, ofAddress] = URL_LIKE.exec(name) ?? [];
  const host = ofUrl ?? ofAddress;
  if (host === undefined || problemOf(host) !== undefined) return undefined;
  return `"${name}" is not a host name: write "${host}" alone`;
}

/** Why a text is no host name that may begin with a wildcard; undefined when it is one. */
export function wildcardHostProblem(name: string): string | undefined {
  const other = lengthProblem(name) ?? moreThanName(name, wildcardHostProblem);
  if (other !== undefined) return other;
  const [first = '', ...rest] = name.split('.');
  if (first.length > 63 || !FIRST_LABEL.test(first)) {
    return `"${name}" is not a host name: "${first}" must be a label of a DNS name or begin with "*"`;
  }
  return rest.length === 0 ? undefined : labelsProblem(name, rest);
}

/**
 * Why a text is no host of a VirtualService at a gateway: a host name, or, where server names decide, one of the names by which
 * an AUTO_PASSTHROUGH gateway tells clusters, `outbound_.80_._.host`.
 */
export function gatewayHostProblem(name: string, bySni: boolean): string | undefined {
  if (!bySni || !name.startsWith('outbound_')) return wildcardHostProblem(name);
  const [, port = '', , host = ''] = name.split('_');
  if (/[0-9]/.test(port) && /[a-zA-Z]/.test(host)) return undefined;
  return `"${name}" is not a server name of the form outbound_.<port>_._.<host>`;
}

/** Whether a wildcard covers only a part of a label, as `*-a.example.com` does. */
export function isPartialWildcard(name: string): boolean {
  return name.includes('*') && name.length > 1 && !name.startsWith('*.');
}

export function partialWildcardProblem(name: string): string | undefined {
  return isPartialWildcard(name) ? `the wildcard of "${name}" must stand for whole labels: write "*."` : undefined;
}

/** Keys and values of labels. @see istio/istio pkg/config/labels/instance.go `Validate` */
export function* labelFindings(at: Place, labels: Labels | undefined): Generator<Finding> {
  for (const [key, value] of Object.entries(labels ?? {})) {
    const [, prefix = '', name = ''] = LABEL_KEY.exec(key) ?? [];
    if (name === '' || name.length > 63 || prefix.length > 253) {
      yield at.at(key).error(`"${key}" is not the key of a label: write [domain/]name, up to 63 characters`);
    }
    if (!LABEL_VALUE.test(value)) {
      yield at.at(key).error(`"${value}" is not the value of a label: letters, digits and inner "-", "_", "." are`);
    }
  }
}

/** A finding when a check says why the value is wrong. */
export function* problem(
  at: Place,
  message: string | undefined,
  severity: 'error' | 'warning' = 'error',
): Generator<Finding> {
  if (message !== undefined) yield at[severity](message);
}
