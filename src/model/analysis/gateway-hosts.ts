import type { VirtualService } from '#generated/config/specs.ts';
import { hostsOverlap } from '../../base/host.ts';
import { placeOf } from '../../config/finding.ts';
import { gatewayKey, MESH_GATEWAY } from '../virtual-service.ts';
import type { Analyzer } from './analyzer.ts';
import { isMadeGateway, listed } from './names.ts';

/**
 * VirtualServices on gateways that serve none of their hosts.
 *
 * @see istio/istio pkg/config/analysis/analyzers/virtualservice/gateways.go
 */
export const GATEWAY_HOSTS: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings({ spec, namespace }, facts) {
    const { hosts = [] } = spec;
    if (hosts.length === 0) return;
    for (const [i, written] of (spec.gateways ?? []).entries()) {
      if (written === MESH_GATEWAY) continue;
      const place = placeOf(['spec', 'gateways', i]);
      if (isMadeGateway(written)) {
        yield place.warning(
          `"${written}" is made from an object of the Gateway API and may change: name that Gateway, or write an HTTPRoute`,
          'IST0165',
        );
        continue;
      }
      const name = gatewayKey(written, namespace);
      const served = [...new Set(facts.serversOfGateway(name, namespace).flatMap((server) => server.hosts))];
      if (served.some((host) => hosts.some((own) => hostsOverlap(host, own)))) continue;
      const quoted = listed(hosts.map((host) => `"${host}"`));
      if (!facts.hasGateway(name)) {
        yield place.info(`so nobody is served ${quoted} by gateway "${name}"`, 'IST0132');
        continue;
      }
      const theirs = served.length === 0 ? `has none for namespace ${namespace}` : `has ${listed(served)}`;
      yield place.warning(
        `no server of Gateway "${name}" is for ${quoted}: it ${theirs}; add the host there`,
        'IST0132',
      );
    }
  },
};
