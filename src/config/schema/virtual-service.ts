import { Destination } from './destination.ts';
import { HTTPRetry } from './http-retry.ts';
import {
  bool,
  bounded,
  bytes,
  double,
  duration,
  type Enum,
  enumeration,
  int32,
  list,
  type Message,
  map,
  message,
  one,
  string,
  uint32,
} from './schema.ts';

export const StringMatch: Message = message('StringMatch', '', {
  exact: one(string, '', { oneof: 'matchType' }),
  prefix: one(string, '', { oneof: 'matchType' }),
  regex: one(string, '', { oneof: 'matchType' }),
});

export const HTTPMatchRequest: Message = message('HTTPMatchRequest', '', {
  name: one(string, ''),
  uri: one(StringMatch, ''),
  scheme: one(StringMatch, ''),
  method: one(StringMatch, ''),
  authority: one(StringMatch, ''),
  headers: map(StringMatch, ''),
  port: one(uint32, ''),
  sourceLabels: map(string, ''),
  gateways: list(string, ''),
  queryParams: map(StringMatch, ''),
  ignoreUriCase: one(bool, ''),
  withoutHeaders: map(StringMatch, ''),
  sourceNamespace: one(string, ''),
  statPrefix: one(string, ''),
});

export const HeaderOperations: Message = message('HeaderOperations', '', {
  set: map(string, ''),
  add: map(string, ''),
  remove: list(string, ''),
});

export const Headers: Message = message('Headers', '', {
  request: one(HeaderOperations, ''),
  response: one(HeaderOperations, ''),
});

export const HTTPRouteDestination: Message = message('HTTPRouteDestination', '', {
  destination: one(Destination, '', { required: true }),
  weight: one(int32, ''),
  headers: one(Headers, ''),
});

export const RedirectPortSelection: Enum = enumeration('RedirectPortSelection', '', [
  'FROM_PROTOCOL_DEFAULT',
  'FROM_REQUEST_PORT',
]);

export const HTTPRedirect: Message = message('HTTPRedirect', '', {
  uri: one(string, ''),
  authority: one(string, ''),
  port: one(uint32, '', { oneof: 'redirectPort' }),
  derivePort: one(RedirectPortSelection, '', { oneof: 'redirectPort' }),
  scheme: one(string, ''),
  redirectCode: one(uint32, ''),
  prefixRewrite: one(string, ''),
});

export const HTTPBody: Message = message('HTTPBody', '', {
  string: one(string, '', { oneof: 'specifier' }),
  bytes: one(bytes, '', { oneof: 'specifier' }),
});

export const HTTPDirectResponse: Message = message('HTTPDirectResponse', '', {
  status: one(uint32, '', { required: true }),
  body: one(HTTPBody, ''),
});

export const Delegate: Message = message('Delegate', '', {
  name: one(string, ''),
  namespace: one(string, ''),
});

export const RegexRewrite: Message = message('RegexRewrite', '', {
  match: one(string, ''),
  rewrite: one(string, ''),
});

export const HTTPRewrite: Message = message('HTTPRewrite', '', {
  uri: one(string, ''),
  authority: one(string, ''),
  uriRegexRewrite: one(RegexRewrite, ''),
});

export const Percent: Message = message('Percent', '', {
  value: one(double, ''),
});

export const HTTPFaultInjectionDelay: Message = message('HTTPFaultInjectionDelay', '', {
  percent: one(int32, '', { deprecated: '' }),
  fixedDelay: one(bounded(duration, { min: 1 }), '', { oneof: 'httpDelayType' }),
  exponentialDelay: one(bounded(duration, { min: 1 }), '', { oneof: 'httpDelayType' }),
  percentage: one(Percent, ''),
});

export const HTTPFaultInjectionAbort: Message = message('HTTPFaultInjectionAbort', '', {
  httpStatus: one(int32, '', { oneof: 'errorType' }),
  grpcStatus: one(string, '', { oneof: 'errorType' }),
  http2Error: one(string, '', { oneof: 'errorType' }),
  percentage: one(Percent, ''),
});

export const HTTPFaultInjection: Message = message('HTTPFaultInjection', '', {
  delay: one(HTTPFaultInjectionDelay, ''),
  abort: one(HTTPFaultInjectionAbort, ''),
});

export const HTTPMirrorPolicy: Message = message('HTTPMirrorPolicy', '', {
  destination: one(Destination, '', { required: true }),
  percentage: one(Percent, ''),
});

export const UnmatchedPreflights: Enum = enumeration('UnmatchedPreflights', '', ['UNSPECIFIED', 'FORWARD', 'IGNORE']);

export const CorsPolicy: Message = message('CorsPolicy', '', {
  allowOrigin: list(string, '', { deprecated: '' }),
  allowOrigins: list(StringMatch, ''),
  allowMethods: list(string, ''),
  allowHeaders: list(string, ''),
  exposeHeaders: list(string, ''),
  maxAge: one(bounded(duration, { min: 1 }), ''),
  allowCredentials: one(bool, ''),
  unmatchedPreflights: one(UnmatchedPreflights, ''),
});

export const HTTPRoute: Message = message('HTTPRoute', '', {
  name: one(string, ''),
  match: list(HTTPMatchRequest, ''),
  route: list(HTTPRouteDestination, ''),
  redirect: one(HTTPRedirect, ''),
  directResponse: one(HTTPDirectResponse, ''),
  delegate: one(Delegate, ''),
  rewrite: one(HTTPRewrite, ''),
  timeout: one(bounded(duration, { min: 1 }), ''),
  retries: one(HTTPRetry, ''),
  fault: one(HTTPFaultInjection, ''),
  mirror: one(Destination, ''),
  mirrors: list(HTTPMirrorPolicy, ''),
  mirrorPercent: one(uint32, '', { deprecated: '' }),
  mirrorPercentage: one(Percent, ''),
  corsPolicy: one(CorsPolicy, ''),
  headers: one(Headers, ''),
});

export const TLSMatchAttributes: Message = message('TLSMatchAttributes', '', {
  sniHosts: list(string, '', { required: true }),
  destinationSubnets: list(string, ''),
  port: one(uint32, ''),
  sourceLabels: map(string, ''),
  gateways: list(string, ''),
  sourceNamespace: one(string, ''),
});

export const RouteDestination: Message = message('RouteDestination', '', {
  destination: one(Destination, '', { required: true }),
  weight: one(int32, ''),
});

export const TLSRoute: Message = message('TLSRoute', '', {
  match: list(TLSMatchAttributes, '', { required: true }),
  route: list(RouteDestination, ''),
});

export const L4MatchAttributes: Message = message('L4MatchAttributes', '', {
  destinationSubnets: list(string, ''),
  port: one(uint32, ''),
  sourceSubnet: one(string, ''),
  sourceLabels: map(string, ''),
  gateways: list(string, ''),
  sourceNamespace: one(string, ''),
});

export const TCPRoute: Message = message('TCPRoute', '', {
  match: list(L4MatchAttributes, ''),
  route: list(RouteDestination, ''),
});

export const VirtualService: Message = message('VirtualService', '', {
  hosts: list(string, ''),
  gateways: list(string, ''),
  http: list(HTTPRoute, ''),
  tls: list(TLSRoute, ''),
  tcp: list(TCPRoute, ''),
  exportTo: list(string, ''),
});
