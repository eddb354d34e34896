import type { MeshConfig, ProxyConfig } from '#generated/config/specs.ts';
import type { Config } from './config.ts';

/** @see istio/istio pkg/config/mesh/mesh.go `DefaultProxyConfig` */
const DEFAULT_PROXY_CONFIG: ProxyConfig = {
  configPath: './etc/istio/proxy',
  serviceCluster: 'istio-proxy',
  drainDuration: '45s',
  terminationDrainDuration: '5s',
  proxyAdminPort: 15000,
  controlPlaneAuthPolicy: 'MUTUAL_TLS',
  discoveryAddress: 'istiod.istio-system.svc:15012',
  binaryPath: '/usr/local/bin/envoy',
  statNameLength: 189,
  statusPort: 15020,
};

const DEFAULT_ROOT_NAMESPACE = 'istio-system';

/** @see istio/istio pkg/config/mesh/mesh.go `DefaultMeshConfig` */
export const DEFAULT_MESH_CONFIG: MeshConfig = {
  enableTracing: true,
  accessLogFile: '',
  accessLogEncoding: 'TEXT',
  accessLogFormat: '',
  enableEnvoyAccessLogService: false,
  protocolDetectionTimeout: '0s',
  ingressService: 'istio-ingressgateway',
  ingressControllerMode: 'STRICT',
  ingressClass: 'istio',
  trustDomain: 'cluster.local',
  trustDomainAliases: [],
  enableAutoMtls: true,
  outboundTrafficPolicy: { mode: 'ALLOW_ANY' },
  inboundTrafficPolicy: { mode: 'PASSTHROUGH' },
  localityLbSetting: { enabled: true },
  defaultConfig: DEFAULT_PROXY_CONFIG,
  rootNamespace: DEFAULT_ROOT_NAMESPACE,
  proxyListenPort: 15001,
  proxyInboundListenPort: 15006,
  connectTimeout: '10s',
  defaultServiceExportTo: ['*'],
  defaultVirtualServiceExportTo: ['*'],
  defaultDestinationRuleExportTo: ['*'],
  dnsRefreshRate: '60s',
  enablePrometheusMerge: true,
  defaultProviders: {},
  extensionProviders: [
    { name: 'prometheus', prometheus: {} },
    { name: 'stackdriver', stackdriver: {} },
    { name: 'envoy', envoyFileAccessLog: { path: '/dev/stdout' } },
  ],
};

type Provider = NonNullable<MeshConfig['extensionProviders']>[number];

/**
 * What is in force: mesh.yaml laid over Istio's defaults. A field that is set replaces the default's; `defaultConfig` and
 * `defaultProviders` are merged field by field, extension providers by name.
 *
 * @param rootNamespace the root namespace where mesh.yaml names none
 * @see istio/istio pkg/config/mesh/mesh.go `ApplyMeshConfig`
 */
export function effectiveMesh(
  config: Config<MeshConfig> | undefined,
  rootNamespace: string = DEFAULT_ROOT_NAMESPACE,
): MeshConfig {
  const spec = config?.spec;
  if (spec === undefined) return { ...DEFAULT_MESH_CONFIG, rootNamespace };
  return {
    ...DEFAULT_MESH_CONFIG,
    rootNamespace,
    ...spec,
    defaultConfig: effectiveProxyConfig(spec.defaultConfig),
    defaultProviders: { ...DEFAULT_MESH_CONFIG.defaultProviders, ...spec.defaultProviders },
    extensionProviders: withProviders(DEFAULT_MESH_CONFIG.extensionProviders ?? [], spec.extensionProviders ?? []),
    trustDomainAliases: [...new Set(spec.trustDomainAliases)].sort(),
  };
}

function effectiveProxyConfig(over: ProxyConfig | undefined): ProxyConfig {
  if (over === undefined) return DEFAULT_PROXY_CONFIG;
  return {
    ...DEFAULT_PROXY_CONFIG,
    ...over,
    ...(over.proxyMetadata ? { proxyMetadata: { ...DEFAULT_PROXY_CONFIG.proxyMetadata, ...over.proxyMetadata } } : {}),
  };
}

function withProviders(base: readonly Provider[], over: readonly Provider[]): readonly Provider[] {
  const byName = new Map(base.map((provider) => [provider.name, provider]));
  for (const provider of over) byName.set(provider.name, provider);
  return [...byName.values()];
}
