import type {
  KubeGateway,
  KubeGatewayClass,
  KubeListenerSet,
  KubeService,
  MeshConfig,
} from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import { deepEqual } from '../../base/equal.ts';
import type { JsonObject } from '../../base/json.ts';
import { type ConfigKey, configKey } from '../../config/config.ts';
import { isOurs } from '../../convert/gateway-api/classes.ts';
import type { ConvertedGateway } from '../../convert/gateway-api/gateways.ts';
import { accepted } from '../../convert/gateway-api/parents.ts';
import { GATEWAY_API } from '../../convert/gateway-api/references.ts';
import {
  backendTlsStatus,
  CLASS_STATUS,
  gatewayStatus,
  listenerSetStatus,
  remoteGatewayStatus,
  routeStatus,
} from '../../convert/gateway-api/status.ts';
import type { Collection, Graph } from '../../derive/graph.ts';
import { type Mesh, ONE } from '../mesh.ts';
import { deriveBackendGateways } from './backend-gateways.ts';
import { deriveGatewayInstances } from './instances.ts';
import { ROUTE_KINDS } from './routes.ts';

/** Kinds that have a status, as `kindName` calls them. */
export const STATUS_KINDS: readonly string[] = [
  'GatewayClass',
  'KubernetesGateway',
  'ListenerSet',
  ...ROUTE_KINDS,
  'BackendTLSPolicy',
  'Ingress',
];

/** By kind, then object: what Kubernetes would show as its `status`. Objects that somebody else serves have none here. */
export type Statuses = Collection<string, ConfigKey, JsonObject>;

/** Nothing is made before it is read or watched. */
export function deriveStatuses(graph: Graph, mesh: Mesh): Statuses {
  const { gateways, routes, backendTls, ingresses } = mesh.conversions;
  const instancesOf = deriveGatewayInstances(graph, mesh);
  const gatewaysOf = deriveBackendGateways(graph, mesh);

  /** Listeners to which a route is attached: `parentKey listener`. */
  const attachedTo = graph.derived<ConfigKey, readonly string[]>(
    'routeAttachedTo',
    (key) => {
      const namespace = mesh.config(key)?.namespace ?? '';
      return accepted(routes.attachments.get(key)).flatMap(({ listener, ref }) => {
        const { kind = 'Gateway', namespace: owner = namespace, name } = ref;
        return listener === undefined ? [] : [`${configKey(GATEWAY_API, kind, owner, name)} ${listener.section}`];
      });
    },
    { equals: deepEqual },
  );
  const attachedRoutes = graph.derived<typeof ONE, ReadonlyMap<string, number>>('attachedRoutes', () => {
    const counts = new Map<string, number>();
    for (const kind of ROUTE_KINDS) {
      for (const route of mesh.byKind.get(kind)) {
        for (const place of new Set(attachedTo.get(route))) counts.set(place, (counts.get(place) ?? 0) + 1);
      }
    }
    return counts;
  });
  /** Key `parentKey listener`. */
  const routeCount = graph.derived<string, number>(
    'attachedRouteCount',
    (place) => attachedRoutes.get(ONE).get(place) ?? 0,
  );
  const countsOf = (owner: ConfigKey) => (listener: string) => routeCount.get(`${owner} ${listener}`);

  const portsOf = ({ ports }: ConvertedGateway, sets: readonly (ConvertedGateway | undefined)[]) => [
    ...new Set([...ports, ...sets.flatMap((set) => set?.ports ?? [])]),
  ];
  const ofGateway = (key: ConfigKey) => {
    const gateway = mesh.config<KubeGateway>(key);
    const converted = gateways.converted.get(key);
    if (gateway === undefined || converted === undefined) return undefined;
    const { spec, namespace } = gateway;
    if (converted.isRemote) {
      const addresses = (spec.addresses ?? []).map(({ value = '' }) => value);
      return remoteGatewayStatus(
        addresses.map((value) => ({ type: isIpAddress(value) ? 'IPAddress' : 'Hostname', value })),
      );
    }
    const sets = gateways.attachedSets.get(key).map((set) => gateways.converted.get(set));
    const { services } = converted;
    const instances = instancesOf({ namespace, services, ports: portsOf(converted, sets) });
    const valid = sets.filter((set) => (set?.validListeners ?? 0) > 0).length;
    return gatewayStatus(spec, converted, instances, countsOf(key), valid);
  };
  const ofListenerSet = (key: ConfigKey) => {
    const set = mesh.config<KubeListenerSet>(key);
    const converted = gateways.converted.get(key);
    if (set === undefined || converted === undefined) return undefined;
    const { services, ports } = converted;
    const namespace = set.spec.parentRef.namespace ?? set.namespace;
    return listenerSetStatus(converted, instancesOf({ namespace, services, ports }), countsOf(key));
  };
  const ofBackendTls = (key: ConfigKey) => {
    const converted = backendTls.converted.get(key);
    const namespace = mesh.config(key)?.namespace ?? '';
    return (
      converted &&
      backendTlsStatus(converted, ({ group, kind, name }) =>
        gatewaysOf
          .get(configKey(group, kind, namespace, name))
          .flatMap((gateway) => (gateways.converted.get(gateway) && mesh.config(gateway)) || []),
      )
    );
  };
  /** Where Ingresses are reached: what is known of the Service of their gateway. */
  const ingressAddresses = graph.derived<typeof ONE, readonly string[]>(
    'ingressAddresses',
    () => {
      const name: MeshConfig['ingressService'] = mesh.facet('ingressService');
      const service = name && mesh.config<KubeService>(configKey('', 'Service', mesh.options.ingressNamespace, name));
      if (!service) return [];
      const { type, externalName = '', externalIPs = [] } = service.spec;
      if (type === 'ExternalName') return [externalName];
      const [found] = mesh.servicesOfConfig.get(service.key);
      return [...new Set([...(found?.externalAddresses ?? []), ...externalIPs])];
    },
    { equals: deepEqual },
  );
  const ofIngress = (key: ConfigKey) => {
    if (ingresses.converted.get(key) === undefined) return undefined;
    const ingress = ingressAddresses
      .get(ONE)
      .map((value) => (isIpAddress(value) ? { ip: value } : { hostname: value }));
    return { loadBalancer: { ingress } };
  };
  const statusOf = (key: ConfigKey, kind: string): object | undefined => {
    switch (kind) {
      case 'GatewayClass':
        return isOurs(mesh.config<KubeGatewayClass>(key)?.spec.controllerName) ? CLASS_STATUS : undefined;
      case 'KubernetesGateway':
        return ofGateway(key);
      case 'ListenerSet':
        return ofListenerSet(key);
      case 'BackendTLSPolicy':
        return ofBackendTls(key);
      case 'Ingress':
        return ofIngress(key);
      default: {
        const attachments = routes.attachments.get(key);
        return attachments.length === 0
          ? undefined
          : routeStatus(attachments, routes.converted.get(key)?.problems ?? []);
      }
    }
  };
  return graph.collection<string, ConfigKey, JsonObject>('statuses', {
    items: (kind) => mesh.byKind.get(kind),
    value: (key, kind) =>
      mesh.config(key) === undefined ? undefined : (statusOf(key, kind) as JsonObject | undefined),
    equals: deepEqual,
  });
}
