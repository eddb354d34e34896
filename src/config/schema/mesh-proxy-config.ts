import { ClientTLSSettings } from './client-tls.ts';
import { TcpKeepalive } from './connection-pool.ts';
import { ConnectionSettings, ForwardClientCertDetails, ProxyHeaders } from './mesh-proxy-headers.ts';
import { Tracing } from './mesh-tracing.ts';
import { ProxyImage } from './proxy-config.ts';
import { ReadinessProbe } from './readiness-probe.ts';
import {
  bool,
  bounded,
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

export const SDS: Message = message('SDS', 'Secrets from the agent; always on nowadays.', {
  enabled: one(bool, 'Whether secrets come from the agent.'),
  k8sSaJwtPath: one(string, "File with the service account's token."),
});

export const ProxyProtocolConfiguration: Message = message(
  'ProxyProtocolConfiguration',
  'Gateways read the PROXY protocol.',
  {},
);

export const Topology: Message = message('Topology', 'What stands before a gateway.', {
  numTrustedProxies: one(uint32, 'Trusted proxies before it that add to X-Forwarded-For.'),
  forwardClientCertDetails: one(ForwardClientCertDetails, 'What it does with the header X-Forwarded-Client-Cert.'),
  proxyProtocol: one(ProxyProtocolConfiguration, 'Read the PROXY protocol.'),
});

export const CryptoMb: Message = message('CryptoMb', 'Private key operations by CryptoMB.', {
  pollDelay: one(duration, 'How long to wait for a full batch.'),
  fallback: one(bool, 'Without it when the processor lacks it.'),
});

export const PrivateKeyProviderQAT: Message = message(
  'PrivateKeyProviderQAT',
  'Private key operations by QuickAssist.',
  {
    pollDelay: one(duration, 'How often to look for results.'),
    fallback: one(bool, 'Without it when the device is absent.'),
  },
);

export const PrivateKeyProvider: Message = message('PrivateKeyProvider', 'Hardware for private key operations.', {
  cryptomb: one(CryptoMb, 'CryptoMB.', { oneof: 'provider' }),
  qat: one(PrivateKeyProviderQAT, 'QuickAssist.', { oneof: 'provider' }),
});

export const TracingServiceName: Enum = enumeration('TracingServiceName', 'How the service is named in traces.', [
  'APP_LABEL_AND_NAMESPACE',
  'CANONICAL_NAME_ONLY',
  'CANONICAL_NAME_AND_NAMESPACE',
]);

export const AuthenticationPolicy: Enum = enumeration(
  'AuthenticationPolicy',
  'How the proxy connects to the control plane.',
  { NONE: 0, MUTUAL_TLS: 1, INHERIT: 1000 },
);

export const InboundInterceptionMode: Enum = enumeration(
  'InboundInterceptionMode',
  'How traffic of the application reaches the proxy.',
  ['REDIRECT', 'TPROXY', 'NONE'],
);

export const RemoteService: Message = message('RemoteService', 'A service that the proxy sends to.', {
  address: one(string, 'Address, as `host:port`.'),
  tlsSettings: one(ClientTLSSettings, 'TLS towards it.'),
  tcpKeepalive: one(TcpKeepalive, 'Keepalive of the connection.', { lenient: true }),
});

export const ProxyStatsMatcher: Message = message('ProxyStatsMatcher', 'Which further statistics the proxy keeps.', {
  inclusionPrefixes: list(string, 'Those whose name begins so.'),
  inclusionSuffixes: list(string, 'Those whose name ends so.'),
  inclusionRegexps: list(string, 'Those whose name matches.'),
});

export const ProxyConfig: Message = message('ProxyConfig', 'Settings of a proxy.', {
  configPath: one(string, 'Directory for generated configuration.'),
  binaryPath: one(string, 'The Envoy executable.'),
  serviceCluster: one(string, 'Name of the service cluster.', { oneof: 'clusterName' }),
  tracingServiceName: one(TracingServiceName, 'How the service is named in traces.', { oneof: 'clusterName' }),
  drainDuration: one(
    bounded(duration, { min: 1 }),
    'How long connections are drained when a listener changes; whole seconds. Default 45s.',
  ),
  discoveryAddress: one(string, 'Address of the control plane, as `host:port`.'),
  discoveryRefreshDelay: one(duration, 'How often the control plane was polled.', { deprecated: 'it has no effect.' }),
  zipkinAddress: one(string, 'Address of Zipkin.', { deprecated: 'write `tracing`.' }),
  statsdUdpAddress: one(string, 'Address of a statsd server, as `host:port`.'),
  envoyMetricsServiceAddress: one(string, 'Address of a metrics service.', {
    deprecated: 'write `envoyMetricsService`.',
  }),
  proxyAdminPort: one(bounded(int32, { min: 1, max: 65535 }), "Port of Envoy's admin interface. Default 15000."),
  availabilityZone: one(string, 'Zone of the proxy.', { deprecated: 'the locality comes from the workload.' }),
  controlPlaneAuthPolicy: one(AuthenticationPolicy, 'How the proxy connects to the control plane.'),
  customConfigFile: one(string, 'A bootstrap used instead of the generated one.'),
  statNameLength: one(int32, 'Longest name in statistics. Default 189.'),
  concurrency: one(int32, 'Worker threads; 0 for one per core.'),
  proxyBootstrapTemplatePath: one(string, 'Template for the bootstrap.'),
  interceptionMode: one(InboundInterceptionMode, 'How traffic of the application reaches the proxy.'),
  tracing: one(Tracing, 'Tracing.'),
  sds: one(SDS, 'Secrets from the agent.', { deprecated: 'it has no effect.' }),
  envoyAccessLogService: one(RemoteService, 'Where access logs go over gRPC.'),
  envoyMetricsService: one(RemoteService, 'Where metrics go over gRPC.'),
  proxyMetadata: map(string, 'Environment of the proxy, by name.'),
  runtimeValues: map(string, "Envoy's runtime values, by name."),
  statusPort: one(bounded(int32, { min: 1, max: 65535 }), 'Port on which the agent says its health. Default 15020.'),
  extraStatTags: list(string, 'Further tags of statistics.'),
  gatewayTopology: one(Topology, 'What stands before gateways.'),
  terminationDrainDuration: one(duration, 'How long connections are drained at the end. Default 5s.'),
  meshId: one(string, 'Name of the mesh.'),
  readinessProbe: one(ReadinessProbe, 'How the agent tells that a workload on a VM is ready.', { lenient: true }),
  proxyStatsMatcher: one(ProxyStatsMatcher, 'Further statistics.'),
  holdApplicationUntilProxyStarts: one(bool, 'The application starts after the proxy is ready.'),
  caCertificatesPem: list(string, 'Further root certificates, in PEM.'),
  image: one(ProxyImage, 'Image of the proxy.'),
  privateKeyProvider: one(PrivateKeyProvider, 'Hardware for private key operations.'),
  proxyHeaders: one(ProxyHeaders, 'Headers that proxies add.'),
  fileFlushInterval: one(duration, 'How long log lines may be held back.'),
  fileFlushMinSizeKb: one(uint32, 'Kilobytes of log lines that are written at once.'),
  statsCompression: one(bool, 'Answer for statistics with compression.'),
  connectionSettings: one(ConnectionSettings, 'Limits and timeouts of connections from clients.'),
});
