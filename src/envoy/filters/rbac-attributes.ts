import type { envoy } from '#generated/proto/types.ts';
import { cidrBlock } from '../../base/cidr.ts';
import {
  ANY_TEXT,
  claimContains,
  claimText,
  filterMetadata,
  headerMatcher,
  quoteRegex,
  textMatcher,
} from './rbac-matchers.ts';

export type Permission = envoy.config.rbac.v3.Permission;
export type Principal = envoy.config.rbac.v3.Principal;
type StringMatcher = envoy.type.matcher.v3.StringMatcher;
type CidrRange = envoy.config.core.v3.CidrRange;

/** Where a rule is enforced, and for whom it was written. */
export interface RuleContext {
  /** On a TCP connection nothing of HTTP can be looked at. */
  readonly tcp: boolean;
  /** Of the policy: a service account without a namespace is of this one. */
  readonly namespace: string;
}

/** What the values of one attribute become. Undefined: the attribute cannot be looked at here, or a value is malformed. */
export type AttributeMatcher<T> =
  | { readonly each: (value: string, context: RuleContext) => T | undefined }
  | { readonly all: (values: readonly string[], context: RuleContext) => T | undefined };

const httpOnly = <T>(context: RuleContext, matcher: () => T | undefined): T | undefined =>
  context.tcp ? undefined : matcher();

function cidrRange(text: string): CidrRange | undefined {
  const block = cidrBlock(text);
  return block === undefined ? undefined : { addressPrefix: block.address, prefixLen: block.prefixLength };
}

function port(text: string): number | undefined {
  return /^\d+$/.test(text) && Number(text) <= 65535 ? Number(text) : undefined;
}

function path(value: string): Permission {
  if (!value.includes('{*}') && !value.includes('{**}')) return { urlPath: { path: textMatcher(value) } };
  const pathTemplate = value.replaceAll('{*}', '*').replaceAll('{**}', '**');
  const type = 'type.googleapis.com/envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig';
  return { uriTemplate: { name: 'uri-template', typedConfig: { '@type': type, pathTemplate } } };
}

export const hosts: AttributeMatcher<Permission> = {
  each: (value, context) => httpOnly(context, () => ({ header: headerMatcher(':authority', value, true) })),
};
export const methods: AttributeMatcher<Permission> = {
  each: (value, context) => httpOnly(context, () => ({ header: headerMatcher(':method', value) })),
};
export const paths: AttributeMatcher<Permission> = {
  each: (value, context) => httpOnly(context, () => path(value)),
};
export const ports: AttributeMatcher<Permission> = {
  each: (value) => {
    const destinationPort = port(value);
    return destinationPort === undefined ? undefined : { destinationPort };
  },
};
const destinationIps: AttributeMatcher<Permission> = {
  each: (value) => {
    const destinationIp = cidrRange(value);
    return destinationIp === undefined ? undefined : { destinationIp };
  },
};
const serverNames: AttributeMatcher<Permission> = {
  each: (value) => ({ requestedServerName: textMatcher(value) }),
};

function authenticated(principalName: StringMatcher): Principal {
  return { authenticated: { principalName } };
}

/** `*` in a namespace stands for any text, wherever it is. */
function namespaceIdentity(value: string): StringMatcher {
  return { safeRegex: { regex: `.*/ns/${value.split('*').map(quoteRegex).join('.*')}/.*` } };
}

/** A service account's SPIFFE URI, which may hold more pairs beside namespace and account. */
function serviceAccountIdentity(value: string, { namespace }: RuleContext): StringMatcher {
  const slash = value.indexOf('/');
  const [of, account] = slash < 0 ? [namespace, value] : [value.slice(0, slash), value.slice(slash + 1)];
  return { safeRegex: { regex: `spiffe://.+/ns/${quoteRegex(of)}/(.+/|)sa/${quoteRegex(account)}(/.+)?` } };
}

function trustDomainIdentity(value: string): StringMatcher {
  if (value === '*') return { prefix: 'spiffe://' };
  if (!value.includes('*')) return { prefix: `spiffe://${value}/` };
  const star = value.indexOf('*');
  const domain = `${quoteRegex(value.slice(0, star))}[^/]*${quoteRegex(value.slice(star + 1))}`;
  return { safeRegex: { regex: `spiffe://${domain}/.*` } };
}

/** `issuer/subject` of a token; either may be `*` or have one at its outer end. The issuer may hold slashes. */
function requestPrincipal(value: string): Principal {
  const slash = value.lastIndexOf('/');
  const issuer = slash < 0 ? value : value.slice(0, slash);
  const subject = slash < 0 ? '' : value.slice(slash + 1);
  const [iss, sub] = tokenMatchers(value, issuer, subject, slash >= 0);
  return { andIds: { ids: [{ metadata: claimText('iss', iss) }, { metadata: claimText('sub', sub) }] } };
}

function tokenMatchers(
  value: string,
  issuer: string,
  subject: string,
  both: boolean,
): readonly [issuer: StringMatcher, subject: StringMatcher] {
  if (value === '*') return [ANY_TEXT, ANY_TEXT];
  if (value.startsWith('*')) return both ? [textMatcher(issuer), { exact: subject }] : [ANY_TEXT, textMatcher(value)];
  if (value.endsWith('*')) return both ? [{ exact: issuer }, textMatcher(subject)] : [textMatcher(value), ANY_TEXT];
  return [{ exact: issuer }, { exact: subject }];
}

export const principals: AttributeMatcher<Principal> = {
  each: (value) => authenticated(textMatcher(value, 'spiffe://')),
};
export const requestPrincipals: AttributeMatcher<Principal> = {
  all: (values, context) =>
    httpOnly(context, () => {
      const ids = values.map(requestPrincipal);
      return ids.length === 1 ? ids[0] : { orIds: { ids } };
    }),
};
export const serviceAccounts: AttributeMatcher<Principal> = {
  each: (value, context) => authenticated(serviceAccountIdentity(value, context)),
};
export const trustDomains: AttributeMatcher<Principal> = { each: (value) => authenticated(trustDomainIdentity(value)) };
export const namespaces: AttributeMatcher<Principal> = { each: (value) => authenticated(namespaceIdentity(value)) };
export const ipBlocks: AttributeMatcher<Principal> = {
  each: (value) => {
    const directRemoteIp = cidrRange(value);
    return directRemoteIp === undefined ? undefined : { directRemoteIp };
  },
};
export const remoteIpBlocks: AttributeMatcher<Principal> = {
  each: (value) => {
    const remoteIp = cidrRange(value);
    return remoteIp === undefined ? undefined : { remoteIp };
  },
};

function claims(names: readonly string[] | undefined): AttributeMatcher<Principal> {
  return {
    all: (values, context) =>
      httpOnly(context, () => (names === undefined ? undefined : { metadata: claimContains(names, values) })),
  };
}

function inBrackets(text: string): string | undefined {
  return text.startsWith('[') && text.endsWith(']') && text.length >= 2 ? text.slice(1, -1) : undefined;
}

/** `[a][b]` names claim b inside a; what has no such form but is in brackets is one name. */
function claimNames(text: string): readonly string[] | undefined {
  if (/^(\[[^[\]]*\])+$/.test(text)) return text.slice(1, -1).split('][');
  const name = inBrackets(text);
  return name === undefined ? undefined : [name];
}

function requestHeader(name: string | undefined): AttributeMatcher<Principal> {
  return {
    each: (value, context) =>
      httpOnly(context, () => (name === undefined ? undefined : { header: headerMatcher(name, value) })),
  };
}

/** What a condition's `key` looks at: at the request or at its sender. Undefined for an unknown key. */
export function conditionAttribute(
  key: string,
):
  | { readonly permission: AttributeMatcher<Permission> }
  | { readonly principal: AttributeMatcher<Principal> }
  | undefined {
  switch (key) {
    case 'destination.ip':
      return { permission: destinationIps };
    case 'destination.port':
      return { permission: ports };
    case 'connection.sni':
      return { permission: serverNames };
    case 'source.ip':
      return { principal: ipBlocks };
    case 'remote.ip':
      return { principal: remoteIpBlocks };
    case 'source.namespace':
      return { principal: namespaces };
    case 'source.trustDomain':
      return { principal: trustDomains };
    case 'source.serviceAccount':
      return { principal: serviceAccounts };
    case 'source.principal':
      return { principal: principals };
    case 'request.auth.principal':
      return { principal: requestPrincipals };
    case 'request.auth.audiences':
      return { principal: claims(['aud']) };
    case 'request.auth.presenter':
      return { principal: claims(['azp']) };
    default:
      return namedConditionAttribute(key);
  }
}

function namedConditionAttribute(key: string): ReturnType<typeof conditionAttribute> {
  const rest = (prefix: string) => key.slice(prefix.length);
  if (key.startsWith('experimental.envoy.filters.')) {
    return { permission: { all: (values) => fromMetadata(key, values) } };
  }
  if (key.startsWith('request.headers')) return { principal: requestHeader(inBrackets(rest('request.headers'))) };
  if (key.startsWith('request.auth.claims')) return { principal: claims(claimNames(rest('request.auth.claims'))) };
  return undefined;
}

function fromMetadata(key: string, values: readonly string[]): Permission | undefined {
  const metadata = filterMetadata(key, values);
  return metadata === undefined ? undefined : { metadata };
}
