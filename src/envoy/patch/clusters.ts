import type { envoy } from '#generated/proto/types.ts';
import { type Context, isOfContext, matchesCluster } from './match.ts';
import { isMerge, mergedConfig, mergedWhole } from './merge-filter.ts';
import type { Patch, PatchSet } from './patch.ts';
import type { Patched } from './patched.ts';

type Cluster = envoy.config.cluster.v3.Cluster;
type TransportSocket = envoy.config.core.v3.TransportSocket;

const CLUSTER = 'envoy.config.cluster.v3.Cluster';

/** The context of a cluster, which its name tells. */
export function clusterContext(name: string, isGateway: boolean): Context {
  if (isGateway) return 'GATEWAY';
  return name.startsWith('inbound|') || name === 'InboundPassthroughCluster' ? 'SIDECAR_INBOUND' : 'SIDECAR_OUTBOUND';
}

/** The services that a cluster to the proxy's own workload is for. */
function hostsOf({ metadata }: Cluster): readonly string[] {
  const services = metadata?.filterMetadata?.['istio']?.['services'];
  if (!Array.isArray(services)) return [];
  return services.flatMap((service: { readonly host?: unknown }) =>
    typeof service?.host === 'string' ? [service.host] : [],
  );
}

/** @see istio/istio pilot/pkg/networking/core/envoyfilter/cluster_patch.go `ApplyClusterMerge` */
export function patchedCluster(cluster: Cluster, { patches }: PatchSet, context: Context): Patched<Cluster> {
  const applied = new Set<Patch>();
  let out = cluster;
  for (const patch of patches) {
    if (!isMerge(patch) && patch.operation !== 'REMOVE') continue;
    const isFor =
      patch.applyTo === 'CLUSTER' &&
      isOfContext(patch, context) &&
      matchesCluster(patch, out.name ?? '', () => hostsOf(out));
    if (!isFor) continue;
    applied.add(patch);
    if (patch.operation === 'REMOVE') return { applied };
    out = withTransportSocket(out, patch) ?? mergedWhole(CLUSTER, out, patch);
  }
  // Routes and endpoints refer to it by its name.
  return { object: { ...out, ...(cluster.name === undefined ? {} : { name: cluster.name }) }, applied };
}

/** A patch with a transport socket is about it alone. Undefined for one without. */
function withTransportSocket(cluster: Cluster, { value }: Patch): Cluster | undefined {
  const { transportSocket: source } = value as Cluster;
  if (source === undefined) return undefined;
  const { transportSocketMatches: matches = [], transportSocket } = cluster;
  if (matches.length > 0) {
    const at = matches.findIndex((match) => match.transportSocket?.name === source.name);
    const match = matches[at];
    // Beside matches, a socket that is for none of them would count for nothing.
    if (match?.transportSocket === undefined) return cluster;
    const socket = mergedSocket(match.transportSocket, source);
    return { ...cluster, transportSocketMatches: matches.with(at, { ...match, transportSocket: socket }) };
  }
  const isSame = transportSocket !== undefined && transportSocket.name === source.name;
  return { ...cluster, transportSocket: isSame ? mergedSocket(transportSocket, source) : source };
}

export function mergedSocket(target: TransportSocket, source: TransportSocket): TransportSocket {
  if (target.typedConfig === undefined || source.typedConfig === undefined) return target;
  return { ...target, typedConfig: mergedConfig(target.typedConfig, source.typedConfig) };
}

/**
 * Clusters that patches add. One that names no context is for what the proxy calls.
 *
 * @see istio/istio pilot/pkg/networking/core/envoyfilter/cluster_patch.go `InsertedClusters`
 */
export function addedClusters({ patches }: PatchSet): readonly (readonly [Patch, Cluster])[] {
  return patches
    .filter(({ applyTo, operation }) => applyTo === 'CLUSTER' && operation === 'ADD')
    .map((patch) => [patch, patch.value as Cluster]);
}
