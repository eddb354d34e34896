import { parseCidr } from '../../base/address.ts';
import type { Finding, Place } from '../finding.ts';
import { problem } from './names.ts';

/** Says why a value in a policy is wrong; undefined when it is right. */
export type ValueCheck = (value: string) => string | undefined;

export const nonEmpty: ValueCheck = (value) => (value === '' ? 'a value must not be empty' : undefined);

export const ipBlock: ValueCheck = (value) =>
  parseCidr(value) === undefined ? `"${value}" is neither an IP address nor a block as "10.0.0.0/8"` : undefined;

export const port: ValueCheck = (value) =>
  /^\+?\d{1,10}$/.test(value) && Number(value) <= 65535 ? undefined : `"${value}" is not a port`;

/** A text with at most one wildcard, at either end. */
export const wildcardText: ValueCheck = (value) => {
  const wildcards = value.split('*').length - 1;
  if (wildcards > 1) return `"${value}" has more than one "*"`;
  if (wildcards === 1 && !value.startsWith('*') && !value.endsWith('*')) {
    return `"*" may stand only at the beginning or the end of "${value}"`;
  }
  return nonEmpty(value);
};

export const trustDomain: ValueCheck = (value) =>
  value.includes('/') ? `"${value}" is not a trust domain: it has no "/"` : wildcardText(value);

/** `name` or `namespace/name`. */
export const serviceAccount: ValueCheck = (value) => {
  if (value.includes('*')) return `"${value}": wildcards are not allowed here; "principals" has them`;
  if (value.length > 320) return 'a value can have at most 320 characters';
  return /^[^/]+(?:\/[^/]+)?$/.test(value) ? undefined : `"${value}" must be "name" or "namespace/name"`;
};

const SEGMENT = /^[a-zA-Z0-9\-._~%!$&'()+,;:@=]+$/;

/** A path, which may have the templates `{*}` (one segment) and, last, `{**}` (any number of segments). */
export const path: ValueCheck = (value) => {
  if (value === '') return nonEmpty(value);
  const templated = value.includes('{*}') || value.includes('{**}');
  // Envoy does not refuse such a template: it ends.
  if (templated && (!value.startsWith('/') || value.includes('//'))) {
    return `"${value}" must begin with "/" and have no empty segment, as it has a template`;
  }
  const segments = value.replace(/^\/+|\/+$/g, '').split('/');
  for (const [i, segment] of segments.entries()) {
    const afterRest = segments.slice(0, i).includes('{**}');
    if (segment === '{*}' || segment === '{**}') {
      if (afterRest) return `"{**}" must be the last template of "${value}"`;
    } else if (/[{}]/.test(segment)) {
      return `"${segment}" in "${value}" is not a template: "{*}" and "{**}" are, as whole segments`;
    } else if (templated && !SEGMENT.test(segment)) {
      return `"${segment}" in "${value}" has characters that can not stand beside a template`;
    }
  }
  return undefined;
};

export function* valuesFindings(
  at: Place,
  values: readonly string[] | undefined,
  check: ValueCheck,
): Generator<Finding> {
  for (const [i, value] of (values ?? []).entries()) yield* problem(at.at(i), check(value));
}

/** Attributes with a key in brackets, as `request.headers[x-role]`. */
const KEYED = ['request.headers', 'request.auth.claims', 'experimental.envoy.filters.'];

const ATTRIBUTES: Readonly<Record<string, ValueCheck>> = {
  'source.ip': ipBlock,
  'remote.ip': ipBlock,
  'source.namespace': nonEmpty,
  'source.serviceAccount': serviceAccount,
  'source.principal': nonEmpty,
  'source.trustDomain': wildcardText,
  'request.auth.principal': nonEmpty,
  'request.auth.audiences': nonEmpty,
  'request.auth.presenter': nonEmpty,
  'destination.ip': ipBlock,
  'destination.port': port,
  'connection.sni': nonEmpty,
};

const REPLACED: Readonly<Record<string, string>> = {
  'destination.namespace': 'the namespace of the policy says it',
  'destination.labels': 'the selector of the policy says it',
  'destination.name': 'the selector of the policy says it',
  'destination.user': 'the selector of the policy says it',
};

/** How the values of an attribute are checked, or why there is no such attribute. */
export function attributeCheck(key: string): ValueCheck | { readonly unknown: string } {
  const check = ATTRIBUTES[key];
  if (check !== undefined) return check;
  if (KEYED.some((prefix) => key.startsWith(prefix))) {
    return /^[^[]+\[.+\]$/s.test(key) ? nonEmpty : { unknown: `"${key}" must have the form name[key]` };
  }
  const replaced = Object.entries(REPLACED).find(([name]) => key === name || key.startsWith(`${name}[`));
  if (replaced !== undefined) return { unknown: `"${key}" can not be used: ${replaced[1]}` };
  const known = [...Object.keys(ATTRIBUTES), 'request.headers[name]', 'request.auth.claims[name]'].join(', ');
  return { unknown: `"${key}" is not an attribute: ${known} are` };
}
