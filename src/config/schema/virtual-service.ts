import { Destination } from './destination.ts';
import { HTTPRetry } from './http-retry.ts';
import { NOT_IN_ISTIO } from './ignored.ts';
import {
  bool,
  bounded,
  bytes,
  double,
  duration,
  type Enum,
  enumeration,
  ignored,
  int32,
  list,
  type Message,
  map,
  message,
  one,
  refused,
  string,
  uint32,
} from './schema.ts';

export const StringMatch: Message = message('StringMatch', 'A condition on a text.', {
  exact: one(string, 'It is equal.', { oneof: 'matchType' }),
  prefix: one(string, 'It begins so.', { oneof: 'matchType' }),
  regex: one(string, 'It matches as a whole (RE2).', { oneof: 'matchType' }),
});

export const HTTPMatchRequest: Message = message(
  'HTTPMatchRequest',
  'Conditions on a request, all of which must hold.',
  {
    name: one(string, "A name for it, which appears in the route's name."),
    uri: one(StringMatch, 'Its path, without the query.'),
    scheme: one(StringMatch, 'Its scheme.'),
    method: one(StringMatch, 'Its method.'),
    authority: one(StringMatch, 'Its host.'),
    headers: map(StringMatch, 'Headers, by their lower-case name. An empty condition: it is present.'),
    port: one(bounded(uint32, { min: 0, max: 65535 }), 'Port that it was sent to.'),
    sourceLabels: map(string, 'Labels of the client workload.'),
    gateways: list(string, 'Gateways that it came through, instead of those of the whole object.'),
    queryParams: map(StringMatch, 'Query parameters, by name. An empty condition: it is present.'),
    ignoreUriCase: one(bool, 'Compare the path without regard to case.'),
    withoutHeaders: map(StringMatch, 'Headers that must not match. An empty condition: it is absent.'),
    sourceNamespace: one(string, 'Namespace of the client workload.'),
    statPrefix: one(string, "Prefix of the route's own statistics."),
  },
);

export const HeaderOperations: Message = message('HeaderOperations', 'Changes to headers.', {
  set: map(string, 'Headers that replace those of the same name.'),
  add: map(string, 'Headers that are added.'),
  remove: list(string, 'Headers that are removed.'),
});

export const Headers: Message = message('Headers', 'Changes to headers.', {
  request: one(HeaderOperations, 'Of the request, before it goes on.'),
  response: one(HeaderOperations, 'Of the response, before it goes back.'),
});

export const HTTPRouteDestination: Message = message('HTTPRouteDestination', 'Where some of the requests go.', {
  destination: one(Destination, 'The service.', { required: true }),
  weight: one(bounded(int32, { min: 0 }), 'Share of the requests: this weight of the sum of all.'),
  headers: one(Headers, 'Changes to headers.'),
});

export const RedirectPortSelection: Enum = enumeration('RedirectPortSelection', 'Port of a redirect.', [
  'FROM_PROTOCOL_DEFAULT',
  'FROM_REQUEST_PORT',
]);

export const HTTPRedirect: Message = message('HTTPRedirect', 'The client is sent elsewhere.', {
  uri: one(string, 'The new path.'),
  authority: one(string, 'The new host.'),
  port: one(bounded(uint32, { min: 0, max: 65535 }), 'The new port.', { oneof: 'redirectPort' }),
  derivePort: one(RedirectPortSelection, 'How the port is chosen.', { oneof: 'redirectPort' }),
  scheme: one(string, '`http` or `https`.'),
  redirectCode: one(uint32, 'HTTP status. Default 301.'),
  prefixRewrite: one(string, 'What replaces the matched prefix of the path.'),
});

export const HTTPBody: Message = message('HTTPBody', 'A body.', {
  string: one(string, 'As text.', { oneof: 'specifier' }),
  bytes: one(bytes, 'As bytes in base64.', { oneof: 'specifier' }),
});

export const HTTPDirectResponse: Message = message('HTTPDirectResponse', 'The proxy answers by itself.', {
  status: one(bounded(uint32, { min: 200, max: 600 }), 'HTTP status.', { required: true }),
  body: one(HTTPBody, 'The body.'),
});

export const Delegate: Message = message('Delegate', 'Another VirtualService whose rules take the place of this one.', {
  name: one(string, 'Its name.'),
  namespace: one(string, 'Its namespace. Default: the same.'),
});

export const RegexRewrite: Message = message('RegexRewrite', 'A rewrite by an expression.', {
  match: one(string, 'RE2 expression for a part of the path.'),
  rewrite: one(string, 'What replaces it; `\\1` and so on are its groups.'),
});

export const HTTPRewrite: Message = message('HTTPRewrite', 'The request is changed before it goes on.', {
  uri: one(string, 'What replaces the matched path, or its matched prefix.'),
  authority: one(string, 'The new host.'),
  uriRegexRewrite: one(RegexRewrite, 'A rewrite of the path by an expression.'),
});

export const Percent: Message = message('Percent', 'A percentage.', {
  value: one(bounded(double, { min: 0, max: 100 }), 'Between 0 and 100.'),
});

export const HTTPFaultInjectionDelay: Message = message('HTTPFaultInjectionDelay', 'Requests are held back.', {
  percent: one(int32, 'Percentage of requests.', { deprecated: 'write `percentage`.' }),
  fixedDelay: one(bounded(duration, { min: 1 }), 'For how long.', { oneof: 'httpDelayType' }),
  exponentialDelay: refused(
    one(bounded(duration, { min: 1 }), 'Not supported.', { oneof: 'httpDelayType' }),
    'write fixedDelay',
  ),
  percentage: one(Percent, 'Percentage of requests.'),
});

export const HTTPFaultInjectionAbort: Message = message(
  'HTTPFaultInjectionAbort',
  'Requests are answered with an error.',
  {
    httpStatus: one(bounded(int32, { min: 200, max: 600 }), 'HTTP status.', { oneof: 'errorType' }),
    grpcStatus: one(string, 'gRPC status, as `UNAVAILABLE`.', { oneof: 'errorType' }),
    http2Error: refused(one(string, 'Not supported.', { oneof: 'errorType' }), 'write httpStatus or grpcStatus'),
    percentage: one(Percent, 'Percentage of requests.'),
  },
);

export const HTTPFaultInjection: Message = message('HTTPFaultInjection', 'Faults on purpose, to see what happens.', {
  delay: one(HTTPFaultInjectionDelay, 'Requests are held back.'),
  abort: one(HTTPFaultInjectionAbort, 'Requests are answered with an error.'),
});

export const HTTPMirrorPolicy: Message = message('HTTPMirrorPolicy', 'Where copies of requests go.', {
  destination: one(Destination, 'The service.', { required: true }),
  percentage: one(Percent, 'Percentage of requests that are copied. Default 100.'),
});

export const UnmatchedPreflights: Enum = enumeration(
  'UnmatchedPreflights',
  'What happens to a preflight from an origin that is not allowed.',
  ['UNSPECIFIED', 'FORWARD', 'IGNORE'],
);

export const CorsPolicy: Message = message('CorsPolicy', 'Cross-origin requests.', {
  allowOrigin: list(string, 'Origins that are allowed.', { deprecated: 'write `allowOrigins`.' }),
  allowOrigins: list(StringMatch, 'Origins that are allowed; one of the conditions must hold.'),
  allowMethods: list(string, 'Methods that are allowed.'),
  allowHeaders: list(string, 'Request headers that are allowed.'),
  exposeHeaders: list(string, 'Response headers that a page may read.'),
  maxAge: one(bounded(duration, { min: 1 }), 'How long a browser may remember; whole seconds.'),
  allowCredentials: one(bool, 'Credentials are allowed.'),
  unmatchedPreflights: one(UnmatchedPreflights, 'What happens to a preflight from an origin that is not allowed.'),
});

export const HTTPRoute: Message = message('HTTPRoute', 'A rule for HTTP requests.', {
  name: one(string, 'A name, which appears in access logs.'),
  match: list(HTTPMatchRequest, 'Conditions, one of which must hold. None: all requests.'),
  route: list(HTTPRouteDestination, 'Where the requests go.'),
  redirect: one(HTTPRedirect, 'Send the client elsewhere.'),
  directResponse: one(HTTPDirectResponse, 'Answer at once.'),
  delegate: one(Delegate, 'Another VirtualService whose rules take the place of this one.'),
  rewrite: one(HTTPRewrite, 'Change the request before it goes on.'),
  timeout: one(bounded(duration, { min: 1 }), 'How long an answer may take. Default: no limit.'),
  retries: one(HTTPRetry, 'When and how often to try again.'),
  fault: one(HTTPFaultInjection, 'Faults on purpose.'),
  mirror: one(Destination, 'Where a copy of each request goes.'),
  mirrors: list(HTTPMirrorPolicy, 'Where copies of requests go.'),
  mirrorPercent: one(bounded(uint32, { min: 0, max: 100 }), 'Percentage of requests that are copied.', {
    deprecated: 'write `mirrorPercentage`.',
    deprecatedCode: 'IST0133',
  }),
  mirrorPercentage: one(Percent, 'Percentage of requests that are copied. Default 100.'),
  corsPolicy: one(CorsPolicy, 'Cross-origin requests.'),
  headers: one(Headers, 'Changes to headers.'),
});

export const TLSMatchAttributes: Message = message(
  'TLSMatchAttributes',
  'Conditions on a TLS connection, all of which must hold.',
  {
    sniHosts: list(string, 'Server names, one of which the client asks for; hosts of the object or below them.', {
      required: true,
    }),
    destinationSubnets: list(string, 'Addresses or blocks that it was sent to.'),
    port: one(bounded(uint32, { min: 0, max: 65535 }), 'Port that it was sent to.'),
    sourceLabels: map(string, 'Labels of the client workload.'),
    gateways: list(string, 'Gateways that it came through, instead of those of the whole object.'),
    sourceNamespace: one(string, 'Namespace of the client workload.'),
  },
);

export const RouteDestination: Message = message('RouteDestination', 'Where some of the connections go.', {
  destination: one(Destination, 'The service.', { required: true }),
  weight: one(bounded(int32, { min: 0 }), 'Share of the connections: this weight of the sum of all.'),
});

export const TLSRoute: Message = message('TLSRoute', 'A rule for TLS connections that are passed through.', {
  match: list(TLSMatchAttributes, 'Conditions, one of which must hold.', { required: true }),
  route: list(RouteDestination, 'Where the connections go.'),
});

export const L4MatchAttributes: Message = message(
  'L4MatchAttributes',
  'Conditions on a connection, all of which must hold.',
  {
    destinationSubnets: list(string, 'Addresses or blocks that it was sent to.'),
    port: one(bounded(uint32, { min: 0, max: 65535 }), 'Port that it was sent to.'),
    sourceSubnet: ignored(one(string, 'Addresses of the client.'), NOT_IN_ISTIO),
    sourceLabels: map(string, 'Labels of the client workload.'),
    gateways: list(string, 'Gateways that it came through, instead of those of the whole object.'),
    sourceNamespace: one(string, 'Namespace of the client workload.'),
  },
);

export const TCPRoute: Message = message('TCPRoute', 'A rule for TCP connections.', {
  match: list(L4MatchAttributes, 'Conditions, one of which must hold. None: all connections.'),
  route: list(RouteDestination, 'Where the connections go.'),
});

export const VirtualService: Message = message('VirtualService', 'Where traffic for some hosts goes.', {
  hosts: list(
    string,
    "The hosts; short names are completed with the object's namespace. None: only other objects delegate to it.",
  ),
  gateways: list(string, 'Gateways (`namespace/name`) that it is for, and `mesh` for sidecars. None: `mesh`.'),
  http: list(HTTPRoute, 'Rules for HTTP; the first that matches counts.'),
  tls: list(TLSRoute, 'Rules for TLS that is passed through.'),
  tcp: list(TCPRoute, 'Rules for everything else.'),
  exportTo: list(string, 'Namespaces that see it: `.` its own, `*` all. None: as mesh.yaml says.'),
});
