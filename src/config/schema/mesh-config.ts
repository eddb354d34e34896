import { ClientTLSSettings } from './client-tls.ts';
import { ConnectionPoolSettings, OutlierDetection, TcpKeepalive } from './connection-pool.ts';
import { HTTPRetry } from './http-retry.ts';
import { LocalityLoadBalancerSetting, ZoneAwareLoadBalancerSetting } from './load-balancer.ts';
import { ExtensionProvider } from './mesh-extension-provider.ts';
import { LabelSelector } from './mesh-label-selector.ts';
import { ProxyConfig } from './mesh-proxy-config.ts';
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
  scalarText,
  string,
} from './schema.ts';

export const IngressControllerMode: Enum = enumeration('IngressControllerMode', '', [
  'UNSPECIFIED',
  'OFF',
  'DEFAULT',
  'STRICT',
]);

export const AccessLogEncoding: Enum = enumeration('AccessLogEncoding', '', ['TEXT', 'JSON']);

export const MeshConfigOutboundTrafficPolicyMode: Enum = enumeration('MeshConfigOutboundTrafficPolicyMode', '', {
  REGISTRY_ONLY: 0,
  ALLOW_ANY: 1,
  ALLOW_ANY_DYNAMIC_DNS: 3,
});

export const MeshConfigOutboundTrafficPolicy: Message = message('MeshConfigOutboundTrafficPolicy', '', {
  mode: one(MeshConfigOutboundTrafficPolicyMode, ''),
  tls: one(ClientTLSSettings, ''),
});

export const InboundTrafficPolicyMode: Enum = enumeration('InboundTrafficPolicyMode', '', ['PASSTHROUGH', 'LOCALHOST']);

export const InboundTrafficPolicy: Message = message('InboundTrafficPolicy', '', {
  mode: one(InboundTrafficPolicyMode, ''),
});

export const ConfigSourceResource: Enum = enumeration('ConfigSourceResource', '', ['SERVICE_REGISTRY']);

export const ConfigSource: Message = message('ConfigSource', '', {
  address: one(string, ''),
  tlsSettings: one(ClientTLSSettings, ''),
  subscribedResources: list(ConfigSourceResource, ''),
});

export const CertificateData: Message = message('CertificateData', '', {
  pem: one(string, '', { oneof: 'certificateData' }),
  spiffeBundleUrl: one(string, '', { oneof: 'certificateData' }),
  certSigners: list(string, ''),
  trustDomains: list(string, ''),
});

export const MeshConfigH2UpgradePolicy: Enum = enumeration('MeshConfigH2UpgradePolicy', '', [
  'DO_NOT_UPGRADE',
  'UPGRADE',
]);

export const Certificate: Message = message('Certificate', '', {
  secretName: one(string, ''),
  dnsNames: list(string, ''),
});

export const ServiceSettingsSettings: Message = message('ServiceSettingsSettings', '', {
  clusterLocal: one(bool, ''),
});

export const ServiceSettings: Message = message('ServiceSettings', '', {
  settings: one(ServiceSettingsSettings, ''),
  hosts: list(string, ''),
});

export const ServiceScopeConfigsScope: Enum = enumeration('ServiceScopeConfigsScope', '', ['LOCAL', 'GLOBAL']);

export const ServiceScopeConfigs: Message = message('ServiceScopeConfigs', '', {
  namespaceSelector: one(LabelSelector, ''),
  servicesSelector: one(LabelSelector, ''),
  scope: one(ServiceScopeConfigsScope, ''),
});

export const MeshConfigCA: Message = message('MeshConfigCA', '', {
  address: one(string, ''),
  tlsSettings: one(ClientTLSSettings, ''),
  requestTimeout: one(duration, ''),
  istiodSide: one(bool, ''),
});

export const DefaultProviders: Message = message('DefaultProviders', '', {
  tracing: list(string, ''),
  metrics: list(string, ''),
  accessLogging: list(string, ''),
});

export const NormalizationType: Enum = enumeration('NormalizationType', '', [
  'DEFAULT',
  'NONE',
  'BASE',
  'MERGE_SLASHES',
  'DECODE_AND_MERGE_SLASHES',
]);

export const ProxyPathNormalization: Message = message('ProxyPathNormalization', '', {
  normalization: one(NormalizationType, ''),
});

export const TLSConfigTLSProtocol: Enum = enumeration('TLSConfigTLSProtocol', '', ['TLS_AUTO', 'TLSV1_2', 'TLSV1_3']);

export const TLSConfig: Message = message('TLSConfig', '', {
  minProtocolVersion: one(TLSConfigTLSProtocol, ''),
  ecdhCurves: list(string, ''),
  cipherSuites: list(string, ''),
});

export const DefaultTrafficPolicy: Message = message('DefaultTrafficPolicy', '', {
  connectionPool: one(ConnectionPoolSettings, ''),
  outlierDetection: one(OutlierDetection, ''),
});

export const ServiceEntryVisibilityVisibility: Enum = enumeration('ServiceEntryVisibilityVisibility', '', [
  'VISIBILITY_UNSPECIFIED',
  'NONE',
  'NAMESPACE',
  'PUBLIC',
]);

export const MatchRule: Message = message('MatchRule', '', {
  namespaceSelector: one(LabelSelector, '', { oneof: 'matcher' }),
});

export const ServiceEntryVisibilityPolicy: Message = message('ServiceEntryVisibilityPolicy', '', {
  visibility: one(ServiceEntryVisibilityVisibility, ''),
  matchingRules: list(MatchRule, ''),
});

export const ServiceEntryVisibility: Message = message('ServiceEntryVisibility', '', {
  defaultVisibility: one(ServiceEntryVisibilityVisibility, ''),
  applyToSidecars: one(bool, ''),
  policies: list(ServiceEntryVisibilityPolicy, ''),
});

export const MeshConfig: Message = message('MeshConfig', '', {
  proxyListenPort: one(int32, ''),
  proxyInboundListenPort: one(int32, ''),
  proxyHttpPort: one(int32, ''),
  connectTimeout: one(duration, ''),
  hboneIdleTimeout: one(duration, ''),
  protocolDetectionTimeout: one(duration, ''),
  tcpKeepalive: one(TcpKeepalive, ''),
  ingressClass: one(string, ''),
  ingressService: one(string, ''),
  ingressControllerMode: one(IngressControllerMode, ''),
  ingressSelector: one(string, ''),
  enableTracing: one(bool, ''),
  accessLogFile: one(string, ''),
  accessLogFormat: one(string, ''),
  accessLogEncoding: one(AccessLogEncoding, ''),
  enableEnvoyAccessLogService: one(bool, ''),
  disableEnvoyListenerLog: one(bool, ''),
  defaultConfig: one(ProxyConfig, ''),
  outboundTrafficPolicy: one(MeshConfigOutboundTrafficPolicy, ''),
  inboundTrafficPolicy: one(InboundTrafficPolicy, ''),
  configSources: list(ConfigSource, ''),
  enableAutoMtls: one(bool, ''),
  trustDomain: one(string, ''),
  trustDomainAliases: list(string, ''),
  caCertificates: list(CertificateData, ''),
  defaultServiceExportTo: list(string, ''),
  defaultVirtualServiceExportTo: list(string, ''),
  defaultDestinationRuleExportTo: list(string, ''),
  rootNamespace: one(string, ''),
  localityLbSetting: one(LocalityLoadBalancerSetting, ''),
  zoneAwareLbSetting: one(ZoneAwareLoadBalancerSetting, ''),
  dnsRefreshRate: one(duration, ''),
  h2UpgradePolicy: one(MeshConfigH2UpgradePolicy, ''),
  inboundClusterStatName: one(string, ''),
  outboundClusterStatName: one(string, ''),
  certificates: list(Certificate, '', { deprecated: '' }),
  serviceSettings: list(ServiceSettings, ''),
  serviceScopeConfigs: list(ServiceScopeConfigs, ''),
  enablePrometheusMerge: one(bool, ''),
  verifyCertificateAtClient: one(bool, '', { deprecated: '' }),
  ca: one(MeshConfigCA, ''),
  extensionProviders: list(ExtensionProvider, ''),
  defaultProviders: one(DefaultProviders, ''),
  discoverySelectors: list(LabelSelector, ''),
  pathNormalization: one(ProxyPathNormalization, ''),
  defaultHttpRetryPolicy: one(HTTPRetry, ''),
  meshMTLS: one(TLSConfig, ''),
  tlsDefaults: one(TLSConfig, ''),
  defaultTrafficPolicy: one(DefaultTrafficPolicy, ''),
  serviceEntryVisibility: one(ServiceEntryVisibility, ''),
  defaultInboundHttpRetryPolicy: one(HTTPRetry, ''),
});

export const MeshFile: Message = message('MeshFile', 'The file mesh.yaml: MeshConfig, and two keys for this server.', {
  ...MeshConfig.fields,
  env: map(scalarText, 'Settings laid over the environment of the server, by name.'),
  namespaces: list(string, 'Namespaces to serve. None: all.'),
});
