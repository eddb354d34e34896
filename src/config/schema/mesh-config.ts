import { ClientTLSSettings } from './client-tls.ts';
import { ConnectionPoolSettings, OutlierDetection, TcpKeepalive } from './connection-pool.ts';
import { HTTPRetry } from './http-retry.ts';
import { BY_KUBERNETES, FOR_AGENT, WITHOUT_AMBIENT } from './ignored.ts';
import { LocalityLoadBalancerSetting, ZoneAwareLoadBalancerSetting } from './load-balancer.ts';
import { ExtensionProvider } from './mesh-extension-provider.ts';
import { LabelSelector } from './mesh-label-selector.ts';
import { ProxyConfig } from './mesh-proxy-config.ts';
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
  scalarText,
  string,
} from './schema.ts';

export const IngressControllerMode: Enum = enumeration('IngressControllerMode', 'Which Ingress objects are served.', [
  'UNSPECIFIED',
  'OFF',
  'DEFAULT',
  'STRICT',
]);

export const AccessLogEncoding: Enum = enumeration('AccessLogEncoding', 'Form of an access log line.', [
  'TEXT',
  'JSON',
]);

export const MeshConfigOutboundTrafficPolicyMode: Enum = enumeration(
  'MeshConfigOutboundTrafficPolicyMode',
  'What happens to traffic for hosts that the mesh does not know.',
  { REGISTRY_ONLY: 0, ALLOW_ANY: 1, ALLOW_ANY_DYNAMIC_DNS: 3 },
);

export const MeshConfigOutboundTrafficPolicy: Message = message(
  'MeshConfigOutboundTrafficPolicy',
  'What happens to traffic for hosts that the mesh does not know.',
  {
    mode: one(MeshConfigOutboundTrafficPolicyMode, 'Drop it, let it pass, or let it pass and resolve its host name.'),
    tls: ignored(
      one(ClientTLSSettings, 'TLS settings for the traffic that passes.'),
      'what passes by is not encrypted: route it by a ServiceEntry',
    ),
  },
);

export const InboundTrafficPolicyMode: Enum = enumeration(
  'InboundTrafficPolicyMode',
  'Where inbound traffic for undeclared ports goes.',
  ['PASSTHROUGH', 'LOCALHOST'],
);

export const InboundTrafficPolicy: Message = message(
  'InboundTrafficPolicy',
  'Where inbound traffic for undeclared ports goes.',
  {
    mode: one(InboundTrafficPolicyMode, 'On to the address that it was sent to, or to localhost.'),
  },
);

export const ConfigSourceResource: Enum = enumeration('ConfigSourceResource', 'What a configuration source delivers.', [
  'SERVICE_REGISTRY',
]);

export const ConfigSource: Message = message('ConfigSource', 'A further source of configuration.', {
  address: one(string, '`fs://` and the path of `etc/istio/conf`, `xds://host:port` or `host:port`.'),
  tlsSettings: one(ClientTLSSettings, 'How to connect to it.'),
  subscribedResources: list(ConfigSourceResource, 'What to take from it.'),
});

export const CertificateData: Message = message('CertificateData', 'A root certificate that proxies trust.', {
  pem: one(string, 'The certificate in PEM.', { oneof: 'certificateData' }),
  spiffeBundleUrl: ignored(
    one(string, 'URL of a SPIFFE bundle, fetched over HTTPS.', { oneof: 'certificateData' }),
    'write the roots as pem',
  ),
  certSigners: ignored(list(string, "Names of Kubernetes' signers that sign with it."), BY_KUBERNETES),
  trustDomains: list(string, 'Trust domains that it vouches for.'),
});

export const MeshConfigH2UpgradePolicy: Enum = enumeration(
  'MeshConfigH2UpgradePolicy',
  'Whether HTTP/1.1 requests are sent on as HTTP/2.',
  ['DO_NOT_UPGRADE', 'UPGRADE'],
);

export const Certificate: Message = message('Certificate', "A certificate for the control plane's own webhooks.", {
  secretName: one(string, 'Secret that holds it.'),
  dnsNames: list(string, 'DNS names in it.'),
});

export const ServiceSettingsSettings: Message = message('ServiceSettingsSettings', 'Settings of services.', {
  clusterLocal: one(bool, "Keep traffic for them within the client's cluster."),
});

export const ServiceSettings: Message = message('ServiceSettings', 'Settings for the services of some hosts.', {
  settings: one(ServiceSettingsSettings, 'The settings.'),
  hosts: list(string, 'Host names, with a wildcard in the first label if need be.'),
});

export const ServiceScopeConfigsScope: Enum = enumeration(
  'ServiceScopeConfigsScope',
  'Whether a service is served by other clusters, too.',
  ['LOCAL', 'GLOBAL'],
);

export const ServiceScopeConfigs: Message = message(
  'ServiceScopeConfigs',
  'Which services are shared among clusters.',
  {
    namespaceSelector: one(LabelSelector, 'Labels of the namespaces that are meant.'),
    servicesSelector: one(LabelSelector, 'Labels of the services that are meant.'),
    scope: one(ServiceScopeConfigsScope, 'Local to their cluster, or shared by all.'),
  },
);

export const MeshConfigCA: Message = message('MeshConfigCA', 'An outside certificate authority.', {
  address: one(string, 'Its address, as `host:port`.'),
  tlsSettings: one(ClientTLSSettings, 'How to connect to it.'),
  requestTimeout: one(duration, 'How long a signing request may take.'),
  istiodSide: one(bool, 'The control plane asks it, instead of the agents.'),
});

export const DefaultProviders: Message = message('DefaultProviders', 'Providers used where no Telemetry names one.', {
  tracing: list(string, 'Providers of tracing.'),
  metrics: list(string, 'Providers of metrics.'),
  accessLogging: list(string, 'Providers of access logs.'),
});

export const NormalizationType: Enum = enumeration('NormalizationType', 'How far a path is normalised.', [
  'DEFAULT',
  'NONE',
  'BASE',
  'MERGE_SLASHES',
  'DECODE_AND_MERGE_SLASHES',
]);

export const ProxyPathNormalization: Message = message(
  'ProxyPathNormalization',
  'How request paths are normalised before they are matched.',
  {
    normalization: one(NormalizationType, 'How far.'),
  },
);

export const TLSConfigTLSProtocol: Enum = enumeration('TLSConfigTLSProtocol', 'Version of TLS.', [
  'TLS_AUTO',
  'TLSV1_2',
  'TLSV1_3',
]);

export const TLSConfig: Message = message('TLSConfig', 'Which TLS is spoken.', {
  minProtocolVersion: one(TLSConfigTLSProtocol, 'The oldest version that is accepted.'),
  ecdhCurves: list(string, 'Curves for the key exchange, most wanted first.'),
  cipherSuites: list(string, 'Cipher suites up to TLS 1.2, most wanted first.'),
});

export const DefaultTrafficPolicy: Message = message(
  'DefaultTrafficPolicy',
  'Traffic policy of all services, below what DestinationRules say.',
  {
    connectionPool: one(ConnectionPoolSettings, 'Limits and timeouts of connections.'),
    outlierDetection: one(OutlierDetection, 'When an endpoint is left out for failing.'),
  },
);

export const ServiceEntryVisibilityVisibility: Enum = enumeration(
  'ServiceEntryVisibilityVisibility',
  'How far a ServiceEntry is seen.',
  ['VISIBILITY_UNSPECIFIED', 'NONE', 'NAMESPACE', 'PUBLIC'],
);

export const MatchRule: Message = message('MatchRule', 'Which namespaces a rule of visibility is for.', {
  namespaceSelector: one(LabelSelector, 'Labels of the namespaces.', { oneof: 'matcher' }),
});

export const ServiceEntryVisibilityPolicy: Message = message(
  'ServiceEntryVisibilityPolicy',
  'Visibility of the ServiceEntries of some namespaces.',
  {
    visibility: one(ServiceEntryVisibilityVisibility, 'How far they are seen.'),
    matchingRules: list(MatchRule, 'Which namespaces: those that every rule matches; without rules all.'),
  },
);

export const ServiceEntryVisibility: Message = message(
  'ServiceEntryVisibility',
  'The widest visibility that ServiceEntries may have.',
  {
    defaultVisibility: one(ServiceEntryVisibilityVisibility, 'Where no policy says otherwise.'),
    applyToSidecars: one(
      bool,
      'For sidecars and gateways, of which there are no others here; without it nothing is narrowed.',
    ),
    policies: list(ServiceEntryVisibilityPolicy, 'Policies by namespace; the first that matches counts.'),
  },
);

export const MeshConfig: Message = message('MeshConfig', 'Settings of the whole mesh.', {
  proxyListenPort: one(
    bounded(int32, { min: 1, max: 65535 }),
    'Port on which proxies take captured outbound traffic. Default 15001.',
  ),
  proxyInboundListenPort: one(
    bounded(int32, { min: 0, max: 65535 }),
    'Port on which proxies take captured inbound traffic. Default 15006.',
  ),
  proxyHttpPort: one(bounded(int32, { min: 0, max: 65535 }), 'Port of an outbound HTTP proxy; 0 for none.'),
  connectTimeout: one(
    bounded(duration, { min: 1, max: 3600000 }),
    'How long a proxy tries to connect to an endpoint. Default 10s.',
  ),
  hboneIdleTimeout: ignored(one(duration, 'How long an idle HBONE connection is kept.'), WITHOUT_AMBIENT),
  protocolDetectionTimeout: one(
    duration,
    'How long a proxy waits for the first bytes to tell the protocol; 0s waits forever.',
  ),
  tcpKeepalive: one(TcpKeepalive, 'Keepalive of connections to endpoints.', { lenient: true }),
  ingressClass: one(string, 'Class of the Ingress objects to serve. Default `istio`.'),
  ingressService: one(string, 'Service whose address Ingress objects get. Default `istio-ingressgateway`.'),
  ingressControllerMode: one(IngressControllerMode, 'Which Ingress objects are served.'),
  ingressSelector: one(string, 'Value of the label `istio` of the gateways that serve Ingress objects.'),
  enableTracing: one(bool, 'Trace requests.'),
  accessLogFile: one(string, 'File for access logs, as `/dev/stdout`; empty for none.'),
  accessLogFormat: one(string, "Format of a line, with Envoy's `%COMMANDS%`."),
  accessLogEncoding: one(AccessLogEncoding, 'Text or JSON.'),
  enableEnvoyAccessLogService: one(bool, 'Send access logs to the service in `defaultConfig.envoyAccessLogService`.'),
  disableEnvoyListenerLog: one(bool, 'Do not log connections for which a listener has no filter chain.'),
  defaultConfig: one(ProxyConfig, 'Settings of each proxy, below its own.'),
  outboundTrafficPolicy: one(MeshConfigOutboundTrafficPolicy, 'What happens to traffic for unknown hosts.'),
  inboundTrafficPolicy: one(InboundTrafficPolicy, 'What happens to inbound traffic for undeclared ports.'),
  configSources: list(ConfigSource, 'Where configuration is read from, read at the start. Default: `etc/istio/conf`.'),
  enableAutoMtls: one(bool, 'Use mutual TLS to each endpoint that can do it. Default true.'),
  trustDomain: one(string, "Trust domain of the mesh's identities. Default `cluster.local`."),
  trustDomainAliases: list(string, "Older trust domains that are accepted as the mesh's own."),
  caCertificates: list(CertificateData, 'Further root certificates.'),
  defaultServiceExportTo: list(string, 'Who sees a service that does not say so. Default `*`.'),
  defaultVirtualServiceExportTo: list(string, 'Who sees a VirtualService that does not say so. Default `*`.'),
  defaultDestinationRuleExportTo: list(string, 'Who sees a DestinationRule that does not say so. Default `*`.'),
  rootNamespace: one(string, 'Namespace whose policies are for the whole mesh. Default `istio-system`.'),
  localityLbSetting: one(LocalityLoadBalancerSetting, 'Preference for near endpoints.'),
  zoneAwareLbSetting: one(
    ZoneAwareLoadBalancerSetting,
    'Balancing that keeps zones evenly loaded; goes before `localityLbSetting`.',
    { lenient: true },
  ),
  dnsRefreshRate: one(duration, 'How often host names are resolved again. Default 60s.'),
  h2UpgradePolicy: one(MeshConfigH2UpgradePolicy, 'Whether HTTP/1.1 requests are sent on as HTTP/2.'),
  inboundClusterStatName: one(string, 'Pattern of the names of inbound clusters in statistics.'),
  outboundClusterStatName: one(string, 'Pattern of the names of outbound clusters in statistics.'),
  certificates: ignored(
    list(Certificate, "Certificates for the control plane's webhooks.", {
      deprecated: "provision the webhooks' certificates otherwise.",
    }),
    BY_KUBERNETES,
  ),
  serviceSettings: list(ServiceSettings, 'Settings by host.'),
  serviceScopeConfigs: ignored(list(ServiceScopeConfigs, 'Which services are shared among clusters.'), WITHOUT_AMBIENT),
  enablePrometheusMerge: ignored(
    one(bool, "The agent offers the application's metrics together with the proxy's."),
    FOR_AGENT,
  ),
  verifyCertificateAtClient: ignored(
    one(bool, "Check server certificates against the system's roots.", {
      deprecated: 'set `caCertificates` or `subjectAltNames` in a DestinationRule.',
    }),
    'a DestinationRule says by what a server is verified',
  ),
  ca: ignored(
    one(MeshConfigCA, 'An outside certificate authority.'),
    'certificates are signed here, or come from files',
  ),
  extensionProviders: list(ExtensionProvider, 'Tracers, loggers, authorizers and the like, which other objects name.'),
  defaultProviders: one(DefaultProviders, 'Those that are used where nothing names one.'),
  discoverySelectors: list(LabelSelector, 'Namespaces that are read; none: all. Any of the selectors suffices.'),
  pathNormalization: one(ProxyPathNormalization, 'How request paths are normalised.'),
  defaultHttpRetryPolicy: one(HTTPRetry, 'Retries of routes that do not say so.', { lenient: true }),
  defaultInboundHttpRetryPolicy: one(HTTPRetry, 'Retries of a sidecar towards its own application.'),
  meshMTLS: one(TLSConfig, 'TLS between proxies of the mesh.'),
  tlsDefaults: one(TLSConfig, 'TLS everywhere else.'),
  defaultTrafficPolicy: one(DefaultTrafficPolicy, 'Traffic policy of all services, below what DestinationRules say.'),
  serviceEntryVisibility: one(ServiceEntryVisibility, 'The widest visibility that ServiceEntries may have.'),
});

export const MeshFile: Message = {
  ...message('MeshFile', 'The file mesh.yaml: MeshConfig, and two keys for this server.', {
    ...MeshConfig.fields,
    env: map(scalarText, 'Settings laid over the environment of the server, by name.'),
    namespaces: list(string, 'Namespaces to serve. None: all.'),
  }),
  file: 'mesh.yaml',
};
