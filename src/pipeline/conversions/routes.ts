import type { VirtualService } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../../base/equal.ts';
import { append } from '../../base/multimap.ts';
import { type Config, type ConfigKey, configKey } from '../../config/config.ts';
import { type AttachedRoute, type Attachment, attachmentsOf } from '../../convert/gateway-api/parents.ts';
import { GATEWAY_API } from '../../convert/gateway-api/references.ts';
import {
  type ConvertedRoute,
  compareAges,
  mergedName,
  mergedVirtualService,
  type RouteFacts,
  requestRoute,
  tcpRoute,
  tlsRoute,
} from '../../convert/gateway-api/routes.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import type { Configuration } from '../configuration.ts';
import { ONE } from '../mesh.ts';
import type { ConversionFacts } from './facts.ts';
import type { ConvertedGateways } from './gateways.ts';
import { type Made, sameMade } from './made-objects.ts';

export const ROUTE_KINDS = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute'] as const;

/** Routes of the Gateway API. */
export interface ConvertedRoutes extends Made {
  /** What a route is attached to. */
  readonly attachments: Derived<ConfigKey, readonly Attachment[]>;
  readonly converted: Derived<ConfigKey, ConvertedRoute | undefined>;
}

/** What of a route says which objects it has a part in. */
interface RouteHead {
  readonly key: ConfigKey;
  readonly creationTime: number;
  readonly namespace: string;
  /** Of rules that are merged with those of others. */
  readonly mergeKeys: readonly string[];
  /** Of VirtualServices of its own. */
  readonly own: readonly ConfigKey[];
}

/** What a made VirtualService is made of: one route, or the rules of several for one host. */
interface Source {
  readonly routes: readonly ConfigKey[];
  readonly mergeKey?: string;
}

export function deriveConvertedRoutes(
  graph: Graph,
  configuration: Configuration,
  gateways: Pick<ConvertedGateways, 'parents'>,
  conversionFacts: ConversionFacts,
): ConvertedRoutes {
  const { config } = configuration;
  const facts: RouteFacts = {
    ...conversionFacts,
    listeners: (kind, namespace, name) => gateways.parents.get(configKey(GATEWAY_API, kind, namespace, name)),
  };
  const attachments = graph.derived<ConfigKey, readonly Attachment[]>(
    'routeAttachments',
    (key) => {
      const route = config<AttachedRoute>(key);
      return route === undefined ? [] : attachmentsOf(route, facts);
    },
    { equals: deepEqual },
  );
  const converted = graph.derived<ConfigKey, ConvertedRoute | undefined>('convertedRoute', (key) => {
    const route = config<never>(key);
    if (route === undefined) return undefined;
    const convert = { HTTPRoute: requestRoute, GRPCRoute: requestRoute, TLSRoute: tlsRoute, TCPRoute: tcpRoute }[
      route.kind
    ];
    return convert?.(route, attachments.get(key), facts);
  });
  const heads = graph.derived<ConfigKey, RouteHead | undefined>(
    'routeHead',
    (key) => {
      const route = config(key);
      const { hostRules = [], virtualServices = [] } = converted.get(key) ?? {};
      if (route === undefined || hostRules.length + virtualServices.length === 0) return undefined;
      const { creationTime, namespace } = route;
      const mergeKeys = [...new Set(hostRules.map(({ mergeKey }) => mergeKey))];
      return { key, creationTime, namespace, mergeKeys, own: virtualServices.map((own) => own.key) };
    },
    { equals: deepEqual },
  );
  const sources = graph.derived<typeof ONE, ReadonlyMap<ConfigKey, Source>>('routeSources', () => {
    const all = ROUTE_KINDS.flatMap((kind) => configuration.byKind.get(kind)).flatMap((key) => heads.get(key) ?? []);
    const merged = new Map<string, RouteHead[]>();
    const found = new Map<ConfigKey, Source>();
    for (const head of all.sort(compareAges)) {
      for (const mergeKey of head.mergeKeys) append(merged, mergeKey, head);
      for (const own of head.own) found.set(own, { routes: [head.key] });
    }
    for (const [mergeKey, routes] of merged) {
      const key = configKey('networking.istio.io', 'VirtualService', routes[0]?.namespace ?? '', mergedName(mergeKey));
      found.set(key, { mergeKey, routes: routes.map((head) => head.key) });
    }
    return found;
  });
  const sourceOf = graph.derived<ConfigKey, Source | undefined>('routeSource', (key) => sources.get(ONE).get(key), {
    equals: deepEqual,
  });
  const merged = (mergeKey: string, routes: readonly ConfigKey[]): Config<VirtualService> | undefined =>
    mergedVirtualService(
      mergeKey,
      routes.flatMap((key) => {
        const route = config(key);
        const parts = converted.get(key)?.hostRules.filter((part) => part.mergeKey === mergeKey) ?? [];
        return route === undefined ? [] : [{ route, parts }];
      }),
    );
  return {
    attachments,
    converted,
    keys: graph.derived('madeRouteKeys', () => [...sources.get(ONE).keys()], { equals: sameItems }),
    config: graph.derived<ConfigKey, Config | undefined>(
      'madeRoute',
      (key) => {
        const { routes = [], mergeKey } = sourceOf.get(key) ?? {};
        if (mergeKey !== undefined) return merged(mergeKey, routes);
        const [route] = routes;
        return route === undefined ? undefined : converted.get(route)?.virtualServices.find((own) => own.key === key);
      },
      { equals: sameMade },
    ),
  };
}
