import {
  bool,
  bounded,
  duration,
  type Enum,
  enumeration,
  int32,
  list,
  type Message,
  message,
  one,
  uint32,
} from './schema.ts';

export const TcpKeepalive: Message = message('TcpKeepalive', 'TCP keepalive.', {
  probes: one(uint32, 'Probes without an answer before the connection is dead.'),
  time: one(bounded(duration, { min: 1 }), 'How long a connection is idle before the first probe.'),
  interval: one(bounded(duration, { min: 1 }), 'Time between probes.'),
});

export const TCPSettings: Message = message('TCPSettings', "Settings of TCP connections, HTTP's among them.", {
  maxConnections: one(bounded(int32, { min: 0 }), 'Most connections to the service.'),
  connectTimeout: one(bounded(duration, { min: 1 }), 'How long connecting may take. Default: as mesh.yaml says.'),
  tcpKeepalive: one(TcpKeepalive, 'TCP keepalive.'),
  maxConnectionDuration: one(bounded(duration, { min: 1 }), 'How long a connection may last.'),
  idleTimeout: one(duration, 'How long a connection may be idle. 0s: forever. Default 1h.'),
});

export const HTTPSettingsH2UpgradePolicy: Enum = enumeration(
  'HTTPSettingsH2UpgradePolicy',
  'Whether HTTP/1.1 requests are sent on as HTTP/2.',
  ['DEFAULT', 'DO_NOT_UPGRADE', 'UPGRADE'],
);

export const ConnectionKeepalive: Message = message('ConnectionKeepalive', 'Pings on HTTP/2 connections.', {
  interval: one(bounded(duration, { min: 1 }), 'Time between pings.', { required: true }),
  timeout: one(bounded(duration, { min: 1 }), 'How long an answer may take.', { required: true }),
});

export const HTTPSettings: Message = message('HTTPSettings', 'Settings of HTTP connections.', {
  http1MaxPendingRequests: one(bounded(int32, { min: 0 }), 'Most requests that wait for a connection.'),
  http2MaxRequests: one(bounded(int32, { min: 0 }), 'Most requests at once.'),
  maxRequestsPerConnection: one(
    bounded(int32, { min: 0 }),
    'Most requests on one connection; 1 switches keep-alive off.',
  ),
  maxRetries: one(bounded(int32, { min: 0 }), 'Most retries at once.'),
  idleTimeout: one(bounded(duration, { min: 1 }), 'How long a connection without requests is kept. Default 1h.'),
  h2UpgradePolicy: one(HTTPSettingsH2UpgradePolicy, 'Whether HTTP/1.1 requests are sent on as HTTP/2.'),
  useClientProtocol: one(bool, 'Speak to the endpoint what the client spoke.'),
  maxConcurrentStreams: one(bounded(int32, { min: 0 }), 'Most streams on one HTTP/2 connection.'),
  http2KeepAlive: one(ConnectionKeepalive, 'Pings on HTTP/2 connections.'),
});

export const ConnectionPoolSettings: Message = message(
  'ConnectionPoolSettings',
  'Limits and timeouts of connections.',
  {
    tcp: one(TCPSettings, "Of TCP connections, HTTP's among them."),
    http: one(HTTPSettings, 'Of HTTP connections.'),
  },
);

export const OutlierDetection: Message = message('OutlierDetection', 'When an endpoint is left out for failing.', {
  consecutiveErrors: one(int32, 'Errors in a row.', {
    deprecated: 'write `consecutiveGatewayErrors` or `consecutive5xxErrors`.',
    deprecatedCode: 'IST0133',
  }),
  splitExternalLocalOriginErrors: one(bool, 'Count errors in connecting apart from those in answers.'),
  consecutiveLocalOriginFailures: one(
    uint32,
    'Errors in connecting, in a row, when they are counted apart. Default 5.',
  ),
  consecutiveGatewayErrors: one(uint32, 'Answers 502, 503 and 504, or failed connections, in a row. 0: never.'),
  consecutive5xxErrors: one(uint32, 'Answers 5xx, or failed connections, in a row. 0: never. Default 5.'),
  interval: one(bounded(duration, { min: 1 }), 'How often endpoints are looked at. Default 10s.'),
  baseEjectionTime: one(bounded(duration, { min: 1 }), 'How long an endpoint is left out the first time. Default 30s.'),
  maxEjectionPercent: one(
    bounded(int32, { min: 0, max: 100 }),
    'Percentage of the endpoints that may be left out. Default 10.',
  ),
  minHealthPercent: one(
    bounded(int32, { min: 0, max: 100 }),
    'Below this percentage of healthy endpoints all are used. Default 0.',
  ),
  outlierDetectionHttpErrorCodes: list(
    bounded(uint32, { min: 100, max: 599 }),
    'HTTP status codes that count as errors. None: 5xx.',
  ),
});
