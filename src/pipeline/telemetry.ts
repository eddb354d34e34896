import type { ExtensionProvider, Telemetry, Tracing } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { compareStrings } from '../base/order.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import {
  type AccessLogs,
  type MeshAccessLog,
  meshAccessLogs,
  telemetryAccessLogs,
} from '../envoy/filters/access-log.ts';
import { type StatsFilter, statsFilters } from '../envoy/filters/metrics.ts';
import type { FindService, ProviderService } from '../envoy/filters/provider-service.ts';
import type { TracerClient } from '../envoy/filters/tracers.ts';
import { type HttpTracing, type TracedWorkload, telemetryTracing, UNTRACED } from '../envoy/filters/tracing.ts';
import type { Direction } from '../envoy/listeners/proxy-headers.ts';
import type { ProxyScope } from '../model/scope.ts';
import { accessLogging } from '../model/telemetry/access-logging.ts';
import { applicableTelemetries, type TelemetryHead } from '../model/telemetry/applicable.ts';
import { metrics } from '../model/telemetry/metrics.ts';
import type { TrafficMode } from '../model/telemetry/mode.ts';
import { tracing } from '../model/telemetry/tracing.ts';
import { type Mesh, ONE } from './mesh.ts';

/** Telemetries, wider ones first. */
export type Telemetries = readonly ConfigKey[];

/** Those of one workload by what they speak of; undefined where neither they nor default providers say anything. */
export interface SelectedTelemetries {
  readonly logs?: Telemetries;
  readonly measures?: Telemetries;
  readonly traces?: Telemetries;
}

/** What counts for the tracer of a proxy. */
export interface TracerView {
  readonly telemetries: Telemetries;
  readonly client: TracerClient;
  /** Clusters that the proxy would need for a tracer and does not have; absent: none. */
  readonly lacks?: readonly string[];
}

export interface TracedRequests extends TracerView {
  readonly direction: Direction;
  readonly workload: TracedWorkload;
  /** Of the ProxyConfig that holds for the proxy. */
  readonly proxy: Tracing | undefined;
  /** In percent. */
  readonly defaultSampling: number;
}

/** What Telemetries come to. An edit of one asks anew those whose workloads it is for, and stops where nothing comes of it. */
export interface TelemetryResults {
  selected(scope: ProxyScope): SelectedTelemetries;
  /** Clusters without which Envoy would refuse a tracer, and that a proxy does not have, be it that its Sidecar leaves them out. */
  lacking(scope: ProxyScope): readonly string[];
  accessLogs(telemetries: Telemetries | undefined, direction: Direction): AccessLogs;
  statsFilters(telemetries: Telemetries | undefined, direction: Direction): readonly StatsFilter[];
  tracing(requests: TracedRequests): HttpTracing;
}

const NOTHING: SelectedTelemetries = {};
const NONE: readonly string[] = [];
const NO_FILTERS: readonly StatsFilter[] = [];

function modeOf(direction: Direction): TrafficMode {
  return direction === 'inbound' ? 'SERVER' : 'CLIENT';
}

/** A direction and Telemetries in one key. */
function keyOf(direction: Direction, telemetries: Telemetries): string {
  return [direction, ...telemetries].join('\n');
}

function partsOf(key: string): readonly [Direction, Telemetries] {
  const [direction, ...telemetries] = key.split('\n');
  return [direction as Direction, telemetries];
}

function isNotEmpty(list: readonly unknown[] | undefined): boolean {
  return list !== undefined && list.length > 0;
}

export function deriveTelemetry(graph: Graph, mesh: Mesh): TelemetryResults {
  /** Of a namespace, oldest first. */
  const heads: Derived<string, readonly TelemetryHead[]> = graph.derived(
    'telemetryHeads',
    (namespace) =>
      [...mesh.ofKindIn<Telemetry>('Telemetry', namespace)]
        .sort((a, b) => a.creationTime - b.creationTime || compareStrings(a.name, b.name))
        .map(({ key, spec: { selector, targetRef, targetRefs = [], ...says } }) => ({
          key,
          namespace,
          labels: selector?.matchLabels ?? {},
          targetRefs: targetRefs.length === 0 && targetRef !== undefined ? [targetRef] : targetRefs,
          logs: isNotEmpty(says.accessLogging),
          traces: isNotEmpty(says.tracing),
          measures: isNotEmpty(says.metrics),
        })),
    { equals: deepEqual },
  );
  const defaults: Derived<'', Readonly<Record<'logs' | 'traces' | 'measures', readonly string[]>>> = graph.derived(
    'defaultTelemetryProviders',
    () => {
      const {
        accessLogging: logs = [],
        tracing: traces = [],
        metrics: measures = [],
      } = mesh.facet('defaultProviders') ?? {};
      return { logs, traces, measures };
    },
    { equals: deepEqual },
  );
  /** Whether there is anything to look at for a workload. */
  const isUsed: Derived<'', boolean> = graph.derived(
    'telemetryIsUsed',
    () => mesh.byKind.get('Telemetry').length > 0 || Object.values(defaults.get(ONE)).some(isNotEmpty),
  );
  const selections: Derived<ProxyScope, SelectedTelemetries> = graph.derived(
    'telemetriesOf',
    ({ namespace, labels }) => {
      const applicable = applicableTelemetries({
        root: heads.get(mesh.rootNamespace()),
        own: heads.get(namespace),
        labels,
      });
      const about = (what: 'logs' | 'traces' | 'measures') => {
        const keys = applicable.filter((head) => head[what]).map(({ key }) => key);
        return keys.length > 0 || defaults.get(ONE)[what].length > 0 ? { [what]: keys } : {};
      };
      return { ...about('logs'), ...about('measures'), ...about('traces') };
    },
    { equals: deepEqual },
  );
  const specsOf = (keys: Telemetries): readonly Telemetry[] =>
    keys.flatMap((key) => mesh.config<Telemetry>(key)?.spec ?? []);

  /** By name in lower case: names are compared so. */
  const providers: Derived<string, ExtensionProvider | undefined> = graph.derived(
    'telemetryProvider',
    (name) => (mesh.facet('extensionProviders') ?? []).find((one) => (one.name ?? '').toLowerCase() === name),
    { equals: deepEqual },
  );
  const provider = (name: string) => providers.get(name.toLowerCase());
  const find: FindService = (service, port) => {
    const found = mesh.findCluster(service, port);
    return 'problem' in found ? undefined : found;
  };

  /** Envoy refuses listeners for the sake of these tracers when it does not know their cluster. */
  const insisted: Derived<'', readonly (ProviderService & { readonly port: number })[]> = graph.derived(
    'clustersOfTracers',
    () =>
      (mesh.facet('extensionProviders') ?? []).flatMap(({ zipkin, datadog }) => {
        const { service = '', port = 0 } = zipkin ?? datadog ?? {};
        const found = service === '' ? undefined : find(service, port);
        return found === undefined ? [] : [{ ...found, port }];
      }),
    { equals: deepEqual },
  );
  const lacking: Derived<ProxyScope, readonly string[]> = graph.derived(
    'lackingForTracers',
    (scope) =>
      insisted.get(ONE).flatMap(({ hostname, port, cluster }) => {
        const known = mesh.sidecarScope.get(scope).servicesByHostname.get(hostname);
        return known?.ports.some((one) => one.port === port) ? [] : [cluster];
      }),
    { equals: deepEqual },
  );

  const meshLog: Derived<'', MeshAccessLog> = graph.derived(
    'meshAccessLog',
    () => ({
      file: mesh.facet('accessLogFile') ?? '',
      encoding: mesh.facet('accessLogEncoding') ?? 'TEXT',
      format: mesh.facet('accessLogFormat') ?? '',
      service: mesh.facet('enableEnvoyAccessLogService') ?? false,
      listener: !mesh.facet('disableEnvoyListenerLog'),
    }),
    { equals: deepEqual },
  );
  const meshLogs: Derived<'', AccessLogs> = graph.derived('meshAccessLogs', () => meshAccessLogs(meshLog.get(ONE)));
  const accessLogs: Derived<string, AccessLogs> = graph.derived(
    'accessLogs',
    (key) => {
      const [direction, telemetries] = partsOf(key);
      const loggedBy = accessLogging({
        levels: specsOf(telemetries).map((spec) => spec.accessLogging ?? []),
        defaults: defaults.get(ONE).logs,
        mode: modeOf(direction),
      });
      return telemetryAccessLogs({ loggedBy, provider, find, mesh: meshLog.get(ONE) });
    },
    { equals: deepEqual },
  );
  const stats: Derived<string, readonly StatsFilter[]> = graph.derived(
    'statsFilters',
    (key) => {
      const [direction, telemetries] = partsOf(key);
      const specs = specsOf(telemetries).flatMap((spec) => spec.metrics ?? []);
      const measuredBy = metrics(specs, defaults.get(ONE).measures, modeOf(direction));
      return statsFilters(measuredBy, provider, direction === 'outbound');
    },
    { equals: deepEqual },
  );

  return {
    selected: (scope) => (isUsed.get(ONE) ? selections.get(scope) : NOTHING),
    accessLogs: (telemetries, direction) =>
      telemetries === undefined ? meshLogs.get(ONE) : accessLogs.get(keyOf(direction, telemetries)),
    statsFilters: (telemetries, direction) =>
      telemetries === undefined ? NO_FILTERS : stats.get(keyOf(direction, telemetries)),
    lacking: (scope) => (insisted.get(ONE).length === 0 ? NONE : lacking.get(scope)),
    tracing: ({ telemetries, direction, lacks = NONE, ...requests }) => {
      const specs = specsOf(telemetries).flatMap((spec) => spec.tracing ?? []);
      const tracedBy = tracing(specs, defaults.get(ONE).traces, modeOf(direction));
      if (tracedBy === undefined) return UNTRACED;
      const named = tracedBy.provider === undefined ? undefined : provider(tracedBy.provider);
      const known: FindService = (service, port) => {
        const found = find(service, port);
        return found === undefined || lacks.includes(found.cluster) ? undefined : found;
      };
      return telemetryTracing(tracedBy, named, { ...requests, find: known, variable: mesh.options.variable });
    },
  };
}
