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

export const TcpKeepalive: Message = message('TcpKeepalive', '', {
  probes: one(uint32, ''),
  time: one(bounded(duration, { min: 1 }), ''),
  interval: one(bounded(duration, { min: 1 }), ''),
});

export const TCPSettings: Message = message('TCPSettings', '', {
  maxConnections: one(int32, ''),
  connectTimeout: one(bounded(duration, { min: 1 }), ''),
  tcpKeepalive: one(TcpKeepalive, ''),
  maxConnectionDuration: one(bounded(duration, { min: 1 }), ''),
  idleTimeout: one(duration, ''),
});

export const HTTPSettingsH2UpgradePolicy: Enum = enumeration('HTTPSettingsH2UpgradePolicy', '', [
  'DEFAULT',
  'DO_NOT_UPGRADE',
  'UPGRADE',
]);

export const ConnectionKeepalive: Message = message('ConnectionKeepalive', '', {
  interval: one(bounded(duration, { min: 1 }), ''),
  timeout: one(bounded(duration, { min: 1 }), ''),
});

export const HTTPSettings: Message = message('HTTPSettings', '', {
  http1MaxPendingRequests: one(int32, ''),
  http2MaxRequests: one(int32, ''),
  maxRequestsPerConnection: one(int32, ''),
  maxRetries: one(int32, ''),
  idleTimeout: one(bounded(duration, { min: 1 }), ''),
  h2UpgradePolicy: one(HTTPSettingsH2UpgradePolicy, ''),
  useClientProtocol: one(bool, ''),
  maxConcurrentStreams: one(int32, ''),
  http2KeepAlive: one(ConnectionKeepalive, ''),
});

export const ConnectionPoolSettings: Message = message('ConnectionPoolSettings', '', {
  tcp: one(TCPSettings, ''),
  http: one(HTTPSettings, ''),
});

export const OutlierDetection: Message = message('OutlierDetection', '', {
  consecutiveErrors: one(int32, '', { deprecated: '' }),
  splitExternalLocalOriginErrors: one(bool, ''),
  consecutiveLocalOriginFailures: one(uint32, ''),
  consecutiveGatewayErrors: one(uint32, ''),
  consecutive5xxErrors: one(uint32, ''),
  interval: one(bounded(duration, { min: 1 }), ''),
  baseEjectionTime: one(bounded(duration, { min: 1 }), ''),
  maxEjectionPercent: one(int32, ''),
  minHealthPercent: one(int32, ''),
  outlierDetectionHttpErrorCodes: list(bounded(uint32, { min: 100, max: 599 }), ''),
});
