import { compareStrings } from '../base/order.ts';
import type { EncodedResource, ResourceDelta } from '../proto/resource-set.ts';
import { kept, type Plan, type TypeState } from './protocol.ts';
import { inOrder, resourceIn, type Snapshot, type Snapshots } from './snapshot.ts';

export interface ChangesOptions {
  /** Whether a response of this variant says what is removed. */
  readonly removals: boolean;
  readonly holdRemovals: boolean;
  /** What is sent under an owed name that does not exist. */
  readonly placeholder?: (name: string) => EncodedResource | undefined;
}

/**
 * A response of changed resources only: every incremental one, and the state-of-the-world ones whose types are not sent
 * whole.
 */
export function changesPlan(state: TypeState, to: Snapshot, snapshots: Snapshots, options: ChangesOptions): Plan {
  const { subscription, holdings } = state;
  const difference = holdings.difference(to, snapshots);
  const gone = options.removals && state.rule.removes ? goneNames(state, difference, to) : [];
  const untold = options.holdRemovals ? gone : undefined;
  let changed = kept(
    subscription.owesAll ? to.whole.changed : difference.changed,
    (resource) =>
      subscription.covers(resource.name) &&
      !holdings.refusals.withholds(resource) &&
      (subscription.owesAll || !holdings.lingersAs(resource)),
  );
  let removed = options.holdRemovals ? [] : gone;
  if (subscription.owed.size > 0) {
    const { present, absent } = owedContent(state, to, options.placeholder);
    changed = union(changed, present);
    if (options.removals) removed = [...new Set([...removed, ...absent])].sort(compareStrings);
  }
  if (changed.length === 0 && removed.length === 0 && !subscription.owesAnswer) {
    return { content: undefined, fresh: [], untold };
  }
  return { content: shared(changed, removed, difference, to), fresh: changed, untold };
}

function goneNames({ subscription, holdings }: TypeState, difference: ResourceDelta, to: Snapshot): readonly string[] {
  const gone = kept(difference.removed, (name) => subscription.covers(name));
  if (holdings.lingering.size === 0) return gone;
  const lingering = [...holdings.lingering.keys()].filter(
    (name) => resourceIn(to, name) === undefined && subscription.covers(name),
  );
  return [...new Set([...gone, ...lingering])].sort(compareStrings);
}

function owedContent({ subscription, holdings }: TypeState, to: Snapshot, placeholder: ChangesOptions['placeholder']) {
  const present: EncodedResource[] = [];
  const absent: string[] = [];
  for (const name of subscription.owed) {
    const resource = resourceIn(to, name);
    if (resource === undefined) absent.push(name);
    else if (!holdings.refusals.withholds(resource)) present.push(resource);
  }
  if (placeholder !== undefined) present.push(...absent.map(placeholder).filter((resource) => resource !== undefined));
  return { present, absent };
}

function union(a: readonly EncodedResource[], b: readonly EncodedResource[]): readonly EncodedResource[] {
  if (b.length === 0) return a;
  const byName = new Map(a.map((resource) => [resource.name, resource]));
  for (const resource of b) byName.set(resource.name, resource);
  return byName.size === a.length ? a : inOrder(byName.values());
}

/** The shared object of equal content, so that its bytes are made once for all streams. */
function shared(
  changed: readonly EncodedResource[],
  removed: readonly string[],
  difference: ResourceDelta,
  to: Snapshot,
): ResourceDelta {
  if (changed === difference.changed && removed === difference.removed) return difference;
  // Placeholders apart, `changed` is a part of the set: of equal length, it is the set.
  const isWhole = removed.length === 0 && changed.length === to.whole.changed.length;
  return isWhole && changed.every((resource, i) => resource === to.whole.changed[i]) ? to.whole : { changed, removed };
}
