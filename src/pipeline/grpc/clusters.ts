import type { envoy } from '#generated/proto/types.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import { grpcCluster } from '../../envoy/grpc/cluster.ts';
import { outboundName } from '../../envoy/grpc/routes.ts';
import type { ProxyScope } from '../../model/scope.ts';
import { policyOfSubset } from '../../model/traffic-policy.ts';
import type { EncodedResource } from '../../proto/resource-set.ts';
import { CLUSTER_TYPE } from '../../proto/type-urls.ts';
import { CLUSTER } from '../cluster-facets.ts';
import { encodedResource, sameVersion } from '../encoded-resource.ts';
import { type Mesh, namespacedHost } from '../mesh.ts';
import type { Outbound } from '../outbound.ts';
import type { OutboundEntry } from '../outbound-plan.ts';
import type { ScopedResources } from '../resource-types.ts';

/** What a client of the scope reaches by a cluster's name; undefined: nothing. */
export function entryNamed(
  { knownService, entryOf }: Pick<Outbound, 'knownService' | 'entryOf'>,
  scope: ProxyScope,
  name: string,
): OutboundEntry | undefined {
  const named = outboundName(name);
  const service = named && knownService(scope, named.hostname);
  return service && entryOf(scope, service, name);
}

/** The clusters that clients without a proxy ask for. */
export function deriveGrpcClusters(graph: Graph, mesh: Mesh, outbound: Outbound): ScopedResources {
  const asked = mesh.asked.of(CLUSTER_TYPE);

  const translated = ({ name, serviceId, rule, subset, port }: OutboundEntry): envoy.config.cluster.v3.Cluster => {
    const service = mesh.serviceById.get(serviceId);
    const policy = policyOfSubset(rule?.rule.spec, subset, port.port);
    const secured = policy?.tls?.mode === 'ISTIO_MUTUAL';
    return grpcCluster({
      name,
      policy,
      serviceAccounts:
        secured && service ? mesh.serviceAccounts.get(namespacedHost(service.namespace, service.hostname)) : [],
      persistentSession: service?.persistentSession !== undefined,
    });
  };
  const clusters: Derived<OutboundEntry, EncodedResource> = graph.derived(
    'grpcCluster',
    (entry) => encodedResource(CLUSTER, entry.name, translated(entry)),
    { equals: sameVersion },
  );
  return graph.collection<ProxyScope, string, EncodedResource>('grpcClusters', {
    items: (scope) => asked.get(scope) ?? [],
    value: (name, scope) => {
      const entry = entryNamed(outbound, scope, name);
      return entry && clusters.get(entry);
    },
    equals: sameVersion,
  });
}
