import { GrpcFilter, HEADER_NAME, HEADER_VALUE, HttpFilter, METHODS } from './gateway-api-filters.ts';
import {
  BACKEND_FIELDS,
  BackendRef,
  DefaultScope,
  GATEWAY_DURATION,
  HOSTNAME,
  ParentReference,
  SECTION,
  WEIGHT,
} from './gateway-api-references.ts';
import {
  bounded,
  crdObject,
  type Enum,
  enumeration,
  type Field,
  ignored,
  int32,
  int64,
  list,
  type Message,
  one,
  string,
} from './schema.ts';

const MAX_RULES = 16;

const COMMON: Readonly<Record<'parentRefs' | 'useDefaultGateways', Field>> = {
  parentRefs: list(ParentReference, 'Gateways whose listeners it is for, or Services whose clients.', {
    maxItems: 32,
  }),
  useDefaultGateways: ignored(one(DefaultScope, 'Whether default Gateways are parents, too.'), 'name the parents'),
};

const HOSTNAMES: Field = list(HOSTNAME, "Hosts of the requests. Default: the listener's.", { maxItems: 16 });
const RULE_NAME: Field = one(SECTION, 'Name of the rule, by which its traffic is counted.');

export const HttpPathType: Enum = enumeration('HttpPathType', 'How a path is compared.', [
  'Exact',
  'PathPrefix',
  'RegularExpression',
]);

export const ValueMatchType: Enum = enumeration('ValueMatchType', 'How a value is compared.', [
  'Exact',
  'RegularExpression',
]);

export const HttpPathMatch: Message = crdObject('HttpPathMatch', 'The path of a request.', {
  type: one(HttpPathType, 'How it is compared; a prefix counts whole segments.', { default: 'PathPrefix' }),
  value: one(bounded(string, { maxLength: 1024 }), 'With what.', { default: '/' }),
});

export const HttpHeaderMatch: Message = crdObject('HttpHeaderMatch', 'A header of a request.', {
  type: one(ValueMatchType, 'How it is compared.', { default: 'Exact' }),
  name: one(HEADER_NAME, 'Name of the header.', { required: true }),
  value: one(HEADER_VALUE, 'With what.', { required: true }),
});

export const HttpQueryMatch: Message = crdObject('HttpQueryMatch', 'A query parameter of a request.', {
  type: one(ValueMatchType, 'How it is compared.', { default: 'Exact' }),
  name: one(HEADER_NAME, 'Name of the parameter.', { required: true }),
  value: one(bounded(string, { minLength: 1, maxLength: 1024 }), 'With what.', { required: true }),
});

export const HttpMethod: Enum = enumeration('HttpMethod', 'A method.', METHODS);

export const HttpMatch: Message = crdObject('HttpMatch', 'Conditions on a request, all of which must hold.', {
  path: one(HttpPathMatch, 'Path.', { filled: true }),
  headers: list(HttpHeaderMatch, 'Headers.', { maxItems: 16 }),
  queryParams: list(HttpQueryMatch, 'Query parameters.', { maxItems: 16 }),
  method: one(HttpMethod, 'Method.'),
});

export const RouteTimeouts: Message = crdObject(
  'RouteTimeouts',
  'How long things may take. `0s`: as long as they do.',
  {
    request: one(GATEWAY_DURATION, 'The whole request.'),
    backendRequest: one(GATEWAY_DURATION, 'One try.'),
  },
);

export const RouteRetry: Message = crdObject('RouteRetry', 'When and how often a request is tried again.', {
  codes: list(bounded(int32, { min: 400, max: 599 }), 'Also on these answers.'),
  attempts: one(bounded(int64, { min: 1 }), 'How often. Default 2.'),
  backoff: one(GATEWAY_DURATION, 'How long to wait before the first retry.'),
});

export const SessionType: Enum = enumeration('SessionType', 'By what a session is known.', ['Cookie', 'Header']);
export const CookieLifetime: Enum = enumeration('CookieLifetime', 'How long a cookie lives.', ['Permanent', 'Session']);

export const SessionCookie: Message = crdObject('SessionCookie', 'The cookie of a session.', {
  lifetimeType: one(CookieLifetime, 'How long it lives.', { default: 'Session' }),
});

export const RouteSession: Message = crdObject('RouteSession', 'Sessions stay with a backend.', {
  sessionName: one(bounded(string, { maxLength: 128 }), 'Name of the cookie or header.'),
  type: one(SessionType, 'By what it is known.', { default: 'Cookie' }),
  absoluteTimeout: one(GATEWAY_DURATION, 'How long it lasts.'),
  cookieConfig: one(SessionCookie, 'Its cookie.'),
});

export const HttpBackendRef: Message = crdObject('HttpBackendRef', 'Where requests go.', {
  ...BACKEND_FIELDS,
  weight: WEIGHT,
  filters: list(HttpFilter, 'Changes of headers for this backend alone.', { maxItems: 16 }),
});

export const KubeHttpRule: Message = crdObject('KubeHttpRule', 'A rule for HTTP requests.', {
  name: RULE_NAME,
  matches: list(HttpMatch, 'Requests that it is for; one of them must match. Default: all.', { maxItems: 64 }),
  filters: list(HttpFilter, 'What is done with them.', { maxItems: 16 }),
  backendRefs: list(HttpBackendRef, 'Where they go; without any the answer is 500.', { maxItems: 16 }),
  timeouts: one(RouteTimeouts, 'How long they may take.'),
  retry: one(RouteRetry, 'When they are tried again.'),
  sessionPersistence: ignored(
    one(RouteSession, 'Sessions stay with a backend.'),
    'let a DestinationRule spread requests by a cookie or header',
  ),
});

export const KubeHttpRoute: Message = crdObject('KubeHttpRoute', 'Rules for HTTP requests.', {
  ...COMMON,
  hostnames: HOSTNAMES,
  rules: list(KubeHttpRule, 'The rules; the most specific match decides.', { minItems: 1, maxItems: MAX_RULES }),
});

export const GrpcHeaderMatch: Message = crdObject('GrpcHeaderMatch', 'Metadata of a call.', {
  type: one(ValueMatchType, 'How it is compared.', { default: 'Exact' }),
  name: one(HEADER_NAME, 'Name.', { required: true }),
  value: one(bounded(string, { minLength: 1, maxLength: 4096 }), 'With what.', { required: true }),
});

export const GrpcMethodMatch: Message = crdObject('GrpcMethodMatch', 'What is called.', {
  type: one(ValueMatchType, 'How it is compared.', { default: 'Exact' }),
  service: one(bounded(string, { maxLength: 1024 }), 'The service, with its package.'),
  method: one(bounded(string, { maxLength: 1024 }), 'The method.'),
});

export const GrpcMatch: Message = crdObject('GrpcMatch', 'Conditions on a call, all of which must hold.', {
  method: one(GrpcMethodMatch, 'What is called.'),
  headers: list(GrpcHeaderMatch, 'Metadata.', { maxItems: 16 }),
});

export const GrpcBackendRef: Message = crdObject('GrpcBackendRef', 'Where calls go.', {
  ...BACKEND_FIELDS,
  weight: WEIGHT,
  filters: list(GrpcFilter, 'Changes of metadata for this backend alone.', { maxItems: 16 }),
});

export const KubeGrpcRule: Message = crdObject('KubeGrpcRule', 'A rule for gRPC calls.', {
  name: RULE_NAME,
  matches: list(GrpcMatch, 'Calls that it is for; one of them must match. Default: all.', { maxItems: 64 }),
  filters: list(GrpcFilter, 'What is done with them.', { maxItems: 16 }),
  backendRefs: list(GrpcBackendRef, 'Where they go.', { maxItems: 16 }),
  sessionPersistence: ignored(
    one(RouteSession, 'Sessions stay with a backend.'),
    'let a DestinationRule spread requests by a cookie or header',
  ),
});

export const KubeGrpcRoute: Message = crdObject('KubeGrpcRoute', 'Rules for gRPC calls.', {
  ...COMMON,
  hostnames: HOSTNAMES,
  rules: list(KubeGrpcRule, 'The rules; the most specific match decides.', { maxItems: MAX_RULES }),
});

export const KubeConnectionRule: Message = crdObject('KubeConnectionRule', 'A rule for connections.', {
  name: RULE_NAME,
  backendRefs: list(BackendRef, 'Where they go.', { required: true, minItems: 1, maxItems: 16 }),
});

const CONNECTION_RULES: Field = list(KubeConnectionRule, 'The rules; the first one counts.', {
  required: true,
  minItems: 1,
  maxItems: MAX_RULES,
});

export const KubeTlsRoute: Message = crdObject('KubeTlsRoute', 'Where TLS connections go, by the name asked for.', {
  ...COMMON,
  hostnames: list(HOSTNAME, "Names that clients ask for. Default: the listener's.", { maxItems: 1024 }),
  rules: CONNECTION_RULES,
});

export const KubeTcpRoute: Message = crdObject('KubeTcpRoute', 'Where TCP connections go.', {
  ...COMMON,
  rules: CONNECTION_RULES,
});
