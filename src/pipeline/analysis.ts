import { deepEqual, sameItems } from '../base/equal.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Finding } from '../config/finding.ts';
import type { Collection, Graph } from '../derive/graph.ts';
import { ANALYZERS } from '../model/analysis/analyzers.ts';
import type { MeshFacts } from '../model/analysis/facts.ts';
import { deriveAccessFacts } from './access-facts.ts';
import { deriveAddressFacts } from './address-facts.ts';
import { deriveCertificateFacts } from './certificate-facts.ts';
import { deriveConversionFindings } from './conversions/findings.ts';
import { deriveEnvoyFilterFacts } from './envoy-filter-facts.ts';
import { deriveGatewayFacts } from './gateway-facts.ts';
import type { Mesh } from './mesh.ts';
import { deriveMeshWideFacts } from './mesh-wide-facts.ts';
import { deriveProtocolFacts } from './protocol-facts.ts';
import type { ScopedResources } from './resource-types.ts';
import { deriveServerFacts } from './server-facts.ts';
import { deriveServiceFacts } from './service-facts.ts';
import { deriveTelemetryFacts } from './telemetry-facts.ts';
import { deriveVirtualServiceFacts } from './virtual-service-facts.ts';
import { deriveWorkloadFacts } from './workload-facts.ts';

/** Findings about objects in view of others. Nothing is looked at before it is read or watched. */
export interface Analysis {
  /** Kinds of which something may be said. */
  readonly kinds: readonly string[];
  /** By kind, then object: those of which something is said. */
  readonly findings: Collection<string, ConfigKey, readonly Finding[]>;
}

/** Each object is looked at anew when it, or what was asked about others on its behalf, has changed. */
export function deriveAnalysis(graph: Graph, mesh: Mesh, resources: ReadonlyMap<string, ScopedResources>): Analysis {
  const workloads = deriveWorkloadFacts(graph, mesh);
  const facts: MeshFacts = {
    domainSuffix: mesh.options.domainSuffix,
    endsTlsOfIngress: mesh.options.listeners.sidecarIngressTls,
    rootNamespace: mesh.rootNamespace,
    ...deriveServiceFacts(graph, mesh),
    ...deriveVirtualServiceFacts(graph, mesh),
    ...deriveEnvoyFilterFacts(graph, mesh, resources),
    ...workloads,
    ...deriveGatewayFacts(graph, mesh, workloads),
    ...deriveAddressFacts(graph, mesh),
    ...deriveTelemetryFacts(graph, mesh),
    ...deriveProtocolFacts(graph, mesh),
    ...deriveMeshWideFacts(mesh),
    ...deriveServerFacts(graph, mesh, workloads),
    ...deriveConversionFindings(graph, mesh),
    ...deriveAccessFacts(graph, mesh),
    ...deriveCertificateFacts(graph, mesh),
  };
  const kinds = [...new Set(ANALYZERS.flatMap((analyzer) => analyzer.kinds))].sort();
  const ofKind = new Map(kinds.map((kind) => [kind, ANALYZERS.filter((analyzer) => analyzer.kinds.includes(kind))]));
  const findings = graph.collection<string, ConfigKey, readonly Finding[]>('findings', {
    items: (kind) => mesh.byKind.get(kind),
    value: (key, kind) => {
      const config = mesh.config(key);
      if (config === undefined) return undefined;
      const found = (ofKind.get(kind) ?? []).flatMap((analyzer) => [...analyzer.findings(config, facts)]);
      return found.length === 0 ? undefined : found;
    },
    equals: (a, b) => sameItems(a, b, deepEqual),
  });
  return { kinds, findings };
}
