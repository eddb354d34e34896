import type { Sidecar } from '#generated/config/specs.ts';
import { deepEqual } from '../../base/equal.ts';
import { isWildcardHost } from '../../base/host.ts';
import { placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import { labelText, listed, objectName } from './names.ts';

/** Egress hosts by which nothing is imported. */
export const EGRESS_HOSTS: Analyzer<Sidecar> = {
  kinds: ['Sidecar'],
  *findings({ spec, namespace }, facts) {
    for (const [i, { hosts }] of (spec.egress ?? []).entries()) {
      for (const [j, text] of hosts.entries()) {
        const [left = '', host, ...more] = text.split('/');
        if (host === undefined || more.length > 0 || left.startsWith('~')) continue;
        const owner = left === '.' ? namespace : left;
        // These stand in every Sidecar, whether or not there is something.
        if (host === '*' && (owner === '*' || owner === namespace || owner === facts.rootNamespace())) continue;
        if (facts.isImported(namespace, owner, host)) continue;
        const where = owner === '*' ? 'no namespace has' : `namespace ${owner} has no`;
        const what = host === '*' ? 'service' : `host "${host}"`;
        const message = `${where} ${what} that namespace ${namespace} sees: nothing is imported`;
        const place = placeOf(['spec', 'egress', i, 'hosts', j]);
        yield isWildcardHost(host) ? place.info(message, 'IST0101') : place.warning(message, 'IST0101');
      }
    }
  },
};

/**
 * Several Sidecars for the same workloads: one of them counts.
 *
 * @see istio/istio pkg/config/analysis/analyzers/sidecar/selector.go
 */
export const SIDECAR_SELECTORS: Analyzer<Sidecar> = {
  kinds: ['Sidecar'],
  *findings(config, facts) {
    const { spec, namespace, key } = config;
    const labels = spec.workloadSelector?.labels ?? {};
    const hasLabels = Object.keys(labels).length > 0;
    const at = placeOf(['spec', 'workloadSelector', 'labels']);
    const twins = facts
      .selections('Sidecar', namespace)
      .filter((other) => other.key !== key && deepEqual(other.labels ?? {}, labels))
      .map(({ name }) => name);
    const outcome = 'which of them counts goes by age and name; keep one';
    if (!hasLabels) {
      if (twins.length === 0) return;
      const names = listed([objectName(config), ...twins]);
      yield placeOf(['metadata', 'name']).error(
        `Sidecars ${names} are all for every workload of namespace ${namespace}: ${outcome}`,
        'IST0111',
      );
      return;
    }
    const contested = facts.contested(key);
    if (contested !== undefined) {
      const others = listed(contested.others);
      yield at.error(`Sidecar ${others} selects workload ${contested.workload}, too: ${outcome}`, 'IST0110');
    } else if (twins.length > 0) {
      yield at.error(`Sidecar ${listed(twins)} has the same selector: ${outcome}`, 'IST0110');
    }
    if (!facts.hasWorkload(namespace, labels)) {
      yield at.warning(
        `no workload of namespace ${namespace}, in files or connected, has the labels ${labelText(labels)}`,
        'IST0101',
      );
    }
  },
};

/** TLS of a listener that is not looked at. */
export const INGRESS_TLS: Analyzer<Sidecar> = {
  kinds: ['Sidecar'],
  *findings({ spec }, facts) {
    if (facts.endsTlsOfIngress) return;
    for (const [i, { tls }] of (spec.ingress ?? []).entries()) {
      if (tls === undefined) continue;
      yield placeOf(['spec', 'ingress', i, 'tls']).warning(
        '"tls" has no effect here: the environment (env in mesh.yaml) must say ENABLE_TLS_ON_SIDECAR_INGRESS: "true"',
        'VM0004',
      );
    }
  },
};
