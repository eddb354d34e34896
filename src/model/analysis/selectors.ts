import type { PolicyWorkloadSelector, ServiceEntry, WorkloadSelector } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import { labelText } from './names.ts';

interface Selective {
  readonly selector?: PolicyWorkloadSelector;
  readonly workloadSelector?: WorkloadSelector;
}

/**
 * Objects for workloads that there are not.
 *
 * @see istio/istio pkg/config/analysis/analyzers/authz/authorizationpolicies.go, telemetry/selector.go
 */
export const WORKLOAD_SELECTORS: Analyzer<Selective> = {
  kinds: [
    'AuthorizationPolicy',
    'PeerAuthentication',
    'RequestAuthentication',
    'Telemetry',
    'WasmPlugin',
    'TrafficExtension',
    'EnvoyFilter',
    'ProxyConfig',
  ],
  *findings({ kind, spec, namespace }, facts) {
    const labels = spec.selector?.matchLabels ?? spec.workloadSelector?.labels ?? {};
    if (Object.keys(labels).length === 0) return;
    const everywhere = namespace === facts.rootNamespace();
    if (facts.hasWorkload(everywhere ? '*' : namespace, labels)) return;
    const where = everywhere ? 'of the mesh' : `of namespace ${namespace}`;
    const field = spec.selector === undefined ? ['workloadSelector', 'labels'] : ['selector', 'matchLabels'];
    yield placeOf(['spec', ...field]).warning(
      `no workload ${where}, in files or connected, has the labels ${labelText(labels)}`,
      kind === 'Telemetry' ? 'IST0101' : 'IST0127',
    );
  },
};

/** Services whose endpoints are chosen by labels that nobody has. */
export const SERVICE_ENTRY_SELECTOR: Analyzer<ServiceEntry> = {
  kinds: ['ServiceEntry'],
  *findings({ spec, namespace }, facts) {
    const labels = spec.workloadSelector?.labels ?? {};
    if (Object.keys(labels).length === 0 || facts.hasWorkload(namespace, labels)) return;
    yield placeOf(['spec', 'workloadSelector', 'labels']).info(
      `no workload of namespace ${namespace} has the labels ${labelText(labels)}: the service has no endpoints`,
      'IST0127',
    );
  },
};
