import type { LoadBalancerSettings, TcpKeepalive, TLSConfig, TrafficPolicy } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import type { MtlsMode } from '../../model/authentication.ts';
import type { LocalityPolicy } from '../../model/locality-policy.ts';
import type { Service, ServicePort } from '../../model/service.ts';
import type { EndpointGroup } from '../endpoints/groups.ts';
import { loadAssignment } from '../endpoints/load-assignment.ts';
import { altStatName, sniClusterName, statName } from '../names.ts';
import { connectionPool } from './connection-pool.ts';
import { metadataExchange } from './filters.ts';
import {
  httpOptions,
  httpOptionsExtension,
  isUpgraded,
  type UpstreamProtocol,
  upstreamProtocol,
} from './http-options.ts';
import { commonLbConfig, loadBalancer } from './load-balancer.ts';
import { type ConfigName, clusterMetadata } from './metadata.ts';
import { offeredAlpn } from './offered-alpn.ts';
import { outlierDetection } from './outlier-detection.ts';
import { transport, type UpstreamTls, upstreamTls } from './tls.ts';
import { type TlsSettings, tlsSettings } from './tls-settings.ts';
import type { ClusterView } from './view.ts';

type Cluster = envoy.config.cluster.v3.Cluster;
export type Discovery = 'EDS' | 'STRICT_DNS' | 'LOGICAL_DNS' | 'ORIGINAL_DST';

/** MeshConfig's part in clusters. */
export interface ClusterMesh {
  readonly connectTimeout?: string | undefined;
  readonly tcpKeepalive?: TcpKeepalive | undefined;
  readonly h2UpgradePolicy?: string | undefined;
  readonly enableAutoMtls: boolean;
  readonly tlsDefaults?: TLSConfig | undefined;
  readonly outboundClusterStatName?: string | undefined;
  /** Redis is spoken by the proxy, which sends each key to its endpoint. */
  readonly redis?: boolean;
}

/** Each key of Redis has one endpoint, whatever a rule says. */
const SHARDED: LoadBalancerSettings = { consistentHash: { maglev: {} } };

/** The DestinationRule that applies. */
export interface AppliedRule extends ConfigName {
  /** It chooses the workloads to which it applies. */
  readonly selectsWorkloads: boolean;
}

/** Endpoints of a cluster whose names the proxy looks up. */
export interface DnsEndpoints {
  readonly groups: readonly EndpointGroup[];
  readonly lookupFamily: envoy.config.cluster.v3.Cluster.DnsLookupFamily;
  /** MeshConfig `dnsRefreshRate`. */
  readonly refreshRate?: string | undefined;
}

export interface OutboundClusterInput {
  readonly name: string;
  readonly service: Service;
  readonly port: ServicePort;
  /** Empty: the whole service. */
  readonly subset: string;
  /** Of the port and the subset, the mesh's defaults filled in. */
  readonly policy: TrafficPolicy | undefined;
  readonly rule: AppliedRule | undefined;
  readonly discovery: Discovery;
  /** Where `discovery` is by DNS. */
  readonly dns?: DnsEndpoints;
  readonly localityPolicy: LocalityPolicy | undefined;
  readonly serverMode: MtlsMode | undefined;
  /** SANs to expect of the servers in the mesh. */
  readonly serviceAccounts: readonly string[];
  /** A gateway passes TLS through it unopened, so it adds none of its own. */
  readonly passesTls: boolean;
  readonly mesh: ClusterMesh;
  readonly view: ClusterView;
}

/**
 * How the addresses of a service are found by a proxy.
 * @see istio/istio pilot/pkg/networking/core/cluster.go `convertResolution`
 */
export function discoveryOf({ resolution, dnsConnectStrategy }: Service, type: ClusterView['type']): Discovery {
  switch (resolution) {
    case 'DNSLB':
      return dnsConnectStrategy === RACE_FIRST_CONNECT ? 'LOGICAL_DNS' : 'STRICT_DNS';
    case 'DNSRoundRobinLB':
      return 'LOGICAL_DNS';
    case 'Passthrough':
      // What comes to a gateway was meant for the gateway: there is no original destination behind it.
      return type === 'router' ? 'EDS' : 'ORIGINAL_DST';
    default:
      return 'EDS';
  }
}

/** Of the annotation `istio.io/connect-strategy`: all addresses of a name are tried, the fastest wins. */
const RACE_FIRST_CONNECT = 'RACE_FIRST_TCP_CONNECT';

/**
 * The cluster through which a proxy reaches one port of a service, or one subset of it.
 *
 * @returns undefined when its names are to be looked up and it has none
 * @see istio/istio pilot/pkg/networking/core/cluster_builder.go `applyDestinationRule`, `buildCluster`
 */
export function outboundCluster(input: OutboundClusterInput): Cluster | undefined {
  const { name, service, port, subset, policy, discovery, rule, mesh, view, dns, localityPolicy } = input;
  if (dns !== undefined && dns.groups.length === 0) return undefined;
  const passedThrough = discovery === 'ORIGINAL_DST' || policy?.loadBalancer?.simple === 'PASSTHROUGH';
  const pool = policy?.connectionPool;
  const outlier = policy?.outlierDetection;
  const protocol = protocolOf(input);
  const http2 = protocol === 'http2' && pool?.http?.useClientProtocol !== true;
  const tls = input.passesTls ? undefined : upstreamTlsSettings(input);
  const secured = input.passesTls ? NOTHING_SECURED : secure(input, tls, http2);
  const shards = mesh.redis === true && port.protocol === 'Redis';
  return {
    name,
    type: passedThrough ? 'ORIGINAL_DST' : typeOf(discovery, dns),
    altStatName: altStatName(outboundStatName(input)),
    ...dnsOptions(service, dns),
    ...(dns === undefined || passedThrough ? {} : { loadAssignment: loadAssignment(name, dns.groups) }),
    ...(passedThrough || discovery !== 'EDS' ? {} : edsConfig(name)),
    ...(discovery === 'ORIGINAL_DST' ? originalDestination(service, port) : {}),
    ...connectionPool({ pool, retryBudget: policy?.retryBudget, mesh }),
    ...(outlier === undefined ? {} : { outlierDetection: outlierDetection(outlier) }),
    ...(passedThrough ? { lbPolicy: 'CLUSTER_PROVIDED' } : loadBalancer(shards ? SHARDED : policy?.loadBalancer)),
    commonLbConfig: commonLbConfig({
      service,
      outlierDetection: outlier,
      localityPolicy,
      keepsDraining: subset === '' && !input.passesTls && service.persistentSession !== undefined,
    }),
    ...(input.passesTls
      ? {}
      : transport({
          tls,
          context: secured.context,
          matchesEndpoints: !passedThrough,
          proxyProtocol: policy?.proxyProtocol && (policy.proxyProtocol.version ?? 'V1'),
        })),
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
    ...clusterMetadata({
      services: [service],
      external: subset === '' && service.meshExternal,
      rule,
      subset,
      tlsMode: policy?.tls?.mode,
      alpn: offeredAlpn({
        protocol,
        clientProtocol: pool?.http?.useClientProtocol === true,
        meshTls: tls?.settings.mode === 'ISTIO_MUTUAL' && secured.context !== undefined,
        istioExtensions: view.istioExtensions,
      }),
    }),
  };
}

/** A LOGICAL_DNS cluster must have one endpoint and no more, or an Envoy refuses it. */
function typeOf(discovery: Discovery, dns: DnsEndpoints | undefined): Discovery {
  const count = dns?.groups.reduce((sum, { endpoints }) => sum + endpoints.length, 0) ?? 1;
  return discovery === 'LOGICAL_DNS' && count !== 1 ? 'STRICT_DNS' : discovery;
}

const NOTHING_SECURED: UpstreamTls = { autoSni: false, autoSanValidation: false, insecure: false };

export function protocolOf({
  port,
  policy,
  mesh,
  view,
}: Pick<OutboundClusterInput, 'port' | 'policy' | 'mesh' | 'view'>): UpstreamProtocol {
  const { preserveHeaderCase, type } = view;
  const known = upstreamProtocol({
    protocol: port.protocol,
    detectsProtocols: type === 'sidecar',
    preserveHeaderCase,
  });
  return known === 'unset' && isUpgraded(policy?.connectionPool, port.protocol, mesh.h2UpgradePolicy) ? 'http2' : known;
}

function upstreamTlsSettings(input: OutboundClusterInput): TlsSettings | undefined {
  const { service, port, subset, policy, serviceAccounts, serverMode, mesh, view } = input;
  return tlsSettings({
    tls: policy?.tls,
    serviceAccounts,
    sni: sniClusterName(port.port, subset, service.hostname),
    autoMtls: mesh.enableAutoMtls,
    meshExternal: service.meshExternal,
    serverMode,
    clientFiles: view.clientFiles,
  });
}

function secure(input: OutboundClusterInput, tls: TlsSettings | undefined, http2: boolean): UpstreamTls {
  const { service, view, rule, mesh } = input;
  return upstreamTls({
    tls,
    clusterName: input.name,
    view,
    http2,
    dynamicDns: false,
    ruleSelectsWorkloads: rule?.selectsWorkloads === true,
    serviceEntryNames: service.registry === 'External' ? input.serviceAccounts : undefined,
    tlsDefaults: mesh.tlsDefaults,
  });
}

function outboundStatName({ name, service, port, subset, mesh }: OutboundClusterInput): string {
  const pattern = mesh.outboundClusterStatName;
  if (!pattern) return name;
  const { hostname, namespace } = service;
  const kubernetes = service.registry === 'Kubernetes' ? { name: service.name, namespace } : undefined;
  return statName(pattern, { hostname, subset, port, targetPort: 0, ...(kubernetes ? { kubernetes } : {}) });
}

function edsConfig(serviceName: string): Cluster {
  return {
    edsClusterConfig: {
      serviceName,
      edsConfig: { ads: {}, initialFetchTimeout: '0s', resourceApiVersion: 'V3' },
    },
  };
}

function originalDestination({ passthroughTargetPorts }: Service, { port }: ServicePort): Cluster {
  const override = passthroughTargetPorts?.[port];
  return override === undefined ? {} : { originalDstLbConfig: { upstreamPortOverride: override } };
}

function dnsOptions({ dnsConnectStrategy }: Service, dns: DnsEndpoints | undefined): Cluster {
  if (dns === undefined) return {};
  return {
    dnsLookupFamily: dnsConnectStrategy === RACE_FIRST_CONNECT ? 'ALL' : dns.lookupFamily,
    typedDnsResolverConfig: {
      name: 'envoy.network.dns_resolver.cares',
      typedConfig: {
        '@type': 'type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig',
        udpMaxQueries: 100,
      },
    },
    dnsJitter: '0.100s',
    ...(dns.refreshRate === undefined ? {} : { dnsRefreshRate: protoDuration(dns.refreshRate) }),
    respectDnsTtl: true,
  };
}
