import type { VirtualService } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import { gatewayKey, MESH_GATEWAY } from '../virtual-service.ts';
import type { Analyzer } from './analyzer.ts';
import { listed } from './names.ts';

/** Names by which a gateway passes TLS on, of which another VirtualService has the connections. */
export const GATEWAY_SERVER_NAMES: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings({ key, spec, namespace }, facts) {
    const gateways = (spec.gateways ?? []).filter((name) => name !== MESH_GATEWAY);
    if (gateways.length === 0) return;
    for (const [i, { match }] of (spec.tls ?? []).entries()) {
      for (const [j, { sniHosts }] of match.entries()) {
        for (const [k, name] of sniHosts.entries()) {
          const first = gateways.flatMap((gateway) =>
            facts.serverNameTakenBefore(key, gatewayKey(gateway, namespace), name),
          );
          if (first.length === 0) continue;
          yield placeOf(['spec', 'tls', i, 'match', j, 'sniHosts', k]).warning(
            `connections for "${name}" go by VirtualService ${listed([...new Set(first)])}, which has the gateway, too, and comes first by age and name`,
            'VM0210',
          );
        }
      }
    }
  },
};
