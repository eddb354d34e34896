import { FOR_AGENT, NOT_IN_ISTIO } from './ignored.ts';
import {
  bool,
  bounded,
  duration,
  type Enum,
  enumeration,
  ignored,
  int32,
  type Message,
  message,
  one,
  string,
} from './schema.ts';

export const ForwardClientCertDetails: Enum = enumeration(
  'ForwardClientCertDetails',
  'What a proxy does with the header X-Forwarded-Client-Cert.',
  ['UNDEFINED', 'SANITIZE', 'FORWARD_ONLY', 'APPEND_FORWARD', 'SANITIZE_SET', 'ALWAYS_FORWARD_ONLY'],
);

export const SetCurrentClientCertDetails: Message = message(
  'SetCurrentClientCertDetails',
  "What of the client's certificate goes into X-Forwarded-Client-Cert.",
  {
    subject: one(bool, 'Its subject.'),
    cert: one(bool, 'The certificate.'),
    chain: one(bool, 'The certificate with its chain.'),
    dns: one(bool, 'Its DNS names.'),
    uri: one(bool, 'Its URIs.'),
  },
);

export const RequestId: Message = message('RequestId', 'The header X-Request-Id.', {
  disabled: one(bool, 'Do not make one.'),
});

export const ProxyHeadersServer: Message = message('ProxyHeadersServer', 'The header Server.', {
  disabled: one(bool, 'Leave it as the application set it.'),
  value: one(string, 'Its value. Default `istio-envoy`.'),
});

export const AttemptCount: Message = message('AttemptCount', 'The header X-Envoy-Attempt-Count.', {
  disabled: one(bool, 'Do not send it.'),
});

export const EnvoyDebugHeaders: Message = message('EnvoyDebugHeaders', 'Headers X-Envoy-*, which help to debug.', {
  disabled: one(bool, 'Do not send them.'),
});

export const MetadataExchangeMode: Enum = enumeration('MetadataExchangeMode', 'To whom proxies say what they are.', [
  'UNDEFINED',
  'IN_MESH',
]);

export const MetadataExchangeHeaders: Message = message(
  'MetadataExchangeHeaders',
  'Headers by which proxies say what they are.',
  {
    mode: one(MetadataExchangeMode, 'To all, or to those of the mesh alone.'),
  },
);

export const XForwardedHost: Message = message('XForwardedHost', 'The header X-Forwarded-Host.', {
  enabled: one(bool, 'Send it.'),
});

export const XForwardedPort: Message = message('XForwardedPort', 'The header X-Forwarded-Port.', {
  enabled: one(bool, 'Send it.'),
});

export const ProxyHeaders: Message = message('ProxyHeaders', 'Headers that proxies add.', {
  forwardedClientCert: one(ForwardClientCertDetails, 'What happens to X-Forwarded-Client-Cert.'),
  setCurrentClientCertDetails: one(SetCurrentClientCertDetails, 'What goes into X-Forwarded-Client-Cert.'),
  requestId: one(RequestId, 'X-Request-Id.'),
  server: one(ProxyHeadersServer, 'Server.'),
  attemptCount: one(AttemptCount, 'X-Envoy-Attempt-Count.'),
  envoyDebugHeaders: one(EnvoyDebugHeaders, 'X-Envoy-* for debugging.'),
  metadataExchangeHeaders: one(MetadataExchangeHeaders, 'Headers by which proxies say what they are.'),
  preserveHttp1HeaderCase: one(bool, 'Leave letters of header names as they came.'),
  xForwardedHost: one(XForwardedHost, 'X-Forwarded-Host.'),
  xForwardedPort: one(XForwardedPort, 'X-Forwarded-Port.'),
});

export const ConnectionSettingsProfile: Enum = enumeration('ConnectionSettingsProfile', 'A set of defaults.', [
  'SIDECAR',
  'EDGE',
]);

export const HeadersWithUnderscoresAction: Enum = enumeration(
  'HeadersWithUnderscoresAction',
  'What happens to headers with an underscore in their name.',
  [
    'HEADERS_WITH_UNDERSCORES_UNSPECIFIED',
    'HEADERS_WITH_UNDERSCORES_ALLOW',
    'HEADERS_WITH_UNDERSCORES_REJECT_REQUEST',
    'HEADERS_WITH_UNDERSCORES_DROP_HEADER',
  ],
);

export const PathWithEscapedSlashesAction: Enum = enumeration(
  'PathWithEscapedSlashesAction',
  'What happens to paths with `%2F` or `%5C`.',
  [
    'PATH_WITH_ESCAPED_SLASHES_UNSPECIFIED',
    'KEEP_UNCHANGED',
    'REJECT_REQUEST',
    'UNESCAPE_AND_REDIRECT',
    'UNESCAPE_AND_FORWARD',
  ],
);

export const ConnectionSettings: Message = message(
  'ConnectionSettings',
  'Limits and timeouts of connections from clients.',
  {
    profile: one(ConnectionSettingsProfile, 'Defaults: as within a mesh, or as at its edge.'),
    listenerPerConnectionBufferLimitBytes: one(bounded(int32, { min: 0 }), "Bytes buffered for a client's connection."),
    clusterPerConnectionBufferLimitBytes: ignored(
      one(bounded(int32, { min: 0 }), 'Bytes buffered for a connection to an endpoint.'),
      NOT_IN_ISTIO,
    ),
    httpIdleTimeout: one(bounded(duration, { min: 0 }), 'How long a connection without requests is kept.'),
    httpMaxConnectionDuration: one(bounded(duration, { min: 0 }), 'How long a connection may last.'),
    httpDrainTimeout: one(bounded(duration, { min: 0 }), 'How long a connection is drained before it is closed.'),
    httpRequestTimeout: one(bounded(duration, { min: 0 }), 'How long a whole request may take to arrive.'),
    httpRequestHeadersTimeout: one(
      bounded(duration, { min: 0 }),
      'How long the headers of a request may take to arrive.',
    ),
    httpStreamIdleTimeout: one(bounded(duration, { min: 0 }), 'How long a stream may be silent.'),
    httpMaxStreamDuration: one(bounded(duration, { min: 0 }), 'How long a stream may last.'),
    httpMaxConcurrentStreams: one(bounded(int32, { min: 1 }), 'Most streams on an HTTP/2 connection.'),
    http2InitialStreamWindowSize: one(
      bounded(int32, { min: 65535 }),
      'Flow control window of an HTTP/2 stream, in bytes.',
    ),
    http2InitialConnectionWindowSize: one(
      bounded(int32, { min: 65535 }),
      'Flow control window of an HTTP/2 connection, in bytes.',
    ),
    httpHeadersWithUnderscoresAction: one(
      HeadersWithUnderscoresAction,
      'What happens to headers with an underscore in their name.',
    ),
    httpMergeSlashes: one(bool, 'Merge adjacent slashes of a path.'),
    httpPathWithEscapedSlashesAction: one(PathWithEscapedSlashesAction, 'What happens to paths with `%2F` or `%5C`.'),
    listenerConnectionLimit: ignored(one(bounded(int32, { min: 1 }), 'Most connections of a listener.'), NOT_IN_ISTIO),
    globalDownstreamConnectionLimit: ignored(
      one(bounded(int32, { min: 1 }), 'Most connections of all clients together.'),
      FOR_AGENT,
    ),
  },
);
