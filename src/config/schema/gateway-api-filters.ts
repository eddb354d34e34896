import {
  BackendObjectReference,
  LocalObjectReference,
  PORT_NUMBER,
  PRECISE_HOSTNAME,
} from './gateway-api-references.ts';
import {
  bool,
  bounded,
  crdObject,
  type Enum,
  enumeration,
  int32,
  int64,
  list,
  type Message,
  one,
  type Scalar,
  string,
  unserved,
} from './schema.ts';

export const HEADER_NAME: Scalar = bounded(string, {
  minLength: 1,
  maxLength: 256,
  pattern: "^[A-Za-z0-9!#$%&'*+\\-.^_\\x60|~]+$",
});
export const HEADER_VALUE: Scalar = bounded(string, {
  minLength: 1,
  maxLength: 4096,
  pattern: '^[!-~]+([\\t ]?[!-~]+)*$',
});
const ORIGIN: Scalar = bounded(string, {
  minLength: 1,
  maxLength: 253,
  pattern: '(^\\*$)|(^(http(s)?):\\/\\/(((\\*\\.)?([a-zA-Z0-9\\-]+\\.)*[a-zA-Z0-9-]+|\\*)(:([0-9]{1,5}))?)$)',
});
const AUTH_PATH: Scalar = bounded(string, {
  maxLength: 1024,
  pattern: "^(?:[-A-Za-z0-9/._~!$&'()*+,;=:@]|[%][0-9a-fA-F]{2})+$",
});

export const RouteHeader: Message = crdObject('RouteHeader', 'A header.', {
  name: one(HEADER_NAME, 'Its name, in letters of either case.', { required: true }),
  value: one(HEADER_VALUE, 'Its value.', { required: true }),
});

export const HeaderModifier: Message = crdObject('HeaderModifier', 'Changes of headers.', {
  set: list(RouteHeader, 'Headers that replace what is there.', { maxItems: 16 }),
  add: list(RouteHeader, 'Headers that are put beside what is there.', { maxItems: 16 }),
  remove: list(string, 'Names of headers that are taken away.', { maxItems: 16 }),
});

export const PathModifierType: Enum = enumeration('PathModifierType', 'What of a path is replaced.', [
  'ReplaceFullPath',
  'ReplacePrefixMatch',
]);

export const PathModifier: Message = crdObject('PathModifier', 'A change of the path.', {
  type: one(PathModifierType, 'What is replaced.', { required: true }),
  replaceFullPath: one(bounded(string, { maxLength: 1024 }), 'The whole path.'),
  replacePrefixMatch: one(bounded(string, { maxLength: 1024 }), 'The prefix by which the rule matched.'),
});

export const RedirectScheme: Enum = enumeration('RedirectScheme', 'Scheme of a redirection.', ['http', 'https']);

export const RequestRedirect: Message = crdObject('RequestRedirect', 'The request is answered with a redirection.', {
  scheme: one(RedirectScheme, "Default: the request's."),
  hostname: one(PRECISE_HOSTNAME, "Default: the request's."),
  path: one(PathModifier, "Default: the request's."),
  port: one(PORT_NUMBER, "Default: that of the scheme, or the listener's where no scheme is given."),
  statusCode: one(int32, '301, 302, 303, 307 or 308.', { default: 302 }),
});

export const UrlRewrite: Message = crdObject('UrlRewrite', 'Host and path with which the request is forwarded.', {
  hostname: one(PRECISE_HOSTNAME, 'Host.'),
  path: one(PathModifier, 'Path.'),
});

export const MirrorFraction: Message = crdObject('MirrorFraction', 'A share of the requests.', {
  numerator: one(bounded(int32, { min: 0 }), 'Of so many …', { required: true }),
  denominator: one(bounded(int32, { min: 1 }), '… in so many.', { default: 100 }),
});

export const RequestMirror: Message = crdObject('RequestMirror', 'A copy of requests goes elsewhere.', {
  backendRef: one(BackendObjectReference, 'Where to.', { required: true }),
  percent: one(bounded(int32, { min: 0, max: 100 }), 'How many. Default: all.'),
  fraction: one(MirrorFraction, 'How many, more finely.'),
});

/** Of HTTP, as the Gateway API knows them. */
export const METHODS: readonly string[] = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'CONNECT',
  'OPTIONS',
  'TRACE',
  'PATCH',
];

export const CorsMethod: Enum = enumeration('CorsMethod', 'A method.', [...METHODS, '*']);

export const CorsFilter: Message = crdObject('CorsFilter', 'What pages of other origins may ask.', {
  allowOrigins: list(ORIGIN, 'Origins, with `*` for any part of a host.', { maxItems: 64 }),
  allowCredentials: one(bool, 'Whether cookies are sent.'),
  allowMethods: list(CorsMethod, 'Methods.', { maxItems: 9 }),
  allowHeaders: list(HEADER_NAME, 'Headers of requests.', { maxItems: 64 }),
  exposeHeaders: list(HEADER_NAME, 'Headers of answers that pages may read.', { maxItems: 64 }),
  maxAge: one(bounded(int32, { min: 1 }), 'Seconds for which browsers keep the answer.', { default: 5 }),
});

export const AuthProtocol: Enum = enumeration('AuthProtocol', 'How an authorizer is asked.', ['HTTP', 'GRPC']);

export const GrpcAuth: Message = crdObject('GrpcAuth', 'Over gRPC.', {
  allowedHeaders: list(string, 'Headers that it is told of.', { maxItems: 64 }),
});

export const HttpAuth: Message = crdObject('HttpAuth', 'Over HTTP.', {
  path: one(AUTH_PATH, 'Prefix of the path.'),
  allowedHeaders: list(string, 'Headers that it is told of.', { maxItems: 64 }),
  allowedResponseHeaders: list(string, 'Headers of its answer that are passed on.', { maxItems: 64 }),
});

export const ForwardBody: Message = crdObject('ForwardBody', 'The body of requests.', {
  maxSize: one(int64, 'So many bytes of it.'),
});

export const ExternalAuth: Message = crdObject('ExternalAuth', 'Somebody else decides on requests.', {
  protocol: one(AuthProtocol, 'How it is asked.', { required: true }),
  backendRef: one(BackendObjectReference, 'Who.', { required: true }),
  grpc: one(GrpcAuth, 'Over gRPC.'),
  http: one(HttpAuth, 'Over HTTP.'),
  forwardBody: one(ForwardBody, 'The body, too.'),
});

export const HttpFilterType: Enum = enumeration('HttpFilterType', 'What a filter does.', [
  'RequestHeaderModifier',
  'ResponseHeaderModifier',
  'RequestMirror',
  'RequestRedirect',
  'URLRewrite',
  'CORS',
  'ExtensionRef',
  'ExternalAuth',
]);

export const HttpFilter: Message = crdObject('HttpFilter', 'Something that is done with requests or answers.', {
  type: one(HttpFilterType, 'What; its settings stand in the field of this name.', { required: true }),
  requestHeaderModifier: one(HeaderModifier, 'Changes headers of the request.'),
  responseHeaderModifier: one(HeaderModifier, 'Changes headers of the answer.'),
  requestMirror: one(RequestMirror, 'Sends a copy elsewhere.'),
  requestRedirect: one(RequestRedirect, 'Answers with a redirection.'),
  urlRewrite: one(UrlRewrite, 'Changes host and path.'),
  cors: one(CorsFilter, 'Lets pages of other origins ask.'),
  extensionRef: unserved(one(LocalObjectReference, 'A filter of somebody else.'), 'there are no filters of others'),
  externalAuth: unserved(
    one(ExternalAuth, 'Somebody else decides.'),
    'write an AuthorizationPolicy with action CUSTOM',
  ),
});

export const GrpcFilterType: Enum = enumeration('GrpcFilterType', 'What a filter does.', [
  'RequestHeaderModifier',
  'ResponseHeaderModifier',
  'RequestMirror',
  'ExtensionRef',
]);

export const GrpcFilter: Message = crdObject('GrpcFilter', 'Something that is done with calls or answers.', {
  type: one(GrpcFilterType, 'What; its settings stand in the field of this name.', { required: true }),
  requestHeaderModifier: one(HeaderModifier, 'Changes metadata of the call.'),
  responseHeaderModifier: one(HeaderModifier, 'Changes metadata of the answer.'),
  requestMirror: one(RequestMirror, 'Sends a copy elsewhere.'),
  extensionRef: unserved(one(LocalObjectReference, 'A filter of somebody else.'), 'there are no filters of others'),
});
