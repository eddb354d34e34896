import { ClientTLSSettings } from './client-tls.ts';
import { TcpKeepalive } from './connection-pool.ts';
import { FOR_AGENT } from './ignored.ts';
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
  ignored,
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
  configPath: ignored(one(string, 'Directory for generated configuration.'), FOR_AGENT),
  binaryPath: ignored(one(string, 'The Envoy executable.'), FOR_AGENT),
  serviceCluster: ignored(one(string, 'Name of the service cluster.', { oneof: 'clusterName' }), FOR_AGENT),
  tracingServiceName: ignored(
    one(TracingServiceName, 'How the service is named in traces.', { oneof: 'clusterName' }),
    FOR_AGENT,
  ),
  drainDuration: ignored(
    one(
      bounded(duration, { min: 1 }),
      'How long connections are drained when a listener changes; whole seconds. Default 45s.',
    ),
    FOR_AGENT,
  ),
  discoveryAddress: ignored(one(string, 'Address of the control plane, as `host:port`.'), FOR_AGENT),
  discoveryRefreshDelay: ignored(
    one(duration, 'How often the control plane was polled.', { deprecated: 'it has no effect.' }),
    FOR_AGENT,
  ),
  zipkinAddress: ignored(one(string, 'Address of Zipkin.', { deprecated: 'write `tracing`.' }), FOR_AGENT),
  statsdUdpAddress: ignored(one(string, 'Address of a statsd server, as `host:port`.'), FOR_AGENT),
  envoyMetricsServiceAddress: ignored(
    one(string, 'Address of a metrics service.', {
      deprecated: 'write `envoyMetricsService`.',
    }),
    FOR_AGENT,
  ),
  proxyAdminPort: ignored(
    one(bounded(int32, { min: 1, max: 65535 }), "Port of Envoy's admin interface. Default 15000."),
    FOR_AGENT,
  ),
  availabilityZone: ignored(
    one(string, 'Zone of the proxy.', { deprecated: 'the locality comes from the workload.' }),
    FOR_AGENT,
  ),
  controlPlaneAuthPolicy: ignored(one(AuthenticationPolicy, 'How the proxy connects to the control plane.'), FOR_AGENT),
  customConfigFile: ignored(one(string, 'A bootstrap used instead of the generated one.'), FOR_AGENT),
  statNameLength: ignored(one(int32, 'Longest name in statistics. Default 189.'), FOR_AGENT),
  concurrency: ignored(one(int32, 'Worker threads; 0 for one per core.'), FOR_AGENT),
  proxyBootstrapTemplatePath: ignored(one(string, 'Template for the bootstrap.'), FOR_AGENT),
  interceptionMode: ignored(
    one(InboundInterceptionMode, 'How traffic of the application reaches the proxy.'),
    FOR_AGENT,
  ),
  tracing: one(Tracing, 'Tracing.'),
  sds: ignored(one(SDS, 'Secrets from the agent.', { deprecated: 'it has no effect.' }), FOR_AGENT),
  envoyAccessLogService: ignored(one(RemoteService, 'Where access logs go over gRPC.'), FOR_AGENT),
  envoyMetricsService: ignored(one(RemoteService, 'Where metrics go over gRPC.'), FOR_AGENT),
  proxyMetadata: map(string, 'Environment of the proxy, by name.'),
  runtimeValues: ignored(map(string, "Envoy's runtime values, by name."), FOR_AGENT),
  statusPort: ignored(
    one(bounded(int32, { min: 1, max: 65535 }), 'Port on which the agent says its health. Default 15020.'),
    FOR_AGENT,
  ),
  extraStatTags: ignored(list(string, 'Further tags of statistics.'), FOR_AGENT),
  gatewayTopology: one(Topology, 'What stands before gateways.'),
  terminationDrainDuration: ignored(
    one(duration, 'How long connections are drained at the end. Default 5s.'),
    FOR_AGENT,
  ),
  meshId: ignored(one(string, 'Name of the mesh.'), FOR_AGENT),
  readinessProbe: ignored(
    one(ReadinessProbe, 'How the agent tells that a workload on a VM is ready.', { lenient: true }),
    FOR_AGENT,
  ),
  proxyStatsMatcher: ignored(one(ProxyStatsMatcher, 'Further statistics.'), FOR_AGENT),
  holdApplicationUntilProxyStarts: ignored(one(bool, 'The application starts after the proxy is ready.'), FOR_AGENT),
  caCertificatesPem: ignored(list(string, 'Further root certificates, in PEM.'), FOR_AGENT),
  image: ignored(one(ProxyImage, 'Image of the proxy.'), FOR_AGENT),
  privateKeyProvider: ignored(one(PrivateKeyProvider, 'Hardware for private key operations.'), FOR_AGENT),
  proxyHeaders: one(ProxyHeaders, 'Headers that proxies add.'),
  fileFlushInterval: ignored(one(duration, 'How long log lines may be held back.'), FOR_AGENT),
  fileFlushMinSizeKb: ignored(one(uint32, 'Kilobytes of log lines that are written at once.'), FOR_AGENT),
  statsCompression: ignored(one(bool, 'Answer for statistics with compression.'), FOR_AGENT),
  connectionSettings: one(ConnectionSettings, 'Limits and timeouts of connections from clients.'),
});
