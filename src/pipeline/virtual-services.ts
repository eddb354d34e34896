import type { HTTPRoute, VirtualService } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import { append } from '../base/multimap.ts';
import { compareStrings } from '../base/order.ts';
import { type Config, type ConfigKey, configKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { isDelegate, withDelegates } from '../model/delegate.ts';
import type { VirtualServiceHead } from '../model/scope.ts';
import {
  MESH_GATEWAY,
  resolveVirtualService,
  routeSemantics,
  virtualServiceDestinations,
} from '../model/virtual-service.ts';
import { visibilityOf } from '../model/visibility.ts';
import type { Configuration } from './configuration.ts';
import { ONE } from './mesh.ts';
import type { MeshOptions } from './options.ts';

export interface VirtualServices {
  readonly virtualService: Derived<ConfigKey, Config<VirtualService> | undefined>;
  /** By `namespace|gateway`, the public ones under `*|gateway`; in order of precedence. */
  readonly virtualServiceExports: Derived<'', ReadonlyMap<string, readonly VirtualServiceHead[]>>;
  readonly virtualServicesForGateway: Derived<string, readonly VirtualServiceHead[]>;
}

const GROUP = 'networking.istio.io';
const NONE: readonly VirtualServiceHead[] = [];

interface ExportedHead extends VirtualServiceHead {
  readonly exportTo?: readonly string[];
}

export function deriveVirtualServices(
  graph: Graph,
  configuration: Configuration,
  options: MeshOptions,
): VirtualServices {
  const sameHash = (a: Config | undefined, b: Config | undefined) => a?.hash === b?.hash && a?.key === b?.key;
  const resolved = graph.derived<ConfigKey, Config<VirtualService> | undefined>(
    'resolvedVirtualService',
    (key) => {
      const config = configuration.config<VirtualService>(key);
      return config && resolveVirtualService(config, options.domainSuffix);
    },
    { equals: sameHash },
  );
  const virtualService = graph.derived<ConfigKey, Config<VirtualService> | undefined>(
    'virtualService',
    (key) => {
      const config = resolved.get(key);
      if (config === undefined || isDelegate(config)) return undefined;
      const delegate = (namespace: string, name: string) =>
        resolved.get(configKey(GROUP, 'VirtualService', namespace, name));
      return withDelegates(config, delegate, configuration.facet('defaultVirtualServiceExportTo'));
    },
    { equals: sameHash },
  );
  const head = graph.derived<ConfigKey, ExportedHead | undefined>(
    'virtualServiceHead',
    (key) => {
      const config = virtualService.get(key);
      return config && headOf(config);
    },
    { equals: deepEqual },
  );
  const virtualServiceExports = graph.derived<'', ReadonlyMap<string, readonly ExportedHead[]>>(
    'virtualServiceExports',
    () => {
      const fallback = configuration.facet('defaultVirtualServiceExportTo') ?? ['*'];
      const heads = configuration.keysOf('VirtualService').flatMap((key) => head.get(key) ?? []);
      const out = new Map<string, ExportedHead[]>();
      for (const vs of heads.sort(compareHeads)) {
        const seen = visibilityOf(vs.exportTo, fallback, vs.namespace);
        for (const namespace of seen === 'public' ? ['*'] : seen) {
          for (const gateway of vs.gateways) append(out, `${namespace}|${gateway}`, vs);
        }
      }
      return out;
    },
  );
  /**
   * Those private to the namespace, then those exported to it, then public ones; of these, or for sidecars of each, routes of the
   * namespace's own come first, so that clients may have rules of their own.
   */
  const virtualServicesForGateway = graph.derived<string, readonly VirtualServiceHead[]>(
    'virtualServicesForGateway',
    (id) => {
      const at = id.indexOf('|');
      const namespace = id.slice(0, at);
      const exports = virtualServiceExports.get(ONE);
      const own = exports.get(id) ?? NONE;
      const shared = exports.get(`*${id.slice(at)}`) ?? NONE;
      const ownFirst = (heads: readonly VirtualServiceHead[]) => routesFirst(heads, namespace);
      if (own.length === 0) return ownFirst(shared);
      const forSidecars = id.slice(at + 1) === MESH_GATEWAY;
      const exported = own.filter((vs) => vs.namespace !== namespace);
      const hidden = own.filter((vs) => vs.namespace === namespace);
      return [...(forSidecars ? ownFirst(hidden) : hidden), ...exported, ...ownFirst(shared)];
    },
    { equals: sameItems },
  );
  return { virtualService, virtualServiceExports, virtualServicesForGateway };
}

/** Routes of the Gateway API of one namespace first. The same list where there are none. */
function routesFirst(heads: readonly VirtualServiceHead[], namespace: string): readonly VirtualServiceHead[] {
  const isOwn = (vs: VirtualServiceHead) => vs.gatewaySemantics && vs.namespace === namespace;
  return heads.some(isOwn) ? [...heads.filter(isOwn), ...heads.filter((vs) => !isOwn(vs))] : heads;
}

/** Oldest first, then by name and namespace. */
function compareHeads(a: VirtualServiceHead, b: VirtualServiceHead): number {
  return a.creationTime - b.creationTime || compareStrings(a.name, b.name) || compareStrings(a.namespace, b.namespace);
}

function headOf(config: Config<VirtualService>): ExportedHead {
  const { spec, key, namespace, name, creationTime } = config;
  const http = spec.http ?? [];
  const matches = [...http, ...(spec.tcp ?? []), ...(spec.tls ?? [])].flatMap((r): readonly object[] => r.match ?? []);
  const has = (field: string) => matches.some((m) => field in m);
  return {
    key,
    namespace,
    name,
    creationTime,
    hosts: spec.hosts ?? [],
    gateways: spec.gateways?.length ? [...new Set(spec.gateways)] : [MESH_GATEWAY],
    hasHttp: http.length > 0,
    hasTls: (spec.tls ?? []).length > 0,
    hasTcp: (spec.tcp ?? []).length > 0,
    hasSourceLabels: has('sourceLabels'),
    hasSourceNamespace: http.some((r: HTTPRoute) => r.match?.some((m) => m.sourceNamespace)),
    gatewaySemantics: routeSemantics(config) === 'gateway',
    destinations: [...virtualServiceDestinations(spec)]
      .map(([host, ports]) => [host, [...ports].sort((a, b) => a - b)] as const)
      .sort(([a], [b]) => compareStrings(a, b)),
    ...(spec.exportTo?.length ? { exportTo: spec.exportTo } : {}),
  };
}
