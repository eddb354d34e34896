import type { MeshConfig } from '#generated/config/specs.ts';
import type { AppliedRule, ClusterMesh } from '../envoy/clusters/outbound.ts';
import type { ConsolidatedDestinationRule } from '../model/destination-rule.ts';
import type { Mesh } from './mesh.ts';

export const CLUSTER = 'envoy.config.cluster.v3.Cluster';

/** What MeshConfig says of clusters, as one value. */
export interface ClusterFacets extends ClusterMesh {
  readonly inboundClusterStatName: string | undefined;
  readonly dnsRefreshRate: string | undefined;
  readonly defaultTrafficPolicy: MeshConfig['defaultTrafficPolicy'];
}

export function appliedRule({ rule }: ConsolidatedDestinationRule): AppliedRule {
  const { group, kind, namespace, name, spec } = rule;
  return { group, kind, namespace, name, selectsWorkloads: spec.workloadSelector !== undefined };
}

export function clusterFacets(mesh: Mesh): ClusterFacets {
  return {
    connectTimeout: mesh.facet('connectTimeout'),
    tcpKeepalive: mesh.facet('tcpKeepalive'),
    h2UpgradePolicy: mesh.facet('h2UpgradePolicy'),
    enableAutoMtls: mesh.facet('enableAutoMtls') ?? true,
    tlsDefaults: mesh.facet('tlsDefaults'),
    outboundClusterStatName: mesh.facet('outboundClusterStatName'),
    inboundClusterStatName: mesh.facet('inboundClusterStatName'),
    dnsRefreshRate: mesh.facet('dnsRefreshRate'),
    redis: mesh.options.listeners.redis,
    defaultTrafficPolicy: mesh.facet('defaultTrafficPolicy'),
  };
}
