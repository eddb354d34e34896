import { bool, duration, type Enum, enumeration, int32, type Message, message, one, string } from './schema.ts';

export const ForwardClientCertDetails: Enum = enumeration('ForwardClientCertDetails', '', [
  'UNDEFINED',
  'SANITIZE',
  'FORWARD_ONLY',
  'APPEND_FORWARD',
  'SANITIZE_SET',
  'ALWAYS_FORWARD_ONLY',
]);

export const SetCurrentClientCertDetails: Message = message('SetCurrentClientCertDetails', '', {
  subject: one(bool, ''),
  cert: one(bool, ''),
  chain: one(bool, ''),
  dns: one(bool, ''),
  uri: one(bool, ''),
});

export const RequestId: Message = message('RequestId', '', {
  disabled: one(bool, ''),
});

export const ProxyHeadersServer: Message = message('ProxyHeadersServer', '', {
  disabled: one(bool, ''),
  value: one(string, ''),
});

export const AttemptCount: Message = message('AttemptCount', '', {
  disabled: one(bool, ''),
});

export const EnvoyDebugHeaders: Message = message('EnvoyDebugHeaders', '', {
  disabled: one(bool, ''),
});

export const MetadataExchangeMode: Enum = enumeration('MetadataExchangeMode', '', ['UNDEFINED', 'IN_MESH']);

export const MetadataExchangeHeaders: Message = message('MetadataExchangeHeaders', '', {
  mode: one(MetadataExchangeMode, ''),
});

export const XForwardedHost: Message = message('XForwardedHost', '', {
  enabled: one(bool, ''),
});

export const XForwardedPort: Message = message('XForwardedPort', '', {
  enabled: one(bool, ''),
});

export const ProxyHeaders: Message = message('ProxyHeaders', '', {
  forwardedClientCert: one(ForwardClientCertDetails, ''),
  setCurrentClientCertDetails: one(SetCurrentClientCertDetails, ''),
  requestId: one(RequestId, ''),
  server: one(ProxyHeadersServer, ''),
  attemptCount: one(AttemptCount, ''),
  envoyDebugHeaders: one(EnvoyDebugHeaders, ''),
  metadataExchangeHeaders: one(MetadataExchangeHeaders, ''),
  preserveHttp1HeaderCase: one(bool, ''),
  xForwardedHost: one(XForwardedHost, ''),
  xForwardedPort: one(XForwardedPort, ''),
});

export const ConnectionSettingsProfile: Enum = enumeration('ConnectionSettingsProfile', '', ['SIDECAR', 'EDGE']);

export const HeadersWithUnderscoresAction: Enum = enumeration('HeadersWithUnderscoresAction', '', [
  'HEADERS_WITH_UNDERSCORES_UNSPECIFIED',
  'HEADERS_WITH_UNDERSCORES_ALLOW',
  'HEADERS_WITH_UNDERSCORES_REJECT_REQUEST',
  'HEADERS_WITH_UNDERSCORES_DROP_HEADER',
]);

export const PathWithEscapedSlashesAction: Enum = enumeration('PathWithEscapedSlashesAction', '', [
  'PATH_WITH_ESCAPED_SLASHES_UNSPECIFIED',
  'KEEP_UNCHANGED',
  'REJECT_REQUEST',
  'UNESCAPE_AND_REDIRECT',
  'UNESCAPE_AND_FORWARD',
]);

export const ConnectionSettings: Message = message('ConnectionSettings', '', {
  profile: one(ConnectionSettingsProfile, ''),
  listenerPerConnectionBufferLimitBytes: one(int32, ''),
  clusterPerConnectionBufferLimitBytes: one(int32, ''),
  httpIdleTimeout: one(duration, ''),
  httpMaxConnectionDuration: one(duration, ''),
  httpDrainTimeout: one(duration, ''),
  httpRequestTimeout: one(duration, ''),
  httpRequestHeadersTimeout: one(duration, ''),
  httpStreamIdleTimeout: one(duration, ''),
  httpMaxStreamDuration: one(duration, ''),
  httpMaxConcurrentStreams: one(int32, ''),
  http2InitialStreamWindowSize: one(int32, ''),
  http2InitialConnectionWindowSize: one(int32, ''),
  httpHeadersWithUnderscoresAction: one(HeadersWithUnderscoresAction, ''),
  httpMergeSlashes: one(bool, ''),
  httpPathWithEscapedSlashesAction: one(PathWithEscapedSlashesAction, ''),
  listenerConnectionLimit: one(int32, ''),
  globalDownstreamConnectionLimit: one(int32, ''),
});
