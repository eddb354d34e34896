import type { VirtualService } from '#generated/config/specs.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { type Finding, type Place, placeOf } from '../../config/finding.ts';
import { fullHostname, gatewayKey, MESH_GATEWAY, routeSemantics } from '../virtual-service.ts';
import type { Analyzer } from './analyzer.ts';
import type { MeshFacts } from './facts.ts';
import { isMadeGateway, listed } from './names.ts';

function* gatewayFindings(
  at: Place,
  names: readonly string[] | undefined,
  namespace: string,
  facts: MeshFacts,
): Generator<Finding> {
  for (const [i, written] of (names ?? []).entries()) {
    if (written === MESH_GATEWAY || isMadeGateway(written)) continue;
    const name = gatewayKey(written, namespace);
    if (facts.hasGateway(name)) continue;
    const known = facts.gatewaysOf(name.split('/', 1)[0] ?? '');
    const near = nearestName(name, known);
    const hint =
      near !== undefined
        ? `did you mean "${near}"?`
        : known.length === 0
          ? 'define it, or write "mesh" for sidecars'
          : `its namespace has ${listed(known)}`;
    yield at.at(i).error(`there is no Gateway "${name}"; ${hint}`, 'IST0101');
  }
}

/** @see istio/istio pkg/config/analysis/analyzers/virtualservice/gateways.go */
export const GATEWAY_REFERENCES: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings({ spec, namespace }, facts) {
    const at = placeOf(['spec']);
    yield* gatewayFindings(at.at('gateways'), spec.gateways, namespace, facts);
    for (const [block, rules] of Object.entries({
      http: spec.http ?? [],
      tls: spec.tls ?? [],
      tcp: spec.tcp ?? [],
    })) {
      for (const [i, { match = [] }] of rules.entries()) {
        for (const [j, { gateways }] of match.entries()) {
          yield* gatewayFindings(at.at(block, i, 'match', j, 'gateways'), gateways, namespace, facts);
        }
      }
    }
  },
};

/** VirtualServices to which others delegate. */
export const DELEGATE_REFERENCES: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings({ spec, namespace: own }, facts) {
    for (const [i, { delegate }] of (spec.http ?? []).entries()) {
      if (delegate === undefined) continue;
      const { name = '', namespace: written = '' } = delegate;
      const namespace = written === '' ? own : written;
      const place = placeOf(['spec', 'http', i, 'delegate', 'name']);
      const found = facts.virtualService(namespace, name, own);
      if (found === undefined) {
        yield place.error(`there is no VirtualService "${namespace}/${name}", so the rule is left out`, 'IST0101');
      } else if (found === 'root') {
        const why = 'it has hosts of its own, so the rule is left out';
        yield place.error(`VirtualService "${namespace}/${name}" can not be delegated to: ${why}`, 'IST0101');
      } else if (found === 'hidden') {
        const why = `namespace ${own} does not see it, so the rule is left out: export it there`;
        yield place.error(`VirtualService "${namespace}/${name}" can not be delegated to: ${why}`, 'IST0101');
      }
    }
  },
};

/** Hosts of one word, which are short for a service of the namespace, where there is none. */
export const SHORT_HOSTS: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings(config, facts) {
    const { spec, namespace } = config;
    const gateways = spec.gateways ?? [];
    if (routeSemantics(config) !== 'istio' || (gateways.length > 0 && !gateways.includes(MESH_GATEWAY))) return;
    for (const [i, written] of (spec.hosts ?? []).entries()) {
      const host = fullHostname(written, namespace, facts.domainSuffix);
      if (host === written || facts.service(host, namespace) !== undefined) continue;
      const known = facts.hostnames(namespace);
      const near = known.find((name) => name.startsWith(`${written}.`)) ?? nearestName(written, known);
      const hint = near === undefined ? 'write it in full, or define the service' : `did you mean "${near}"?`;
      yield placeOf(['spec', 'hosts', i]).warning(
        `"${written}" is short for "${host}", and there is no such service, so nobody asks for it; ${hint}`,
        'IST0101',
      );
    }
  },
};
