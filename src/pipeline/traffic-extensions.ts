import type { TrafficExtension, WasmPlugin } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { isAttached } from '../model/policy-attachment.ts';
import type { ProxyScope } from '../model/scope.ts';
import {
  byAgeOfFilter,
  byPriority,
  type ExtensionHead,
  type TrafficFilter,
  trafficFilter,
} from '../model/traffic-extension.ts';
import type { Configuration } from './configuration.ts';
import { ONE } from './mesh.ts';

type Plugin = Config<WasmPlugin> | Config<TrafficExtension>;

/** Modules and scripts in the filters of proxies. */
export interface TrafficExtensions {
  /** Those that a proxy has, in order; undefined: none. */
  of(scope: ProxyScope): readonly ConfigKey[] | undefined;
  /** What listeners see of one: nothing of its module. */
  readonly head: Derived<ConfigKey, ExtensionHead | undefined>;
}

const KINDS = ['WasmPlugin', 'TrafficExtension'] as const;

export function deriveTrafficExtensions(graph: Graph, configuration: Configuration): TrafficExtensions {
  const exist = graph.derived<'', boolean>('anyTrafficExtension', () =>
    KINDS.some((kind) => configuration.byKind.get(kind).length > 0),
  );
  const filter = graph.derived<ConfigKey, TrafficFilter | undefined>(
    'trafficFilter',
    (key) => {
      const config = configuration.config(key) as Plugin | undefined;
      return config && trafficFilter(config);
    },
    { equals: deepEqual },
  );
  /** Of a namespace, oldest first. */
  const filtersIn = graph.derived<string, readonly TrafficFilter[]>(
    'trafficFilters',
    (namespace) =>
      KINDS.flatMap((kind) => configuration.byKindNamespace.get(`${kind}/${namespace}`))
        .flatMap((key) => filter.get(key) ?? [])
        .sort(byAgeOfFilter),
    { equals: sameItems },
  );
  const keysOf = graph.derived<ProxyScope, readonly ConfigKey[]>(
    'trafficExtensionsOf',
    (scope) =>
      [...new Set([scope.namespace, configuration.rootNamespace()])]
        .flatMap((namespace) => filtersIn.get(namespace))
        .filter(({ targets }) => isAttached(targets, scope))
        .map(({ head }) => head)
        .sort(byPriority)
        .map(({ key }) => key),
    { equals: sameItems },
  );
  return {
    of: (scope) => {
      const keys = exist.get(ONE) ? keysOf.get(scope) : [];
      return keys.length === 0 ? undefined : keys;
    },
    head: graph.derived('extensionHead', (key) => filter.get(key)?.head, { equals: deepEqual }),
  };
}
