import type { JsonObject, JsonValue } from '../../src/base/json.ts';
import { object, objects } from './json-fields.ts';

/** The name under which an Envoy asks for a cluster's endpoints; undefined when it does not ask. */
export function endpointsOf(cluster: JsonObject): string | undefined {
  if (cluster['type'] !== 'EDS') return undefined;
  return text(object(cluster['edsClusterConfig'])['serviceName']) ?? text(cluster['name']);
}

/** The route configurations that a listener asks for. */
export function routesOf(listener: JsonObject): readonly string[] {
  return managersOf(listener).flatMap((manager) => text(object(manager['rds'])['routeConfigName']) ?? []);
}

/** The extension configurations that a listener asks for. */
export function extensionsOf(listener: JsonObject): readonly string[] {
  const http = managersOf(listener).flatMap((manager) => objects(manager['httpFilters']));
  return [...filtersOf(listener), ...http].flatMap((filter) =>
    filter['configDiscovery'] === undefined ? [] : (text(filter['name']) ?? []),
  );
}

/** The secrets that a cluster or listener asks for over the stream that the Envoy has already. */
export function secretsOf(resource: JsonValue | undefined): readonly string[] {
  if (Array.isArray(resource)) return resource.flatMap(secretsOf);
  const one = object(resource);
  const asked = object(one['sdsConfig'])['ads'] === undefined ? [] : [text(one['name']) ?? ''];
  return [...asked, ...Object.values(one).flatMap(secretsOf)];
}

/** The clusters that the routes of a route configuration name. */
export function clustersOf(routes: JsonObject): readonly string[] {
  const actions = objects(routes['virtualHosts'])
    .flatMap((host) => objects(host['routes']))
    .map((route) => object(route['route']));
  return actions.flatMap((action) => [
    ...[text(action['cluster']) ?? []].flat(),
    ...objects(object(action['weightedClusters'])['clusters']).flatMap((cluster) => text(cluster['name']) ?? []),
  ]);
}

function filtersOf(listener: JsonObject): readonly JsonObject[] {
  const chains = [...objects(listener['filterChains']), object(listener['defaultFilterChain'])];
  return chains.flatMap((chain) => objects(chain['filters']));
}

const MANAGER = '.HttpConnectionManager';

function managersOf(listener: JsonObject): readonly JsonObject[] {
  const api = object(object(listener['apiListener'])['apiListener']);
  const configs = [api, ...filtersOf(listener).map((filter) => object(filter['typedConfig']))];
  return configs.filter((config) => text(config['@type'])?.endsWith(MANAGER));
}

function text(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
