import { canonicalJson } from '../base/intern.ts';
import { append } from '../base/multimap.ts';
import { ObjectNumbers, WeakInterner } from '../base/weak-intern.ts';
import type { CollectionView } from '../derive/graph.ts';
import { type ListenPorts, portOfGatewayRoute } from '../envoy/patch/match.ts';
import type { Patch, PatchSet } from '../envoy/patch/patch.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { encodedResource } from './encoded-resource.ts';
import { emptyView, FixedView } from './fixed-view.ts';
import type { Mesh } from './mesh.ts';
import { type InputsOfConfigs, type PatchedView, PatchedViews } from './patched-view.ts';
import { type LeftOut, type PatchedType, Patching, type PatchView, refusalsOf } from './patching.ts';

type View = CollectionView<string, EncodedResource>;

/** Resources of one type as patches leave them, of the views that a scope has without them. */
export interface PatchedResources {
  /** The same views where no patch is for the scope. */
  views(scope: ProxyScope, views: readonly View[]): readonly View[];
  /** What became of the patches of a scope in the views that it was given last. */
  outcomes(scope: ProxyScope): ReadonlyMap<Patch, PatchOutcome>;
}

/** What became of a patch. */
export interface PatchOutcome {
  /** It found what it is for. */
  readonly used: boolean;
  /** Why it was left out of a resource, with the resource's name; of several the first. */
  readonly leftOut?: string;
}

/** A set of patches with what they do to one type of resources for one kind of proxies. Interned. */
interface Way {
  readonly set: PatchSet;
  readonly patching: Patching;
  /** By name; the first of a name. */
  readonly added: ReadonlyMap<string, readonly [Patch, EncodedResource]>;
  readonly leftOut: readonly LeftOut[];
}

const NO_OUTCOMES: ReadonlyMap<Patch, PatchOutcome> = new Map();
const NO_PORTS: ListenPorts = {};

/** A scope without patches has the views of every other such scope; patched ones share all that no patch is for. */
export function patchedResources(
  mesh: Pick<Mesh, 'configs' | 'envoyFilters' | 'mergedGateway'>,
  type: PatchedType,
): PatchedResources {
  const ways = new WeakInterner<Way>();
  const addedViews = new WeakInterner<View>();
  const numbers = new ObjectNumbers();
  const inputs: InputsOfConfigs = (keys) => [...new Set(keys)].map((key) => ({ input: mesh.configs.name, key }));
  const patchedViews = new PatchedViews(inputs);
  const latest = new WeakMap<ProxyScope, { readonly way: Way; readonly views: readonly PatchedView[] }>();

  const portsOf = (scope: ProxyScope): ListenPorts => {
    const routes = scope.type === 'router' ? mesh.mergedGateway.get(scope)?.routes : undefined;
    if (routes === undefined) return NO_PORTS;
    const ports = new Map<number, number[]>();
    for (const [name, servers] of routes) {
      for (const { port } of servers) append(ports, portOfGatewayRoute(name), port);
    }
    return Object.fromEntries(ports);
  };
  const wayOf = (scope: ProxyScope, set: PatchSet): Way => {
    const asksPort = set.patches.some(({ match }) => match.routeConfiguration?.portNumber !== undefined);
    const view: PatchView = {
      isGateway: scope.type === 'router',
      ports: asksPort ? portsOf(scope) : NO_PORTS,
      checked: !scope.capabilities.istioExtensions,
    };
    return ways.intern(`${numbers.of(set)}~${canonicalJson(view)}`, () => makeWay(type, set, view));
  };
  const addedView = ({ added }: Way, others: readonly PatchedView[]): View => {
    const free = [...added].filter(([name]) => !others.some((view) => view.has(name)));
    if (free.length === 0) return emptyView();
    const resources = free.map(([name, [, resource]]) => [name, resource] as const).sort(byName);
    const inputsOf = (name: string) => inputs([added.get(name)?.[0].source ?? []].flat());
    const id = numbers.ofAll(resources.map(([, resource]) => resource));
    return addedViews.intern(id, () => new FixedView(new Map(resources), inputsOf));
  };
  return {
    views: (scope, views) => {
      const set = mesh.envoyFilters.patchSet(scope, type.wanted);
      if (set === undefined || scope.capabilities.grpc) {
        latest.delete(scope);
        return views;
      }
      const way = wayOf(scope, set);
      const patched = views.map((view) => patchedViews.of(view, way.patching));
      latest.set(scope, { way, views: patched });
      return [...patched, addedView(way, patched)];
    },
    outcomes: (scope) => {
      const last = latest.get(scope);
      return last === undefined ? NO_OUTCOMES : outcomesOf(last.way, last.views);
    },
  };
}

function byName([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

function makeWay(type: PatchedType, set: PatchSet, view: PatchView): Way {
  const added = new Map<string, readonly [Patch, EncodedResource]>();
  const leftOut: LeftOut[] = [];
  for (const [patch, object] of type.added(set, view)) {
    const { name = '' } = object;
    const [refusal] = refusalsOf(type, object);
    const reason = name === '' || view.checked ? refusal : undefined;
    if (reason !== undefined) leftOut.push({ patch, reason });
    else if (added.has(name)) leftOut.push({ patch, reason: `"${name}" is added by an earlier patch, too` });
    else added.set(name, [patch, encodedResource(type.fullName, name, object)]);
  }
  return { set, patching: new Patching(type, set, view), added, leftOut };
}

function outcomesOf({ set, added, leftOut }: Way, views: readonly PatchedView[]): ReadonlyMap<Patch, PatchOutcome> {
  const reasons = new Map<Patch, string>();
  const note = (patch: Patch, reason: string): void => void (reasons.has(patch) || reasons.set(patch, reason));
  for (const { patch, reason } of leftOut) note(patch, reason);
  const taken = new Set<Patch>();
  for (const [name, [patch]] of added) {
    if (views.some((view) => view.has(name))) note(patch, `"${name}" is there already`);
    else taken.add(patch);
  }
  for (const view of views) for (const [name, one] of view.leftOut()) note(one.patch, `${name}: ${one.reason}`);
  return new Map(
    set.patches.map((patch) => {
      const reason = reasons.get(patch);
      const used = taken.has(patch) || views.some((view) => view.uses(patch));
      return [patch, { used, ...(reason === undefined ? {} : { leftOut: reason }) }];
    }),
  );
}
