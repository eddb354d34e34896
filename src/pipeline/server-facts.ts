import type { ServiceEntry, VirtualService } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import type { Hostname } from '../base/host.ts';
import { selects } from '../base/labels.ts';
import { compareStrings } from '../base/order.ts';
import type { Graph } from '../derive/graph.ts';
import type { MeshFacts, ServerSide } from '../model/analysis/facts.ts';
import { namespaceMtlsMode } from '../model/authentication.ts';
import type { Service } from '../model/service.ts';
import { fullHostname } from '../model/virtual-service.ts';
import { isVisible, type Visibility, visibilityOf } from '../model/visibility.ts';
import type { Mesh } from './mesh.ts';

export type ServerFacts = Pick<MeshFacts, 'serverSide' | 'hasServer' | 'otherOwners' | 'isSentRequests'>;

/** What analyzers ask about the servers behind a host. */
export function deriveServerFacts(
  graph: Graph,
  mesh: Mesh,
  { hasWorkload }: Pick<MeshFacts, 'hasWorkload'>,
): ServerFacts {
  const visibility = ({ exportTo, namespace }: Service) =>
    visibilityOf(exportTo, mesh.facet('defaultServiceExportTo') ?? ['*'], namespace);
  const seen = (host: Hostname, client: string): readonly Service[] =>
    mesh.servicesOfHost.get(host).filter((service) => isVisible(visibility(service), client));
  const modeOf = (namespace: string) => {
    const root = mesh.rootNamespace();
    return namespaceMtlsMode(
      mesh.peerAuthentications.get(''),
      namespace === root ? [] : mesh.peerAuthentications.get(namespace),
    );
  };
  /** Key `namespace/host`. */
  const sides = graph.derived<string, ServerSide | undefined>(
    'serverSide',
    (id) => {
      const at = id.indexOf('/');
      const [client, host] = [id.slice(0, at), id.slice(at + 1)];
      const services = seen(host, client);
      const service = services.find(({ namespace }) => namespace === client) ?? services[0];
      if (service === undefined) return undefined;
      const { namespace, meshExternal, ports } = service;
      return {
        namespace,
        inMesh: !meshExternal,
        mode: modeOf(namespace),
        ports: ports.map(({ port, protocol }) => ({ number: port, protocol })),
      };
    },
    { equals: deepEqual },
  );
  const hasServer: MeshFacts['hasServer'] = (host, client, labels) => {
    const services = seen(host, client);
    return (
      services.length === 0 ||
      services.some(({ selector, namespace, config }) => {
        if (selector !== undefined) return hasWorkload(namespace, { ...labels, ...selector });
        const entry = mesh.config<ServiceEntry>(config);
        // Of a Kubernetes Service without selector, and of what is resolved by name, the endpoints are not known.
        if (entry?.kind !== 'ServiceEntry' || entry.spec.endpoints === undefined) return true;
        return entry.spec.endpoints.some((endpoint) => selects(labels, endpoint.labels ?? {}));
      })
    );
  };
  const httpDestination = mesh.configs.index<Hostname>('httpDestination', (config) => {
    if (config.kind !== 'VirtualService') return [];
    const hosts = ((config.spec as VirtualService).http ?? []).flatMap(({ route = [] }) =>
      route.map(({ destination }) =>
        fullHostname(destination?.host ?? '', config.namespace, mesh.options.domainSuffix),
      ),
    );
    return new Set(hosts);
  });
  const sentRequests = graph.derived<Hostname, boolean>('isSentRequests', (host) =>
    httpDestination.get(host).some((key) => mesh.config(key) !== undefined),
  );
  return {
    isSentRequests: (host) => sentRequests.get(host),
    serverSide: (host, namespace) => sides.get(`${namespace}/${host}`),
    hasServer,
    otherOwners: (key, host) => {
      const services = mesh.servicesOfHost.get(host);
      if (services.length < 2) return [];
      const own = services.find(({ config }) => config === key);
      if (own === undefined) return [];
      const others = services.filter(
        (other) => other.namespace !== own.namespace && areRivals(own, visibility(own), other, visibility(other)),
      );
      return [...new Set(others.map(({ namespace }) => namespace))].sort(compareStrings);
    },
  };
}

/** Whether there may be a namespace that sees both and has neither: with one of its own there is nothing to choose. */
function areRivals(a: Service, seenA: Visibility, b: Service, seenB: Visibility): boolean {
  if (seenA === 'public' && seenB === 'public') return true;
  const [listed, other] = seenA === 'public' ? [seenB, seenA] : [seenA, seenB];
  const owners = [a.namespace, b.namespace];
  return listed !== 'public' && listed.some((namespace) => !owners.includes(namespace) && isVisible(other, namespace));
}
