import { cached } from '../base/cached.ts';
import { deepEqual } from '../base/equal.ts';
import { Interner } from '../base/intern.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { Graph } from '../derive/graph.ts';
import type { AddressView } from '../envoy/listeners/service-address.ts';
import { nameTable } from '../envoy/name-table.ts';
import { type ClientPlace, type HeadlessNames, headlessNames } from '../model/name-table.ts';
import type { ProxyScope, SidecarScope } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { messageName, NAME_TABLE_TYPE } from '../proto/type-urls.ts';
import { encodedResource, sameVersion } from './encoded-resource.ts';
import { addressView } from './listener-views.ts';
import { type Mesh, namespacedHost } from './mesh.ts';
import type { ScopedResources } from './resource-types.ts';

/** What of a proxy its table depends on beside the services. Interned. */
interface NameView {
  readonly addresses: AddressView;
  readonly place: ClientPlace;
}

/** A list of services. Interned by its items. */
interface SeenServices {
  readonly services: readonly Service[];
}

/** Interned. */
interface TableKey extends SeenServices {
  readonly view: NameView;
}

const MESSAGE = messageName(NAME_TABLE_TYPE) as 'istio.networking.nds.v1.NameTable';

/**
 * The name table of each proxy: one resource, named after its type since it has no name. Whoever asks has one, as from istiod.
 * Proxies that see the same services from the same place share it; a change of other configuration does not touch it.
 */
export function deriveNameTables(graph: Graph, mesh: Mesh): ScopedResources {
  const views = new Interner<NameView>();
  const numbers = new ObjectNumbers();
  const lists = new WeakInterner<SeenServices>();
  const keys = new WeakInterner<TableKey>();
  const ofEgress = new WeakMap<SidecarScope['egress'], SeenServices>();

  const listOf = (egress: SidecarScope['egress']): SeenServices => {
    const services =
      egress.length === 1 ? (egress[0]?.services ?? []) : egress.flatMap((listener) => listener.services);
    return lists.intern(numbers.ofAll(services), () => ({ services }));
  };
  const seen = graph.derived<string, SeenServices>('seenServices', (id) => {
    const at = id.indexOf('|');
    const { egress } = mesh.sidecarScope.get({
      namespace: id.slice(0, at),
      sidecar: id.slice(at + 1) as ProxyScope['sidecar'],
    });
    return cached(ofEgress, egress, () => listOf(egress));
  });
  /** Key `network|cluster|serviceId`. */
  const headless = graph.derived<string, HeadlessNames>(
    'headlessNames',
    (id) => {
      const [network = '', clusterId = '', ...rest] = id.split('|');
      const service = mesh.serviceById.get(rest.join('|'));
      if (service === undefined) return { addresses: [], pods: [] };
      const endpoints = mesh.endpoints.get(namespacedHost(service.namespace, service.hostname));
      return headlessNames(service, endpoints, { network, clusterId });
    },
    { equals: deepEqual },
  );
  const tables = graph.derived<TableKey, EncodedResource>(
    'nameTable',
    ({ services, view: { addresses, place } }) => {
      const names = ({ id }: Service) => headless.get(`${place.network}|${place.clusterId}|${id}`);
      return encodedResource(MESSAGE, NAME_TABLE_TYPE, nameTable(services, addresses, names));
    },
    { equals: sameVersion },
  );
  const keyOf = graph.derived<ProxyScope, TableKey>('nameTableOf', (scope) => {
    const { network, clusterId } = scope;
    const view = views.intern({
      addresses: addressView(scope, mesh.options.addressAllocation),
      place: { network, clusterId },
    });
    const list = seen.get(`${scope.namespace}|${scope.sidecar}`);
    return keys.intern(`${numbers.of(list)} ${numbers.of(view)}`, () => ({ services: list.services, view }));
  });
  return graph.collection<ProxyScope, string, EncodedResource>('nameTables', {
    items: () => [NAME_TABLE_TYPE],
    value: (_name, scope) => tables.get(keyOf.get(scope)),
    equals: sameVersion,
  });
}
