import type { HTTPMatchRequest, HTTPRoute, StringMatch, VirtualService } from '#generated/config/specs.ts';
import { contentVersion } from '../base/hash.ts';
import type { Config } from '../config/config.ts';
import type { ExportTo } from './service.ts';
import { routeSemantics } from './virtual-service.ts';

/** A VirtualService without hosts is only a part of others, which name it as `delegate`. */
export function isDelegate({ spec }: Config<VirtualService>): boolean {
  return (spec.hosts ?? []).length === 0;
}

/** Finds a VirtualService, resolved, by namespace and name. */
export type VirtualServiceLookup = (namespace: string, name: string) => Config<VirtualService> | undefined;

/**
 * A resolved VirtualService in which each route with a `delegate` is replaced by the delegate's routes, narrowed by the
 * route's own conditions. A route whose delegate does not exist, has hosts of its own, or is not exported to the root's
 * namespace is left out.
 *
 * @param defaultExportTo `defaultVirtualServiceExportTo` of the mesh
 * @see istio/istio pilot/pkg/model/virtualservice_controller.go `mergeVirtualServices`
 */
export function withDelegates(
  root: Config<VirtualService>,
  lookup: VirtualServiceLookup,
  defaultExportTo: ExportTo | undefined,
): Config<VirtualService> {
  const routes = root.spec.http ?? [];
  if (routeSemantics(root) !== 'istio' || routes.every(({ delegate }) => delegate === undefined)) return root;
  const hashes = [root.hash];
  const http = routes.flatMap((route): readonly HTTPRoute[] => {
    if (route.delegate === undefined) return [route];
    const { name = '', namespace = '' } = route.delegate;
    const found = lookup(namespace === '' ? root.namespace : namespace, name);
    if (found === undefined || !isDelegate(found) || !exportsTo(found, root.namespace, defaultExportTo)) return [];
    hashes.push(found.hash);
    return (found.spec.http ?? []).flatMap((part) => narrowedRoute(route, part) ?? []);
  });
  return { ...root, spec: { ...root.spec, http }, hash: contentVersion(hashes.join('\n')) };
}

function exportsTo({ spec, namespace: own }: Config<VirtualService>, to: string, fallback: ExportTo = ['*']): boolean {
  const exportTo = spec.exportTo !== undefined && spec.exportTo.length > 0 ? spec.exportTo : fallback;
  return exportTo.some((place) => place === '*' || (place === '.' ? own : place) === to);
}

/** Fields that a delegate's route takes from the root's where it has none of its own. */
const INHERITED = [
  'rewrite',
  'directResponse',
  'timeout',
  'retries',
  'fault',
  'mirror',
  'mirrorPercent',
  'mirrorPercentage',
  'corsPolicy',
  'mirrors',
  'headers',
] as const satisfies readonly (keyof HTTPRoute)[];

function inherited<T extends object, K extends keyof T>(root: T, part: T, fields: readonly K[]): Pick<T, K> {
  const taken: Partial<Pick<T, K>> = {};
  for (const field of fields) {
    if (part[field] === undefined && root[field] !== undefined) taken[field] = root[field];
  }
  return taken as Pick<T, K>;
}

/** A delegate's route under the conditions of the root's, or undefined when they contradict each other. */
function narrowedRoute(root: HTTPRoute, part: HTTPRoute): HTTPRoute | undefined {
  const match = narrowedMatches(root.match ?? [], part.match ?? []);
  if (match === undefined) return undefined;
  return { ...part, ...inherited(root, part, INHERITED), ...joinedName(root.name, part.name), match };
}

function joinedName(root = '', part = ''): { name?: string } {
  const name = [root, part].filter((text) => text !== '').join('-');
  return name === '' ? {} : { name };
}

/** Every alternative of the delegate with every alternative of the root that it does not contradict; it needs at least one. */
function narrowedMatches(
  root: readonly HTTPMatchRequest[],
  part: readonly HTTPMatchRequest[],
): readonly HTTPMatchRequest[] | undefined {
  if (root.length === 0) return part;
  if (part.length === 0) return root;
  const narrowed: HTTPMatchRequest[] = [];
  for (const own of part) {
    const compatible = root.filter((outer) => !contradicts(outer, own));
    if (compatible.length === 0) return undefined;
    narrowed.push(...compatible.map((outer) => narrowedMatch(outer, own)));
  }
  return narrowed;
}

const MAPS = ['headers', 'withoutHeaders', 'queryParams', 'sourceLabels'] as const;

function narrowedMatch(root: HTTPMatchRequest, part: HTTPMatchRequest): HTTPMatchRequest {
  const maps: Record<string, object> = {};
  for (const field of MAPS) {
    const merged = { ...root[field], ...part[field] };
    if (Object.keys(merged).length > 0) maps[field] = merged;
  }
  const gateways = part.gateways !== undefined && part.gateways.length > 0 ? part.gateways : root.gateways;
  return {
    ...part,
    ...inherited(root, part, ['uri', 'scheme', 'method', 'authority', 'port', 'sourceNamespace', 'statPrefix']),
    ...joinedName(root.name, part.name),
    ...(gateways && { gateways }),
    ...maps,
  };
}

function contradicts(root: HTTPMatchRequest, part: HTTPMatchRequest): boolean {
  for (const field of ['uri', 'scheme', 'method', 'authority'] as const) {
    if (textsContradict(root[field], part[field])) return true;
  }
  for (const field of ['headers', 'withoutHeaders', 'queryParams'] as const) {
    for (const [name, text] of Object.entries(part[field] ?? {})) {
      if (textsContradict(root[field]?.[name], text)) return true;
    }
  }
  if ((root.ignoreUriCase ?? false) !== (part.ignoreUriCase ?? false)) return true;
  if (root.port && part.port && root.port !== part.port) return true;
  // A root that names a namespace wants to see the same name again in the delegate.
  if ((root.sourceNamespace ?? '') !== '' && root.sourceNamespace !== part.sourceNamespace) return true;
  for (const [label, value] of Object.entries(part.sourceLabels ?? {})) {
    const wanted = root.sourceLabels?.[label];
    if (wanted !== undefined && wanted !== value) return true;
  }
  const outer = root.gateways ?? [];
  const inner = part.gateways ?? [];
  return outer.length > 0 && (inner.length > outer.length || inner.some((gateway) => !outer.includes(gateway)));
}

/** Whether a delegate's condition is not within the root's. Regular expressions are within nothing. */
function textsContradict(root: StringMatch | undefined, part: StringMatch | undefined): boolean {
  if (root === undefined || part === undefined) return false;
  const partText = part.regex || part.prefix || part.exact;
  if (root.regex) return true;
  if (part.regex) return true;
  if (root.exact) return part.prefix ? true : part.exact !== root.exact;
  if (root.prefix && partText) return !partText.startsWith(root.prefix);
  return true;
}
