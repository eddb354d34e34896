import type { VirtualService } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import { isClaimRoute } from '../../config/kinds/headers.ts';
import { fullHostname, gatewayKey, MESH_GATEWAY, routeSemantics } from '../virtual-service.ts';
import type { Analyzer } from './analyzer.ts';
import type { GatewayServer } from './facts.ts';
import { listed } from './names.ts';

const ofGateways = ({ gateways = [] }: VirtualService): readonly string[] =>
  gateways.filter((name) => name !== MESH_GATEWAY);

/**
 * Destinations whose port a gateway has to guess: it takes its own.
 *
 * @see istio/istio pkg/config/analysis/analyzers/virtualservice/destinationhosts.go `checkServiceEntryPorts`
 */
export const GATEWAY_DESTINATION_PORTS: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings(config, facts) {
    const { spec, namespace } = config;
    const gateways = ofGateways(spec);
    if (gateways.length === 0 || routeSemantics(config) === 'gateway') return;
    let servers: readonly GatewayServer[] | undefined;
    for (const [i, { route = [] }] of (spec.http ?? []).entries()) {
      for (const [j, { destination }] of route.entries()) {
        if ((destination.port?.number ?? 0) !== 0) continue;
        const host = fullHostname(destination.host, namespace, facts.domainSuffix);
        const { ports = [] } = facts.service(host, namespace) ?? {};
        if (ports.length < 2) continue;
        servers ??= gateways.flatMap((name) => facts.serversOfGateway(gatewayKey(name, namespace), namespace));
        const lacking = [...new Set(servers.map(({ port }) => port))].filter((port) => !ports.includes(port));
        if (lacking.length === 0) continue;
        yield placeOf(['spec', 'http', i, 'route', j, 'destination']).warning(
          `"${host}" has the ports ${listed(ports.map(String))}; a gateway takes its own, ${listed(lacking.map(String))}, which is not among them: write port.number`,
          'IST0112',
        );
      }
    }
  },
};

/**
 * Routes by claims of a token at gateways that look at no token: they never match.
 *
 * @see istio/istio pkg/config/analysis/analyzers/virtualservice/jwtclaimroute.go
 */
export const CLAIM_ROUTES: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings({ spec, namespace }, facts) {
    const gateways = ofGateways(spec).map((name) => gatewayKey(name, namespace));
    for (const [i, { match = [] }] of (spec.http ?? []).entries()) {
      for (const [j, condition] of match.entries()) {
        for (const block of ['headers', 'withoutHeaders'] as const) {
          for (const name of Object.keys(condition[block] ?? {}).filter(isClaimRoute)) {
            const blind = gateways.filter((gateway) => facts.hasGateway(gateway) && !facts.checksTokens(gateway));
            if (blind.length === 0) continue;
            yield placeOf(['spec', 'http', i, 'match', j, block, name]).error(
              `no RequestAuthentication is for the proxies of Gateway ${listed(blind)}, so tokens are not looked at and "${name}" is never there: add one with its selector`,
              'IST0149',
            );
          }
        }
      }
    }
  },
};
