import {
  bounded,
  type Enum,
  enumeration,
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

export const ApplyTo: Enum = enumeration('ApplyTo', '', [
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

export const PatchContext: Enum = enumeration('PatchContext', '', [
  'ANY',
  'SIDECAR_INBOUND',
  'SIDECAR_OUTBOUND',
  'GATEWAY',
  'WAYPOINT',
]);

export const ProxyMatch: Message = message('ProxyMatch', '', {
  proxyVersion: one(string, ''),
  metadata: map(string, ''),
});

export const ListenerMatchSubFilterMatch: Message = message('ListenerMatchSubFilterMatch', '', {
  name: one(string, ''),
});

export const ListenerMatchFilterMatch: Message = message('ListenerMatchFilterMatch', '', {
  name: one(string, ''),
  subFilter: one(ListenerMatchSubFilterMatch, ''),
});

export const FilterChainMatch: Message = message('FilterChainMatch', '', {
  name: one(string, ''),
  sni: one(string, ''),
  transportProtocol: one(string, ''),
  applicationProtocols: one(string, ''),
  filter: one(ListenerMatchFilterMatch, ''),
  destinationPort: one(uint32, ''),
});

export const ListenerMatch: Message = message('ListenerMatch', '', {
  portNumber: one(uint32, ''),
  portName: one(string, ''),
  filterChain: one(FilterChainMatch, ''),
  listenerFilter: one(string, ''),
  name: one(string, ''),
});

export const RouteConfigurationMatchRouteMatchAction: Enum = enumeration(
  'RouteConfigurationMatchRouteMatchAction',
  '',
  ['ANY', 'ROUTE', 'REDIRECT', 'DIRECT_RESPONSE'],
);

export const RouteConfigurationMatchRouteMatch: Message = message('RouteConfigurationMatchRouteMatch', '', {
  name: one(string, ''),
  action: one(RouteConfigurationMatchRouteMatchAction, ''),
});

export const VirtualHostMatch: Message = message('VirtualHostMatch', '', {
  name: one(string, ''),
  domainName: one(string, ''),
  route: one(RouteConfigurationMatchRouteMatch, ''),
});

export const RouteConfigurationMatch: Message = message('RouteConfigurationMatch', '', {
  portNumber: one(uint32, ''),
  portName: one(string, ''),
  gateway: one(string, ''),
  vhost: one(VirtualHostMatch, ''),
  name: one(string, ''),
});

export const ClusterMatch: Message = message('ClusterMatch', '', {
  portNumber: one(uint32, ''),
  service: one(string, ''),
  subset: one(string, ''),
  name: one(string, ''),
});

export const WaypointMatchRouteMatch: Message = message('WaypointMatchRouteMatch', '', {
  name: one(string, ''),
});

export const WaypointMatchFilterMatchSubFilterMatch: Message = message('WaypointMatchFilterMatchSubFilterMatch', '', {
  name: one(string, ''),
});

export const WaypointMatchFilterMatch: Message = message('WaypointMatchFilterMatch', '', {
  name: one(string, ''),
  subFilter: one(WaypointMatchFilterMatchSubFilterMatch, ''),
});

export const WaypointMatch: Message = message('WaypointMatch', '', {
  portNumber: one(bounded(uint32, { min: 1, max: 65535 }), ''),
  route: one(WaypointMatchRouteMatch, ''),
  filter: one(WaypointMatchFilterMatch, ''),
});

export const EnvoyConfigObjectMatch: Message = message('EnvoyConfigObjectMatch', '', {
  context: one(PatchContext, ''),
  proxy: one(ProxyMatch, ''),
  listener: one(ListenerMatch, '', { oneof: 'objectTypes' }),
  routeConfiguration: one(RouteConfigurationMatch, '', { oneof: 'objectTypes' }),
  cluster: one(ClusterMatch, '', { oneof: 'objectTypes' }),
  waypoint: one(WaypointMatch, '', { oneof: 'objectTypes' }),
});

export const EnvoyFilterPatchOperation: Enum = enumeration('EnvoyFilterPatchOperation', '', [
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

export const FilterClass: Enum = enumeration('FilterClass', '', ['UNSPECIFIED', 'AUTHN', 'AUTHZ', 'STATS']);

export const EnvoyFilterPatch: Message = message('EnvoyFilterPatch', '', {
  operation: one(EnvoyFilterPatchOperation, ''),
  value: one(struct, ''),
  filterClass: one(FilterClass, ''),
});

export const EnvoyConfigObjectPatch: Message = message('EnvoyConfigObjectPatch', '', {
  applyTo: one(ApplyTo, ''),
  match: one(EnvoyConfigObjectMatch, ''),
  patch: one(EnvoyFilterPatch, ''),
});

export const EnvoyFilter: Message = message('EnvoyFilter', '', {
  workloadSelector: one(WorkloadSelector, ''),
  targetRefs: list(PolicyTargetReference, '', { maxItems: 16 }),
  configPatches: list(EnvoyConfigObjectPatch, ''),
  priority: one(int32, ''),
});
