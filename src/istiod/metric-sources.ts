import type { ServiceEntry } from '#generated/config/specs.ts';
import type { AuthorityTimes } from '../admin/certificate-metrics.ts';
import type { MetricSources } from '../admin/metrics.ts';
import { KINDS } from '../config/kinds/kinds.ts';
import type { ConfigStore } from '../config/store.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { ProxySessions } from '../pipeline/session.ts';
import type { Findings } from './findings.ts';

export interface Counted {
  readonly pipeline: Pipeline;
  readonly sessions: ProxySessions;
  readonly store: ConfigStore;
  /** Undefined until everything was read. */
  findings(): Findings | undefined;
  authority(): AuthorityTimes | undefined;
}

/** Where metrics read what they do not count themselves. */
export function metricSources({ pipeline, sessions, store, findings, authority }: Counted): MetricSources {
  const { mesh, graph } = pipeline;
  return {
    services: () =>
      mesh.byKind.get('Service').length +
      mesh.ofKind<ServiceEntry>('ServiceEntry').reduce((sum, { spec }) => sum + (spec.hosts?.length ?? 0), 0),
    configs: () => new Map(KINDS.map(({ kind }) => [kind, mesh.byKind.get(kind).length])),
    findings: () => findings()?.counts() ?? { error: 0, warning: 0, info: 0 },
    files: () => store.counts().files,
    refusedDocuments: () => store.counts().refused,
    lastGood: () => store.counts().lastGood,
    scopes: () => new Set([...sessions.sessions].map(({ scope }) => scope)).size,
    cells: () => graph.cellCount,
    authority,
  };
}
