import type { L4MatchAttributes, RouteDestination, VirtualService } from '#generated/config/specs.ts';
import { type Hostname, hostsOverlap } from '../../base/host.ts';
import type { Config } from '../../config/config.ts';
import { MARKS } from '../../config/marks.ts';
import { hostsForNamespace, type MergedServer, passesTls } from '../../model/merged-gateway-server.ts';

/** A route of a VirtualService by which a gateway passes connections on. */
export interface ConnectionRoute {
  readonly virtualService: Pick<Config, 'name' | 'namespace'>;
  /** At least one. */
  readonly route: readonly RouteDestination[];
}

/** One for the names that clients ask for. */
export interface NamedRoute extends ConnectionRoute {
  readonly sniHosts: readonly Hostname[];
}

type Bound = Config<VirtualService>;
type Server = Pick<MergedServer, 'gateway' | 'port' | 'hosts' | 'tls'>;

function sharesHost(server: Server, { spec, namespace }: Bound): boolean {
  const hosts = hostsForNamespace(server, namespace);
  return (spec.hosts ?? []).some((host) => hosts.some((own) => hostsOverlap(own, host)));
}

/** Of who is asking, a gateway knows only by which of its servers they come. */
function admits({ port, gateways = [] }: Pick<L4MatchAttributes, 'port' | 'gateways'>, server: Server): boolean {
  return (!port || port === server.port) && (gateways.length === 0 || gateways.includes(server.gateway));
}

/** A TLSRoute of the Gateway API has `tls` routes also where TLS ends at the gateway. */
function isTlsRoute({ annotations }: Bound): boolean {
  return annotations[MARKS.parents]?.startsWith('TLSRoute/') === true;
}

/**
 * The route of all connections to a server: the first `tcp` route that is for it, or `tls` route where TLS has ended.
 *
 * @param virtualServices those bound to the server's gateway, in order of precedence
 * @see istio/istio pilot/pkg/networking/core/gateway.go `buildGatewayNetworkFiltersFromTCPRoutes`
 */
export function tcpRoute(server: Server, virtualServices: readonly Bound[]): ConnectionRoute | undefined {
  for (const virtualService of virtualServices) {
    if (!sharesHost(server, virtualService)) continue;
    for (const { match = [], route = [] } of virtualService.spec.tcp ?? []) {
      if (route.length === 0) continue;
      if (match.length === 0 || match.some((one) => admits(one, server))) return { virtualService, route };
    }
    if (!isTlsRoute(virtualService) || passesTls(server)) continue;
    for (const { match, route = [] } of virtualService.spec.tls ?? []) {
      if (route.length > 0 && match.some((one) => admits(one, server))) return { virtualService, route };
    }
  }
  return undefined;
}

/**
 * The `tls` routes of a server that passes TLS on unopened, one for each match.
 * @see istio/istio pilot/pkg/networking/core/gateway.go `buildGatewayNetworkFiltersFromTLSRoutes`
 */
export function tlsRoutes(server: Server, virtualServices: readonly Bound[]): readonly NamedRoute[] {
  return virtualServices
    .filter((virtualService) => sharesHost(server, virtualService))
    .flatMap((virtualService) =>
      (virtualService.spec.tls ?? []).flatMap(({ match, route = [] }) =>
        route.length === 0
          ? []
          : match.filter((one) => admits(one, server)).map(({ sniHosts }) => ({ virtualService, route, sniHosts })),
      ),
    );
}
