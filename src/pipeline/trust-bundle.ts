import type { Derived, Graph } from '../derive/graph.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { messageName, PROXY_CONFIG_TYPE } from '../proto/type-urls.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import { type Mesh, ONE } from './mesh.ts';
import type { ScopedResources } from './resource-types.ts';

const MESSAGE = messageName(PROXY_CONFIG_TYPE) as 'istio.mesh.v1alpha1.ProxyConfig';

/**
 * The roots that a mesh of several has, for agents (PCDS): one resource, named after its type since it has no name. A mesh that
 * was not said to have several has none, and agents keep the root that they have.
 *
 * @see istio/istio pilot/pkg/xds/pcds.go
 */
export function deriveTrustBundle(graph: Graph, mesh: Mesh): ScopedResources {
  const bundle: Derived<'', EncodedResource | undefined> = graph.derived(
    'trustBundle',
    () => {
      const caCertificatesPem = mesh.options.multiRootMesh ? mesh.roots.all.get(ONE) : [];
      if (caCertificatesPem.length === 0) return undefined;
      return encodedResource(MESSAGE, PROXY_CONFIG_TYPE, { caCertificatesPem });
    },
    { equals: sameVersion },
  );
  return graph.collection<ProxyScope, string, EncodedResource>('trustBundles', {
    items: () => [PROXY_CONFIG_TYPE],
    value: () => bundle.get(ONE),
    equals: sameVersion,
  });
}
