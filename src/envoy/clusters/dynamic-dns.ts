import type { ClientTLSSettings, TrafficPolicy } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { MtlsMode } from '../../model/authentication.ts';
import type { Protocol } from '../../model/protocol.ts';
import type { Service, ServicePort } from '../../model/service.ts';
import { anyDnsCache, type DnsLookupFamily, hostDnsCache } from '../dns-cache.ts';
import { ALLOW_ANY_DYNAMIC_DNS_CLUSTER, altStatName } from '../names.ts';
import { connectionPool } from './connection-pool.ts';
import { metadataExchange } from './filters.ts';
import { httpOptions, httpOptionsExtension, passthroughHttpOptions } from './http-options.ts';
import { commonLbConfig } from './load-balancer.ts';
import { clusterMetadata } from './metadata.ts';
import { type AppliedRule, type ClusterMesh, protocolOf } from './outbound.ts';
import { outlierDetection } from './outlier-detection.ts';
import { transport, upstreamTls } from './tls.ts';
import { tlsSettings } from './tls-settings.ts';
import type { ClusterView } from './view.ts';

type Cluster = envoy.config.cluster.v3.Cluster;
type DnsCacheConfig = envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig;

const DYNAMIC_DNS_PROTOCOLS: ReadonlySet<Protocol> = new Set<Protocol>(['HTTP', 'TLS', 'GRPC', 'HTTP2']);

/** Only a protocol that names a host can have its address found by it. */
export function namesItsHost(protocol: Protocol): boolean {
  return DYNAMIC_DNS_PROTOCOLS.has(protocol);
}

export interface DynamicDnsClusterInput {
  readonly name: string;
  readonly service: Service;
  readonly port: ServicePort;
  /** Of the port, the mesh's defaults filled in. */
  readonly policy: TrafficPolicy | undefined;
  readonly rule: AppliedRule | undefined;
  readonly serverMode: MtlsMode | undefined;
  readonly lookupFamily: DnsLookupFamily;
  readonly mesh: ClusterMesh;
  readonly view: ClusterView;
}

/**
 * The cluster for a port of a wildcard host: each request's own host is looked up. It has no subsets.
 * @see istio/istio pilot/pkg/networking/core/cluster_builder.go `buildDFPCluster`
 */
export function dynamicDnsCluster(input: DynamicDnsClusterInput): Cluster {
  const { name, service, policy, rule, mesh, view } = input;
  const pool = policy?.connectionPool;
  const outlier = policy?.outlierDetection;
  const protocol = protocolOf(input);
  const tls = tlsSettings({
    tls: policy?.tls,
    serviceAccounts: [],
    sni: '',
    autoMtls: mesh.enableAutoMtls,
    meshExternal: service.meshExternal,
    serverMode: input.serverMode,
    clientFiles: view.clientFiles,
  });
  const secured = upstreamTls({
    tls,
    clusterName: name,
    view,
    http2: protocol === 'http2' && pool?.http?.useClientProtocol !== true,
    dynamicDns: true,
    ruleSelectsWorkloads: rule?.selectsWorkloads === true,
    tlsDefaults: mesh.tlsDefaults,
  });
  return {
    name,
    clusterType: dynamicForwardProxy(hostDnsCache(service.hostname, input.lookupFamily), secured.insecure),
    altStatName: altStatName(name),
    lbPolicy: 'CLUSTER_PROVIDED',
    ...connectionPool({ pool, retryBudget: policy?.retryBudget, mesh }),
    ...(outlier === undefined
      ? {}
      : {
          outlierDetection: outlierDetection(outlier),
          commonLbConfig: commonLbConfig({
            service,
            outlierDetection: outlier,
            localityPolicy: undefined,
            keepsDraining: false,
          }),
        }),
    ...transport({
      tls,
      context: secured.context,
      matchesEndpoints: true,
      proxyProtocol: policy?.proxyProtocol && (policy.proxyProtocol.version ?? 'V1'),
    }),
    ...httpOptionsExtension(
      httpOptions({
        protocol,
        preserveHeaderCase: view.preserveHeaderCase,
        pool,
        outlierDetection: outlier,
        autoSni: secured.autoSni,
        autoSanValidation: secured.autoSanValidation,
      }),
    ),
    ...metadataExchange(view),
    ...clusterMetadata({ external: service.meshExternal, rule, tlsMode: policy?.tls?.mode }),
  };
}

export interface AnyDynamicDnsClusterInput {
  /** MeshConfig `outboundTrafficPolicy.tls`. */
  readonly tls: ClientTLSSettings | undefined;
  readonly lookupFamily: DnsLookupFamily;
  /** `host:port` where the node's agent answers DNS; undefined when the node's DNS is not captured. */
  readonly agentDns: string | undefined;
  readonly mesh: ClusterMesh;
  readonly view: ClusterView;
}

/**
 * Where traffic to unknown hosts goes in the outbound mode ALLOW_ANY_DYNAMIC_DNS.
 * @see istio/istio pilot/pkg/networking/core/cluster_builder.go `buildAllowAnyDFPCluster`
 */
export function anyDynamicDnsCluster({ tls, lookupFamily, agentDns, mesh, view }: AnyDynamicDnsClusterInput): Cluster {
  const used = tls === undefined || (tls.mode ?? 'DISABLE') === 'DISABLE' ? undefined : { settings: tls, auto: false };
  const name = ALLOW_ANY_DYNAMIC_DNS_CLUSTER;
  const secured = upstreamTls({
    tls: used,
    clusterName: name,
    view,
    http2: false,
    dynamicDns: true,
    ruleSelectsWorkloads: false,
    tlsDefaults: mesh.tlsDefaults,
  });
  const { autoSni, autoSanValidation } = secured;
  const names =
    autoSni || autoSanValidation ? { upstreamHttpProtocolOptions: namesOf(autoSni, autoSanValidation) } : {};
  return {
    name,
    clusterType: dynamicForwardProxy(anyDnsCache(lookupFamily, agentDns), used === undefined || secured.insecure),
    altStatName: altStatName(name),
    lbPolicy: 'CLUSTER_PROVIDED',
    ...connectionPool({ pool: undefined, mesh }),
    ...transport({ tls: used, context: secured.context, matchesEndpoints: false, proxyProtocol: undefined }),
    ...httpOptionsExtension({ ...passthroughHttpOptions(view.preserveHeaderCase), ...names }),
    ...metadataExchange(view),
  };
}

function namesOf(autoSni: boolean, autoSanValidation: boolean): envoy.config.core.v3.UpstreamHttpProtocolOptions {
  return { ...(autoSni ? { autoSni } : {}), ...(autoSanValidation ? { autoSanValidation } : {}) };
}

function dynamicForwardProxy(dnsCacheConfig: DnsCacheConfig, insecure: boolean): NonNullable<Cluster['clusterType']> {
  return {
    name: 'envoy.clusters.dynamic_forward_proxy',
    typedConfig: {
      '@type': 'type.googleapis.com/envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig',
      dnsCacheConfig,
      ...(insecure ? { allowInsecureClusterOptions: true } : {}),
    },
  };
}
