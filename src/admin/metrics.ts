import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DiscoveryEvents, StreamInfo } from '../xds/events.ts';
import { type AuthorityTimes, type CertificateEvents, certificateMetrics } from './certificate-metrics.ts';
import type { Route } from './http.ts';
import { rejectMetrics } from './reject-metrics.ts';
import { SHORT_TYPES, typeLabel } from './short-type.ts';

/** What is counted elsewhere and read when metrics are asked for. */
export interface MetricSources {
  services(): number;
  /** Objects in force by kind. */
  configs(): ReadonlyMap<string, number>;
  /** Findings by severity. */
  findings(): Readonly<Record<string, number>>;
  files(): number;
  refusedDocuments(): number;
  /** Objects served in their last good version. */
  lastGood(): number;
  scopes(): number;
  cells(): number;
  /** Until when what signs certificates holds; undefined while nothing does. */
  authority(): AuthorityTimes | undefined;
}

export interface Metrics {
  readonly registry: Registry;
  readonly events: DiscoveryEvents;
  readonly certificates: CertificateEvents;
  /** A derivation translated something. */
  translated(derivation: string): void;
  /** A proxy has acknowledged all that a change brought it. */
  converged(seconds: number): void;
  /** A change of the configuration concerned none of these streams. */
  unaffected(streams: number): void;
}

const TYPE = ['type'] as const;

/**
 * The server's metrics. Names that istiod has are istiod's, and mean the same (istio/istio pilot/pkg/xds/monitoring.go,
 * pkg/xds/monitoring.go, pilot/pkg/bootstrap/monitoring.go); `istiod_vm_…` are ours.
 */
export function createMetrics(version: string, sources: MetricSources): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry });
  describeServer(registry, version);
  describeConfiguration(registry, sources);
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const typed = (name: string, help: string) => new Counter({ name, help, labelNames: TYPE, registers });
  const connected = new Gauge({
    name: 'pilot_xds',
    help: 'Open xDS streams, by the version that proxies say of themselves.',
    labelNames: ['version'],
    registers,
  });
  const pushes = typed('pilot_xds_pushes', 'Responses sent, by type.');
  const sizes = new Histogram({
    name: 'pilot_xds_config_size_bytes',
    help: 'Bytes of responses, by type.',
    labelNames: TYPE,
    buckets: [1, 10_000, 1_000_000, 4_000_000, 10_000_000, 40_000_000],
    registers,
  });
  const convergence = new Histogram({
    name: 'pilot_proxy_convergence_time',
    help: 'Seconds from reading a change to the acknowledgement of all that it brings a proxy.',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 3, 5, 10, 20, 30],
    registers,
  });
  const acks = new Histogram({
    name: 'istiod_vm_xds_ack_seconds',
    help: 'Seconds from sending a response to its acknowledgement.',
    buckets: [0.001, 0.01, 0.05, 0.1, 0.5, 1, 5, 30],
    registers,
  });
  const internal = counter('pilot_total_xds_internal_errors', 'Streams ended by a fault of the server.');
  const fallbacks = counter('istiod_vm_xds_fallback_writes_total', 'Responses written the slower way.');
  const shared = counter('istiod_vm_xds_shared_responses_total', 'Responses whose bytes another stream had, too.');
  const refused = counter('istiod_vm_xds_refused_streams_total', 'Calls and streams ended for what the client did.');
  const throttled = counter('istiod_vm_xds_throttled_total', 'Times a client was read more slowly.');
  const unaffected = counter(
    'istiod_vm_pushes_avoided_total',
    'Streams that a change of the configuration did not concern, summed over changes.',
  );
  const translations = new Counter({
    name: 'istiod_vm_translations_total',
    help: 'Runs of a derivation.',
    labelNames: ['derivation'],
    registers,
  });
  const rejects = rejectMetrics(registry);
  for (const type of SHORT_TYPES) pushes.inc({ type }, 0);
  return {
    registry,
    certificates: certificateMetrics(registry, sources.authority),
    translated: (derivation) => translations.inc({ derivation }),
    converged: (seconds) => convergence.observe(seconds),
    unaffected: (streams) => unaffected.inc(streams),
    events: {
      onStreamOpen: (stream) => connected.inc({ version: proxyVersion(stream) }),
      onStreamClose: (stream) => {
        connected.dec({ version: proxyVersion(stream) });
        rejects.closed(stream);
      },
      onPush: (_stream, push) => {
        const labels = { type: typeLabel(push.typeUrl) };
        pushes.inc(labels);
        sizes.observe(labels, push.bytes);
        if (push.fallback) fallbacks.inc();
        if (push.shared) shared.inc();
      },
      onAck: (_stream, _typeUrl, _ack, latencyMs) => acks.observe(latencyMs / 1000),
      onNack: (stream, typeUrl, nack) => rejects.rejected(stream, typeUrl, nack),
      onReject: () => refused.inc(),
      onThrottle: () => throttled.inc(),
      onError: () => internal.inc(),
    },
  };
}

/** The metrics of a process that gives certificates and serves no proxies. */
export function authorityMetrics(
  version: string,
  times: MetricSources['authority'],
): Pick<Metrics, 'registry' | 'certificates'> {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  describeServer(registry, version);
  return { registry, certificates: certificateMetrics(registry, times) };
}

export function metricsRoute({ registry }: Pick<Metrics, 'registry'>): Route {
  return {
    path: '/metrics',
    doc: 'metrics for Prometheus',
    anyHost: true,
    answer: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  };
}

function describeServer(registry: Registry, version: string): void {
  const registers = [registry];
  const started = performance.now();
  new Gauge({ name: 'pilot_info', help: 'The version; always 1.', labelNames: ['version'], registers }).set(
    { version },
    1,
  );
  new Gauge({
    name: 'istio_build',
    help: 'The version of a component; always 1.',
    labelNames: ['component', 'tag'],
    registers,
  }).set({ component: 'pilot', tag: version }, 1);
  new Gauge({
    name: 'istiod_uptime_seconds',
    help: 'Seconds since the start.',
    registers,
    collect() {
      this.set((performance.now() - started) / 1000);
    },
  });
}

function describeConfiguration(registry: Registry, sources: MetricSources): void {
  const registers = [registry];
  const single: readonly (readonly [string, string, () => number])[] = [
    ['pilot_services', 'Services of the mesh.', sources.services],
    ['pilot_virt_services', 'VirtualServices in force.', () => sources.configs().get('VirtualService') ?? 0],
    ['istiod_vm_files', 'Files of configuration.', sources.files],
    ['istiod_vm_documents_refused', 'Documents that can not be taken.', sources.refusedDocuments],
    ['istiod_vm_configs_last_good', 'Objects that are served in their last good version.', sources.lastGood],
    ['istiod_vm_scopes', 'Groups of proxies that share every set of resources.', sources.scopes],
    ['istiod_vm_graph_cells', 'Values that the derivation graph holds.', sources.cells],
  ];
  for (const [name, help, read] of single) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  new Gauge({
    name: 'istiod_vm_configs',
    help: 'Objects in force, by kind.',
    labelNames: ['kind'],
    registers,
    collect() {
      for (const [kind, count] of sources.configs()) this.set({ kind }, count);
    },
  });
  new Gauge({
    name: 'istiod_vm_findings',
    help: 'Findings about the configuration, by severity.',
    labelNames: ['severity'],
    registers,
    collect() {
      for (const [severity, count] of Object.entries(sources.findings())) this.set({ severity }, count);
    },
  });
}

/** What proxies say is not believed to be a version, nor to be one of few: only what looks like one becomes a label. */
function proxyVersion({ node }: StreamInfo): string {
  const version = node.metadata?.['ISTIO_VERSION'];
  return typeof version === 'string' && /^\d{1,3}\.\d{1,3}(?:\.\d{1,3})?$/.test(version) ? version : 'unknown';
}
