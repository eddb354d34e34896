import type { ApplyTo, EnvoyConfigObjectPatch, EnvoyFilter } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import { canonicalJson } from '../base/intern.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import { patchValue } from '../config/kinds/envoy-filter-value.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { type Patch, type PatchSet, patchOf } from '../envoy/patch/patch.ts';
import {
  compareEnvoyFilters,
  type EnvoyFilterHead,
  type PatchedProxy,
  type PatchHead,
  type PatchRef,
  refOf,
  selectedPatches,
} from '../model/envoy-filter.ts';
import type { ProxyScope } from '../model/scope.ts';
import { messageDescriptor } from '../proto/descriptors.ts';
import type { Configuration } from './configuration.ts';

export interface EnvoyFilters {
  /** Which patches a proxy gets, in order. Changes with whom they are for, not with what they do. */
  patchesFor(proxy: PatchedProxy): readonly PatchRef[];
  /** The patches of a scope that are for some of Envoy's objects. Interned: equal ones are one object; absent when there are none. */
  patchSet(scope: Pick<ProxyScope, 'patches'>, wanted: PatchesWanted): PatchSet | undefined;
  /** Whom an EnvoyFilter is for. */
  readonly headOf: Derived<ConfigKey, EnvoyFilterHead | undefined>;
  /** Its patches that can be read, by their place. */
  readonly patchesOf: Derived<ConfigKey, ReadonlyMap<number, Patch>>;
}

/** Kinds of patches that a resource type is changed by; an object that exists once. */
export interface PatchesWanted {
  readonly name: string;
  readonly applyTo: ReadonlySet<ApplyTo>;
}

const NONE: readonly PatchRef[] = [];

/** EnvoyFilters as proxies get them. A mesh without any has nothing but two empty lists for each namespace. */
export function deriveEnvoyFilters(graph: Graph, configuration: Configuration): EnvoyFilters {
  const patches = new WeakInterner<Patch>();
  const sets = new WeakInterner<PatchSet>();
  const numbers = new ObjectNumbers();

  /** Those whose value can be read, by their place. An edit of one leaves the others the same. */
  const patchesOf: Derived<ConfigKey, ReadonlyMap<number, Patch>> = graph.derived(
    'envoyFilter',
    (key) => {
      const { configPatches = [] } = configuration.config<EnvoyFilter>(key)?.spec ?? {};
      return new Map(
        configPatches.flatMap((written, i) => {
          const patch = readPatch(written, key);
          return patch === undefined ? [] : [[i, patches.intern(canonicalJson(patch), () => patch)] as const];
        }),
      );
    },
    { equals: (a, b) => sameItems([...a], [...b], ([i, x], [j, y]) => i === j && x === y) },
  );
  const headOf: Derived<ConfigKey, EnvoyFilterHead | undefined> = graph.derived(
    'envoyFilterHead',
    (key) => {
      const config = configuration.config<EnvoyFilter>(key);
      return config && headOfConfig(config, patchesOf.get(key));
    },
    { equals: deepEqual },
  );
  const headsIn: Derived<string, readonly EnvoyFilterHead[]> = graph.derived(
    'envoyFiltersIn',
    (namespace) =>
      configuration.byKindNamespace.get(`EnvoyFilter/${namespace}`).flatMap((key) => headOf.get(key) ?? []),
    { equals: sameItems },
  );
  /** Of the root namespace and this one, in order. */
  const headsFor: Derived<string, readonly EnvoyFilterHead[]> = graph.derived(
    'envoyFiltersFor',
    (namespace) => {
      const root = configuration.rootNamespace();
      const heads = [...new Set([root, namespace])].flatMap((one) => headsIn.get(one));
      return heads.sort(compareEnvoyFilters(root));
    },
    { equals: sameItems },
  );
  /** Key: the refs as text. */
  const chosen = new Map<PatchesWanted, Derived<readonly PatchRef[], PatchSet | undefined>>();
  const chosenBy = (wanted: PatchesWanted): Derived<readonly PatchRef[], PatchSet | undefined> => {
    const known = chosen.get(wanted);
    if (known !== undefined) return known;
    const made = graph.derived<readonly PatchRef[], PatchSet | undefined>(`${wanted.name}Patches`, (refs) => {
      const found = refs.flatMap((ref) => {
        const { key, index } = refOf(ref);
        const patch = patchesOf.get(key).get(index);
        return patch !== undefined && wanted.applyTo.has(patch.applyTo) ? [patch] : [];
      });
      return found.length === 0 ? undefined : sets.intern(numbers.ofAll(found), () => ({ patches: found }));
    });
    chosen.set(wanted, made);
    return made;
  };
  return {
    headOf,
    patchesOf,
    patchesFor: (proxy) => {
      const heads = headsFor.get(proxy.namespace);
      return heads.length === 0 ? NONE : selectedPatches(heads, proxy);
    },
    patchSet: ({ patches: refs }, wanted) => (refs.length === 0 ? undefined : chosenBy(wanted).get(refs)),
  };
}

/** Extensions of Envoy that it lists, where it has them, and those of others. */
const LISTED = /^envoy\.extensions\.(?:filters|access_loggers|transport_sockets)\./;
const NEVER_LISTED = /^(?:envoy|google|xds|udpa)\./;

function isExtension(name: string): boolean {
  return LISTED.test(name) || !NEVER_LISTED.test(name) || messageDescriptor(name) === undefined;
}

function readPatch(written: EnvoyConfigObjectPatch, source: ConfigKey): Patch | undefined {
  return patchOf(written, patchValue(written), source);
}

function headOfConfig(
  { key, namespace, name, creationTime, spec }: Config<EnvoyFilter>,
  patches: ReadonlyMap<number, Patch>,
): EnvoyFilterHead {
  return {
    key,
    namespace,
    name,
    creationTime,
    priority: spec.priority ?? 0,
    ...(spec.workloadSelector?.labels && { labels: spec.workloadSelector.labels }),
    ...(spec.targetRefs && { targetRefs: spec.targetRefs }),
    patches: [...patches].map(([index, { applyTo, context, packed, unknown }]): PatchHead => {
      const { proxyVersion, metadata } = spec.configPatches?.[index]?.match?.proxy ?? {};
      return {
        index,
        applyTo,
        context,
        extensions: packed.filter(isExtension),
        unknown,
        ...(proxyVersion ? { proxyVersion } : {}),
        ...(metadata && { metadata }),
      };
    }),
  };
}
