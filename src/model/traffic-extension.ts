import type { LuaConfig, TrafficExtension, TrafficSelector, WasmConfig, WasmPlugin } from '#generated/config/specs.ts';
import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import { type PolicyTargets, targetsOf } from './policy-attachment.ts';

/** Where in the chain a filter stands: before tokens are checked, before rules are, after, or last. */
export type ExtensionPhase = 'AUTHN' | 'AUTHZ' | 'STATS' | 'UNSPECIFIED';

/** A filter from a TrafficExtension, or from a WasmPlugin, as listeners see it: what its module is, they are not told. */
export interface ExtensionHead {
  readonly key: ConfigKey;
  /** `namespace.name`. */
  readonly id: string;
  /** What the filter is called, and its configuration. */
  readonly resourceName: string;
  readonly phase: ExtensionPhase;
  /** Absent: after all that have one. */
  readonly priority?: number;
  readonly filters: 'requests' | 'connections';
  readonly match: readonly TrafficSelector[];
  /** A script that stands in the listener; absent: a module, whose configuration is asked for. */
  readonly script?: string;
}

/** The same with all that decides for whom it is, and in which order. */
export interface TrafficFilter {
  readonly head: ExtensionHead;
  readonly name: string;
  readonly creationTime: number;
  readonly targets: PolicyTargets;
}

/** Ends names that were made from a WasmPlugin's, so that they are no TrafficExtension's. */
const OF_WASM_PLUGIN = '~istio-translated-wasmplugin';

const RESOURCE_PREFIX = 'extensions.istio.io/trafficextension/';

type Plugin = Config<WasmPlugin> | Config<TrafficExtension>;

function isWasmPlugin(config: Plugin): config is Config<WasmPlugin> {
  return config.kind === 'WasmPlugin';
}

/** The module of a plugin; undefined for a script. */
export function wasmOf(config: Plugin): WasmConfig | undefined {
  return isWasmPlugin(config) ? config.spec : config.spec.wasm;
}

function luaOf(config: Plugin): LuaConfig | undefined {
  return isWasmPlugin(config) ? undefined : config.spec.lua;
}

function phaseOf({ phase }: WasmPlugin | TrafficExtension): ExtensionPhase {
  return phase === 'AUTHN' || phase === 'AUTHZ' || phase === 'STATS' ? phase : 'UNSPECIFIED';
}

/**
 * A WasmPlugin is a TrafficExtension of another name.
 * @see istio/istio pilot/pkg/config/kube/extensions/translate.go `translateWasmPlugin`
 */
export function trafficFilter(config: Plugin): TrafficFilter {
  const { key, namespace, creationTime, spec } = config;
  const name = isWasmPlugin(config) ? config.name + OF_WASM_PLUGIN : config.name;
  const { priority, match = [] } = spec;
  const script = luaOf(config)?.inlineCode;
  return {
    head: {
      key,
      id: `${namespace}.${name}`,
      resourceName: `${RESOURCE_PREFIX}${namespace}.${name}`,
      phase: phaseOf(spec),
      ...(priority === undefined ? {} : { priority }),
      filters: wasmOf(config)?.type === 'NETWORK' ? 'connections' : 'requests',
      match,
      ...(script === undefined ? {} : { script }),
    },
    name,
    creationTime,
    targets: targetsOf(namespace, spec),
  };
}

/** Oldest first; those of one age by name. */
export function byAgeOfFilter(a: TrafficFilter, b: TrafficFilter): number {
  return a.creationTime - b.creationTime || compareStrings(a.name, b.name);
}

/** Of one phase the highest priority first, then as they come. */
export function byPriority(a: ExtensionHead, b: ExtensionHead): number {
  if (a.priority === b.priority) return 0;
  if (a.priority === undefined) return 1;
  return b.priority === undefined ? -1 : b.priority - a.priority;
}

/** Which traffic passes a filter chain. A gateway is a client of what is behind it. */
export interface ChainTraffic {
  readonly mode: 'CLIENT' | 'SERVER';
  readonly port: number;
}

/** @see istio/istio pilot/pkg/model/extensions.go `matchTrafficExtensionSelectors` */
export function filtersTraffic({ match }: ExtensionHead, traffic: ChainTraffic): boolean {
  if (match.length === 0) return true;
  return match.some(({ mode = 'UNDEFINED', ports = [] }) => {
    const forMode = mode === 'UNDEFINED' || mode === 'CLIENT_AND_SERVER' || mode === traffic.mode;
    return forMode && (ports.length === 0 || ports.some(({ number }) => number === traffic.port));
  });
}
