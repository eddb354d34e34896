import type { Gateway } from '#generated/config/specs.ts';
import { type Finding, placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import type { GatewayRival } from './facts.ts';
import { placeText } from './gateway-rivals.ts';
import { listed } from './names.ts';

/**
 * Gateways for the same proxies that have hosts in common, or ports for different protocols.
 * @see istio/istio pkg/config/analysis/analyzers/gateway/conflictinggateway.go
 */
export const GATEWAY_CONFLICTS: Analyzer<Gateway> = {
  kinds: ['Gateway'],
  *findings({ key, spec }, facts) {
    for (const rival of facts.gatewayRivals(key)) {
      const server = spec.servers?.[rival.server];
      if (server !== undefined) yield finding(rival, placeText(server));
    }
  },
};

function finding({ server, hosts, gateways, outcome }: GatewayRival, place: string): Finding {
  const at = placeOf(['spec', 'servers', server]);
  const names = listed(gateways);
  const quoted = listed(hosts.map((host) => `"${host}"`));
  switch (outcome) {
    case 'barred':
      return at
        .at('port')
        .error(
          `the server is not served: Gateway ${names} comes first on ${place}, by age and name, and they can not share it`,
          hosts.length > 0 ? 'IST0145' : 'VM0205',
        );
    case 'left-out':
      return at
        .at('hosts')
        .error(
          `${quoted} on ${place} is served by Gateway ${names} alone, which comes first, by age and name: choose other hosts`,
          'IST0145',
        );
    case 'first':
      return at
        .at('hosts')
        .warning(`${quoted} on ${place} stands in Gateway ${names}, too, where it is not served`, 'IST0145');
    case 'joined':
      return at
        .at('hosts')
        .info(`Gateways ${names} have ${quoted} on ${place} in common: the rules of all of them hold`, 'IST0145');
  }
}
