import { NOT_IN_ISTIO, WITHOUT_AMBIENT } from './ignored.ts';
import {
  bounded,
  type Enum,
  enumeration,
  ignored,
  int32,
  list,
  type Message,
  map,
  message,
  one,
  string,
  struct,
  uint32,
} from './schema.ts';
import { PolicyTargetReference, WorkloadSelector } from './selector.ts';

export const ApplyTo: Enum = enumeration('ApplyTo', 'What a patch is applied to.', [
  'INVALID',
  'LISTENER',
  'FILTER_CHAIN',
  'NETWORK_FILTER',
  'HTTP_FILTER',
  'ROUTE_CONFIGURATION',
  'VIRTUAL_HOST',
  'HTTP_ROUTE',
  'CLUSTER',
  'EXTENSION_CONFIG',
  'BOOTSTRAP',
  'LISTENER_FILTER',
]);

export const PatchContext: Enum = enumeration('PatchContext', 'Which proxies and direction a patch is for.', [
  'ANY',
  'SIDECAR_INBOUND',
  'SIDECAR_OUTBOUND',
  'GATEWAY',
  'WAYPOINT',
]);

export const ProxyMatch: Message = message('ProxyMatch', 'Conditions on a proxy.', {
  proxyVersion: one(string, 'RE2 expression for its version.'),
  metadata: map(string, 'Entries that its metadata must have.'),
});

export const ListenerMatchSubFilterMatch: Message = message(
  'ListenerMatchSubFilterMatch',
  'Condition on an HTTP filter.',
  {
    name: one(string, 'Its name.'),
  },
);

export const ListenerMatchFilterMatch: Message = message('ListenerMatchFilterMatch', 'Condition on a network filter.', {
  name: one(string, 'Its name.'),
  subFilter: one(ListenerMatchSubFilterMatch, 'An HTTP filter in it.'),
});

export const FilterChainMatch: Message = message('FilterChainMatch', 'Conditions on a filter chain.', {
  name: one(string, 'Its name.'),
  sni: one(string, 'Server name in its match.'),
  transportProtocol: one(string, 'Transport protocol in its match, as `tls`.'),
  applicationProtocols: one(string, 'Application protocols in its match, with commas.'),
  filter: one(ListenerMatchFilterMatch, 'A network filter in it.'),
  destinationPort: one(uint32, 'Destination port in its match.'),
  transportSocket: ignored(one(string, 'Name of its transport socket.'), NOT_IN_ISTIO),
});

export const ListenerMatch: Message = message('ListenerMatch', 'Conditions on a listener.', {
  portNumber: one(uint32, 'Port.'),
  portName: ignored(one(string, 'Name of the port.'), NOT_IN_ISTIO),
  filterChain: one(FilterChainMatch, 'A filter chain in it.'),
  listenerFilter: one(string, 'Name of a listener filter in it.'),
  name: one(string, 'Its name.'),
});

export const RouteConfigurationMatchRouteMatchAction: Enum = enumeration(
  'RouteConfigurationMatchRouteMatchAction',
  'What a route does.',
  ['ANY', 'ROUTE', 'REDIRECT', 'DIRECT_RESPONSE'],
);

export const RouteConfigurationMatchRouteMatch: Message = message(
  'RouteConfigurationMatchRouteMatch',
  'Conditions on a route.',
  {
    name: one(string, 'Its name.'),
    action: one(RouteConfigurationMatchRouteMatchAction, 'What it does.'),
  },
);

export const VirtualHostMatch: Message = message('VirtualHostMatch', 'Conditions on a virtual host.', {
  name: one(string, 'Its name.'),
  domainName: one(string, 'A domain in it.'),
  route: one(RouteConfigurationMatchRouteMatch, 'A route in it.'),
});

export const RouteConfigurationMatch: Message = message(
  'RouteConfigurationMatch',
  'Conditions on a route configuration.',
  {
    portNumber: one(uint32, 'Port that it is for.'),
    portName: one(string, 'Name of the port, at gateways.'),
    gateway: one(string, 'Gateway (`namespace/name`) that it is for.'),
    vhost: one(VirtualHostMatch, 'A virtual host in it.'),
    name: one(string, 'Its name.'),
  },
);

export const ClusterMatch: Message = message('ClusterMatch', 'Conditions on a cluster.', {
  portNumber: one(uint32, 'Port of the service.'),
  service: one(string, 'Host of the service.'),
  subset: one(string, 'Subset of the service.'),
  name: one(string, 'Its name.'),
});

export const WaypointMatchRouteMatch: Message = message('WaypointMatchRouteMatch', 'Condition on a route.', {
  name: one(string, 'Its name.'),
});

export const WaypointMatchFilterMatchSubFilterMatch: Message = message(
  'WaypointMatchFilterMatchSubFilterMatch',
  'Condition on an HTTP filter.',
  {
    name: one(string, 'Its name.'),
  },
);

export const WaypointMatchFilterMatch: Message = message('WaypointMatchFilterMatch', 'Condition on a network filter.', {
  name: one(string, 'Its name.'),
  subFilter: one(WaypointMatchFilterMatchSubFilterMatch, 'An HTTP filter in it.'),
});

export const WaypointMatch: Message = message('WaypointMatch', 'Conditions at a waypoint.', {
  portNumber: one(bounded(uint32, { min: 1, max: 65535 }), 'Port of the service.'),
  route: one(WaypointMatchRouteMatch, 'A route.'),
  filter: one(WaypointMatchFilterMatch, 'A filter.'),
});

export const EnvoyConfigObjectMatch: Message = message(
  'EnvoyConfigObjectMatch',
  'Conditions on what is patched, all of which must hold.',
  {
    context: one(PatchContext, 'Which proxies and direction.'),
    proxy: one(ProxyMatch, 'Conditions on the proxy.'),
    listener: one(ListenerMatch, 'Conditions on the listener.', { oneof: 'objectTypes' }),
    routeConfiguration: one(RouteConfigurationMatch, 'Conditions on the route configuration.', {
      oneof: 'objectTypes',
    }),
    cluster: one(ClusterMatch, 'Conditions on the cluster.', { oneof: 'objectTypes' }),
    waypoint: ignored(one(WaypointMatch, 'Conditions at a waypoint.', { oneof: 'objectTypes' }), WITHOUT_AMBIENT),
  },
);

export const EnvoyFilterPatchOperation: Enum = enumeration('EnvoyFilterPatchOperation', 'What a patch does.', [
  'INVALID',
  'MERGE',
  'ADD',
  'REMOVE',
  'INSERT_BEFORE',
  'INSERT_AFTER',
  'INSERT_FIRST',
  'REPLACE',
  'MERGE_AND_REPLACE_LIST',
]);

export const FilterClass: Enum = enumeration('FilterClass', 'Where an added filter stands.', [
  'UNSPECIFIED',
  'AUTHN',
  'AUTHZ',
  'STATS',
]);

export const EnvoyFilterPatch: Message = message('EnvoyFilterPatch', 'A change.', {
  operation: one(EnvoyFilterPatchOperation, 'What is done.'),
  value: one(struct, 'The Envoy object that is merged, added and so on.'),
  filterClass: ignored(one(FilterClass, 'Where an added filter stands.'), NOT_IN_ISTIO),
});

export const EnvoyConfigObjectPatch: Message = message(
  'EnvoyConfigObjectPatch',
  "A change to one kind of Envoy's objects.",
  {
    applyTo: one(ApplyTo, 'The kind of object.'),
    match: one(EnvoyConfigObjectMatch, 'Which of them. None: all.'),
    patch: one(EnvoyFilterPatch, 'The change.'),
  },
);

export const EnvoyFilter: Message = message('EnvoyFilter', 'Changes to the configuration that proxies get.', {
  workloadSelector: one(WorkloadSelector, 'Workloads that it is for. None: all of the namespace.'),
  targetRefs: list(PolicyTargetReference, 'Gateways or services that it is for.', { maxItems: 16 }),
  configPatches: list(EnvoyConfigObjectPatch, 'The changes, in order.'),
  priority: one(int32, 'Order among EnvoyFilters, the lowest first. Default 0.'),
});
