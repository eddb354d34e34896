import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { DiscoveryEvents } from '../xds/events.ts';

/** Short names of types, as Istio's metrics have them. */
const SHORT: Readonly<Record<string, string>> = {
  'type.googleapis.com/envoy.config.cluster.v3.Cluster': 'cds',
  'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment': 'eds',
  'type.googleapis.com/envoy.config.listener.v3.Listener': 'lds',
  'type.googleapis.com/envoy.config.route.v3.RouteConfiguration': 'rds',
  'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret': 'sds',
  'type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig': 'ecds',
  'type.googleapis.com/istio.networking.nds.v1.NameTable': 'nds',
};

/** `cds` of a type URL; the message's name where there is no short one. */
export function shortType(typeUrl: string): string {
  return SHORT[typeUrl] ?? typeUrl.slice(typeUrl.lastIndexOf('.') + 1).toLowerCase();
}

/** What is counted elsewhere and read when metrics are asked for. */
export interface MetricSources {
  services(): number;
  virtualServices(): number;
  configs(): number;
  diagnostics(): { readonly errors: number; readonly warnings: number };
  cells(): number;
}

export interface Metrics {
  readonly registry: Registry;
  readonly events: DiscoveryEvents;
  /** A derivation translated something: for `istiod_vm_translations_total`. */
  translated(derivation: string): void;
}

/**
 * The server's metrics; names that istiod has are istiod's (istio/istio pilot/pkg/xds/monitoring.go).
 */
export function createMetrics(version: string, sources: MetricSources): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const type = ['type'] as const;
  new Gauge({ name: 'istiod_build_info', help: 'The version; always 1.', labelNames: ['version'], registers }).set(
    { version },
    1,
  );
  const gauges: readonly (readonly [string, string, () => number])[] = [
    ['pilot_services', 'Services of the mesh.', sources.services],
    ['pilot_virt_services', 'VirtualServices of the mesh.', sources.virtualServices],
    ['istiod_vm_configs', 'Configuration objects in force.', sources.configs],
    ['istiod_vm_config_errors', 'Findings of severity error.', () => sources.diagnostics().errors],
    ['istiod_vm_config_warnings', 'Findings of severity warning.', () => sources.diagnostics().warnings],
    ['istiod_vm_graph_cells', 'Cells of the derivation graph.', sources.cells],
  ];
  for (const [name, help, read] of gauges) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  }
  const connected = new Gauge({ name: 'pilot_xds', help: 'Open xDS streams.', labelNames: ['version'], registers });
  connected.set({ version }, 0);
  const pushes = new Counter({ name: 'pilot_xds_pushes', help: 'Responses sent.', labelNames: type, registers });
  const rejects = new Counter({
    name: 'pilot_total_xds_rejects',
    help: 'Responses that proxies refused.',
    labelNames: type,
    registers,
  });
  const sizes = new Histogram({
    name: 'pilot_xds_config_size_bytes',
    help: 'Bytes of responses.',
    labelNames: type,
    buckets: [1, 10_000, 100_000, 1_000_000, 4_000_000, 10_000_000],
    registers,
  });
  const acks = new Histogram({
    name: 'pilot_proxy_convergence_time',
    help: 'Seconds from sending a response to its acknowledgement.',
    buckets: [0.01, 0.05, 0.1, 0.5, 1, 3, 5, 10, 20, 30],
    registers,
  });
  const count = (name: string, help: string) => new Counter({ name, help, registers });
  const internalErrors = count('pilot_total_xds_internal_errors', 'Streams ended by a fault of the server.');
  const fallbacks = count('istiod_vm_xds_fallback_writes_total', 'Responses written the slower way.');
  const shared = count('istiod_vm_xds_shared_responses_total', 'Responses whose bytes another stream had, too.');
  const refused = count(
    'istiod_vm_xds_refused_streams_total',
    'Calls and streams refused or ended for what the client did.',
  );
  const translations = new Counter({
    name: 'istiod_vm_translations_total',
    help: 'Runs of a derivation.',
    labelNames: ['derivation'],
    registers,
  });
  return {
    registry,
    translated: (derivation) => translations.inc({ derivation }),
    events: {
      onStreamOpen: () => connected.inc({ version }),
      onStreamClose: () => connected.dec({ version }),
      onPush: (_stream, push) => {
        const labels = { type: shortType(push.typeUrl) };
        pushes.inc(labels);
        sizes.observe(labels, push.bytes);
        if (push.fallback) fallbacks.inc();
        if (push.shared) shared.inc();
      },
      onAck: (_stream, _typeUrl, _ack, latencyMs) => acks.observe(latencyMs / 1000),
      onNack: (_stream, typeUrl) => rejects.inc({ type: shortType(typeUrl) }),
      onReject: () => refused.inc(),
      onError: () => internalErrors.inc(),
    },
  };
}
