import { type Diagnostic, formatDiagnostic, formatLocation } from '../base/diagnostic.ts';
import type { JsonObject } from '../base/json.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import { resourceName } from '../config/parse.ts';
import type { ConfigStore } from '../config/store.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { likeliestSources, sourcesOf } from '../pipeline/resource-sources.ts';
import type { ProxySessions } from '../pipeline/session.ts';
import type { StreamStatus } from '../xds/events.ts';
import { json, type Route, text } from './http.ts';
import type { Refusal } from './refusals.ts';
import { shortType } from './short-type.ts';

export interface StatusSources {
  readonly pipeline: Pipeline;
  readonly sessions: ProxySessions;
  readonly store: ConfigStore;
  streams(): readonly StreamStatus[];
  diagnostics(): readonly Diagnostic[];
  refusals(): readonly Refusal[];
}

/** What became of each object: taken or refused, served in which version, in force where, refused by whom. */
export function statusRoute(sources: StatusSources): Route {
  return {
    path: '/debug/statusz',
    doc: 'what became of each object; ?resource=Kind/namespace/name of one',
    answer: (query) => {
      const wanted = query.get('resource') ?? undefined;
      const all = statuses(sources, wanted);
      if (wanted === undefined) return json(all);
      const [only] = all;
      return only === undefined ? text(`no file has an object "${wanted}"`, 404) : json(only);
    },
  };
}

function statuses(sources: StatusSources, wanted: string | undefined): readonly JsonObject[] {
  const { store } = sources;
  const keys = store.keys().filter((key) => wanted === undefined || resourceOf(key) === wanted);
  if (keys.length === 0) return [];
  const findings = Map.groupBy(sources.diagnostics(), ({ resource }) => resource ?? '');
  const force = inForce(sources);
  return keys.flatMap((key) => {
    const status = store.status(key);
    if (status === undefined) return [];
    const resource = resourceOf(key);
    const { location, refusedAt, since, ...rest } = status;
    return [
      {
        resource,
        ...rest,
        location: formatLocation(location),
        ...(refusedAt && { refusedAt: formatLocation(refusedAt) }),
        ...(since !== undefined && { since: new Date(since).toISOString() }),
        findings: (findings.get(resource) ?? []).map(formatDiagnostic),
        ...(status.serving === 'none' ? {} : force(key)),
      },
    ];
  });
}

function resourceOf(key: ConfigKey): string {
  const [, kind = '', namespace = '', ...name] = key.split('/');
  return resourceName(kind, namespace, name.join('/'));
}

/**
 * At how many of the connected proxies an object is in force: those that have acknowledged all that they are to have, and
 * refuse nothing that is made of it since it changed. A proxy that has yet to answer may have it already, but that is not
 * known.
 */
function inForce({ pipeline, sessions, store, streams, refusals }: StatusSources): (key: ConfigKey) => JsonObject {
  const proxies = Map.groupBy(streams(), ({ proxy }) => proxy);
  const settled = [...proxies].flatMap(([proxy, list]) => (list.every(isSettled) ? [proxy] : []));
  const refused = refusals().map((refusal) => {
    const scope = sessions.named(refusal.proxy)?.scope;
    const below =
      scope === undefined ? [] : refusal.names.flatMap((n) => sourcesOf(pipeline, scope, refusal.typeUrl, n));
    const likely = scope === undefined ? [] : likeliestSources(pipeline, scope, refusal, (key) => store.changedAt(key));
    return { refusal, below: keysOf(below), likely: keysOf(likely) };
  });
  return (key) => {
    const changed = store.changedAt(key) ?? 0;
    const without = new Set(
      refused.flatMap(({ below, refusal: { proxy, holdsSince } }) =>
        below.has(key) && (holdsSince === undefined || changed > holdsSince) ? [proxy] : [],
      ),
    );
    const by = refused.flatMap(({ likely, refusal }) => (likely.has(key) ? [refusedBy(refusal)] : []));
    return {
      proxies: { connected: proxies.size, inForce: settled.filter((proxy) => !without.has(proxy)).length },
      refusedBy: by,
    };
  };
}

function isSettled({ types }: StreamStatus): boolean {
  return types.every(({ state, withheld }) => state === 'synced' || (state === 'nacked' && withheld > 0));
}

function keysOf(configs: readonly Config[]): ReadonlySet<ConfigKey> {
  return new Set(configs.map(({ key }) => key));
}

function refusedBy({ proxy, typeUrl, names, message, at }: Refusal): JsonObject {
  return { proxy, type: shortType(typeUrl), resources: names, message, at: new Date(at).toISOString() };
}
