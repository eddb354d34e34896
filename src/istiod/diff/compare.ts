import type { JsonValue } from '../../base/json.ts';
import { type JsonDifference, jsonDifferences } from '../../base/json-difference.ts';
import { compareStrings } from '../../base/order.ts';
import type { NodeDescription } from '../../model/node.ts';
import type { ProxyScope } from '../../model/scope.ts';
import type { ProxySession } from '../../pipeline/session.ts';
import { decodeMessage } from '../../proto/decode.ts';
import type { EncodedResource } from '../../proto/resource-set.ts';
import { messageName, SECRET_TYPE } from '../../proto/type-urls.ts';
import type { Served } from './served.ts';

/** What becomes of one resource. */
export interface ResourceChange {
  readonly typeUrl: string;
  readonly name: string;
  readonly change: 'added' | 'changed' | 'removed';
  /** Of a changed one; empty for secrets, whose contents are shown to nobody. */
  readonly fields: readonly JsonDifference[];
}

/** Proxies for which the same changes. */
export interface ProxyChanges {
  /** In order. */
  readonly proxies: readonly string[];
  readonly changes: readonly ResourceChange[];
}

/**
 * What changes for whom between two states of a mesh.
 * @returns groups of proxies with the same changes, those for which nothing changes left out; the largest group first
 */
export function compared(
  before: Served,
  after: Served,
  nodes: readonly NodeDescription[],
): { readonly groups: readonly ProxyChanges[]; readonly proxies: number } {
  const known = new Map<ProxyScope, Map<ProxyScope, readonly ResourceChange[]>>();
  const groups = new Map<string, { readonly proxies: Set<string>; readonly changes: readonly ResourceChange[] }>();
  const compare = pairwise(before, after);
  const all = new Set<string>();
  for (const node of nodes) {
    const [old, now] = [before.sessions.get(node), after.sessions.get(node)];
    if (old === undefined || now === undefined) continue;
    all.add(old.id);
    const ofScope = known.get(old.scope) ?? new Map<ProxyScope, readonly ResourceChange[]>();
    known.set(old.scope, ofScope);
    const changes = ofScope.get(now.scope) ?? compare(old, now);
    ofScope.set(now.scope, changes);
    if (changes.length === 0) continue;
    const key = JSON.stringify(changes);
    const group = groups.get(key) ?? { proxies: new Set(), changes };
    groups.set(key, group);
    group.proxies.add(old.id);
  }
  const sorted = [...groups.values()].map(({ proxies, changes }) => ({ proxies: [...proxies].sort(), changes }));
  sorted.sort((a, b) => b.proxies.length - a.proxies.length || compareStrings(a.proxies[0] ?? '', b.proxies[0] ?? ''));
  return { groups: sorted, proxies: all.size };
}

/** Resources that many scopes share are compared once. */
function pairwise(before: Served, after: Served) {
  const fields = new Map<string, readonly JsonDifference[]>();
  const differences = (typeUrl: string, old: EncodedResource, now: EncodedResource): readonly JsonDifference[] => {
    if (typeUrl === SECRET_TYPE) return [];
    const key = `${typeUrl} ${old.version} ${now.version}`;
    const known = fields.get(key) ?? jsonDifferences(decoded(typeUrl, old), decoded(typeUrl, now));
    fields.set(key, known);
    return known;
  };
  const types = [...new Set([...before.pipeline.resources.keys(), ...after.pipeline.resources.keys()])];
  return (old: ProxySession, now: ProxySession): readonly ResourceChange[] =>
    types.flatMap((typeUrl) => {
      const were = resourcesOf(old, typeUrl);
      const are = resourcesOf(now, typeUrl);
      const names = [...new Set([...were.keys(), ...are.keys()])].sort(compareStrings);
      return names.flatMap((name): readonly ResourceChange[] => {
        const [was, is] = [were.get(name), are.get(name)];
        if (was === undefined || is === undefined)
          return [{ typeUrl, name, change: was === undefined ? 'added' : 'removed', fields: [] }];
        if (was.version === is.version) return [];
        return [{ typeUrl, name, change: 'changed', fields: differences(typeUrl, was, is) }];
      });
    });
}

function resourcesOf(session: ProxySession, typeUrl: string): ReadonlyMap<string, EncodedResource> {
  return new Map([...(session.resources(typeUrl)?.values() ?? [])].map((resource) => [resource.name, resource]));
}

function decoded(typeUrl: string, { bytes }: EncodedResource): JsonValue {
  return decodeMessage(messageName(typeUrl), bytes);
}
