import { ClientTLSSettings } from './client-tls.ts';
import { TcpKeepalive } from './connection-pool.ts';
import { ConnectionSettings, ForwardClientCertDetails, ProxyHeaders } from './mesh-proxy-headers.ts';
import { Tracing } from './mesh-tracing.ts';
import { ProxyImage } from './proxy-config.ts';
import { ReadinessProbe } from './readiness-probe.ts';
import {
  bool,
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

export const SDS: Message = message('SDS', '', {
  enabled: one(bool, ''),
  k8sSaJwtPath: one(string, ''),
});

export const ProxyProtocolConfiguration: Message = message('ProxyProtocolConfiguration', '', {});

export const Topology: Message = message('Topology', '', {
  numTrustedProxies: one(uint32, ''),
  forwardClientCertDetails: one(ForwardClientCertDetails, ''),
  proxyProtocol: one(ProxyProtocolConfiguration, ''),
});

export const CryptoMb: Message = message('CryptoMb', '', {
  pollDelay: one(duration, ''),
  fallback: one(bool, ''),
});

export const PrivateKeyProviderQAT: Message = message('PrivateKeyProviderQAT', '', {
  pollDelay: one(duration, ''),
  fallback: one(bool, ''),
});

export const PrivateKeyProvider: Message = message('PrivateKeyProvider', '', {
  cryptomb: one(CryptoMb, '', { oneof: 'provider' }),
  qat: one(PrivateKeyProviderQAT, '', { oneof: 'provider' }),
});

export const TracingServiceName: Enum = enumeration('TracingServiceName', '', [
  'APP_LABEL_AND_NAMESPACE',
  'CANONICAL_NAME_ONLY',
  'CANONICAL_NAME_AND_NAMESPACE',
]);

export const AuthenticationPolicy: Enum = enumeration('AuthenticationPolicy', '', {
  NONE: 0,
  MUTUAL_TLS: 1,
  INHERIT: 1000,
});

export const InboundInterceptionMode: Enum = enumeration('InboundInterceptionMode', '', ['REDIRECT', 'TPROXY', 'NONE']);

export const RemoteService: Message = message('RemoteService', '', {
  address: one(string, ''),
  tlsSettings: one(ClientTLSSettings, ''),
  tcpKeepalive: one(TcpKeepalive, ''),
});

export const ProxyStatsMatcher: Message = message('ProxyStatsMatcher', '', {
  inclusionPrefixes: list(string, ''),
  inclusionSuffixes: list(string, ''),
  inclusionRegexps: list(string, ''),
});

export const ProxyConfig: Message = message('ProxyConfig', '', {
  configPath: one(string, ''),
  binaryPath: one(string, ''),
  serviceCluster: one(string, '', { oneof: 'clusterName' }),
  tracingServiceName: one(TracingServiceName, '', { oneof: 'clusterName' }),
  drainDuration: one(duration, ''),
  discoveryAddress: one(string, ''),
  discoveryRefreshDelay: one(duration, '', { deprecated: '' }),
  zipkinAddress: one(string, '', { deprecated: '' }),
  statsdUdpAddress: one(string, ''),
  envoyMetricsServiceAddress: one(string, '', { deprecated: '' }),
  proxyAdminPort: one(int32, ''),
  availabilityZone: one(string, '', { deprecated: '' }),
  controlPlaneAuthPolicy: one(AuthenticationPolicy, ''),
  customConfigFile: one(string, ''),
  statNameLength: one(int32, ''),
  concurrency: one(int32, ''),
  proxyBootstrapTemplatePath: one(string, ''),
  interceptionMode: one(InboundInterceptionMode, ''),
  tracing: one(Tracing, ''),
  sds: one(SDS, '', { deprecated: '' }),
  envoyAccessLogService: one(RemoteService, ''),
  envoyMetricsService: one(RemoteService, ''),
  proxyMetadata: map(string, ''),
  runtimeValues: map(string, ''),
  statusPort: one(int32, ''),
  extraStatTags: list(string, ''),
  gatewayTopology: one(Topology, ''),
  terminationDrainDuration: one(duration, ''),
  meshId: one(string, ''),
  readinessProbe: one(ReadinessProbe, ''),
  proxyStatsMatcher: one(ProxyStatsMatcher, ''),
  holdApplicationUntilProxyStarts: one(bool, ''),
  caCertificatesPem: list(string, ''),
  image: one(ProxyImage, ''),
  privateKeyProvider: one(PrivateKeyProvider, ''),
  proxyHeaders: one(ProxyHeaders, ''),
  fileFlushInterval: one(duration, ''),
  fileFlushMinSizeKb: one(uint32, ''),
  statsCompression: one(bool, ''),
  connectionSettings: one(ConnectionSettings, ''),
});
