import type { PolicyWorkloadSelector, ServiceEntry } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import { labelText } from './names.ts';

/**
 * Policies for workloads that there are not.
 *
 * @see istio/istio pkg/config/analysis/analyzers/authz/authorizationpolicies.go
 */
export const POLICY_SELECTORS: Analyzer<{ readonly selector?: PolicyWorkloadSelector }> = {
  kinds: ['AuthorizationPolicy', 'PeerAuthentication', 'RequestAuthentication'],
  *findings({ spec, namespace }, facts) {
    const labels = spec.selector?.matchLabels ?? {};
    if (Object.keys(labels).length === 0) return;
    const everywhere = namespace === facts.rootNamespace();
    if (facts.hasWorkload(everywhere ? '*' : namespace, labels)) return;
    const where = everywhere ? 'of the mesh' : `of namespace ${namespace}`;
    yield placeOf(['spec', 'selector', 'matchLabels']).warning(
      `no workload ${where}, in files or connected, has the labels ${labelText(labels)}`,
      'IST0127',
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
