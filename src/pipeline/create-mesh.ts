import type { PeerAuthentication } from '#generated/config/specs.ts';
import { sameItems } from '../base/equal.ts';
import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Graph, Input } from '../derive/graph.ts';
import { AskedNames } from './asked-names.ts';
import { deriveConfiguration } from './configuration.ts';
import { deriveConversions } from './conversions/conversions.ts';
import { deriveDestinationRules } from './destination-rules.ts';
import { deriveEnvoyFilters } from './envoy-filters.ts';
import { deriveBoundVirtualServices } from './gateways/bound-virtual-services.ts';
import { deriveGatewayHeads } from './gateways/gateway-heads.ts';
import { deriveMergedGateways } from './gateways/merged-gateways.ts';
import { deriveKeySets } from './key-sets.ts';
import type { Mesh } from './mesh.ts';
import { deriveFindCluster } from './mesh-cluster.ts';
import { deriveMeshRoots } from './mesh-roots.ts';
import type { MeshOptions } from './options.ts';
import { patchedTypes } from './patched.ts';
import { deriveScopes } from './scopes.ts';
import { deriveFileSecrets } from './secrets/file-secrets.ts';
import { deriveServices } from './services.ts';
import { deriveTrafficExtensions } from './traffic-extensions.ts';
import { deriveVips } from './vips.ts';
import { deriveVirtualServices } from './virtual-services.ts';
import { deriveWorkloads } from './workloads.ts';

/** Declares the derivations that all resource types build on. */
export function createMesh(graph: Graph, configs: Input<ConfigKey, Config>, options: MeshOptions): Mesh {
  const written = deriveConfiguration(graph, configs, options);
  const workloads = deriveWorkloads(graph, written, options);
  const vips = deriveVips(graph, written, options.addressAllocation);
  const services = deriveServices(graph, written, workloads, vips, options);
  const { configuration, conversions } = deriveConversions(graph, written, services, options);
  const findCluster = deriveFindCluster(graph, services);
  const virtualServices = deriveVirtualServices(graph, configuration, options);
  const destinationRules = deriveDestinationRules(graph, configuration, options);
  const envoyFilters = deriveEnvoyFilters(graph, configuration);
  const scopes = deriveScopes(graph, configuration, workloads, services, virtualServices, envoyFilters);
  const peerAuthentications = graph.derived<string, readonly Config<PeerAuthentication>[]>(
    'peerAuthentications',
    (namespace) =>
      [
        ...configuration.ofKindIn<PeerAuthentication>('PeerAuthentication', namespace || configuration.rootNamespace()),
      ].sort((a, b) => a.creationTime - b.creationTime || compareStrings(a.name, b.name)),
    { equals: sameItems },
  );
  const gateways = deriveGatewayHeads(graph, configuration);
  const mergedGateway = deriveMergedGateways(graph, { ...configuration, ...scopes, gateways });
  return {
    ...configuration,
    ...services,
    ...virtualServices,
    ...destinationRules,
    ...scopes,
    boundVirtualServices: deriveBoundVirtualServices(graph, virtualServices),
    peerAuthentications,
    asked: new AskedNames(graph),
    vips,
    envoyFilters,
    conversions,
    trafficExtensions: deriveTrafficExtensions(graph, configuration),
    findCluster,
    keySets: deriveKeySets(graph, configuration, findCluster, options.jwksFetchMode),
    gateways,
    patched: patchedTypes({ configs, envoyFilters, mergedGateway }),
    time: graph.input<'', number>('time'),
    roots: deriveMeshRoots(graph, configuration),
    mergedGateway,
    fileSecrets: deriveFileSecrets(graph, { ...configuration, mergedGateway }),
    options,
  };
}
