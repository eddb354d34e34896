import type { envoy } from '#generated/proto/types.ts';
import { packed } from '../../proto/message.ts';
import { socketAddress } from '../address.ts';
import { additionalAddresses } from '../listeners/addresses.ts';
import { type PersistentSession, sessionFilter } from '../routes/stateful-session.ts';

type Listener = envoy.config.listener.v3.Listener;
type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;

const CONNECTION_MANAGER = 'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager';

/** Routes may have faults injected. */
const FAULT: HttpFilter = {
  name: 'envoy.filters.http.fault',
  typedConfig: packed('envoy.extensions.filters.http.fault.v3.HTTPFault', {}),
};

/** Must be the last filter. */
export const ROUTER: HttpFilter = {
  name: 'envoy.filters.http.router',
  typedConfig: packed('envoy.extensions.filters.http.router.v3.Router', {}),
};

export interface ClientListenerInput {
  /** As the client asked for it. */
  readonly name: string;
  readonly port: number;
  /** Addresses of the service; the first is its main one. */
  readonly addresses: readonly [string, ...string[]];
  /** The route configuration of the service's port. */
  readonly route: string;
  readonly session: PersistentSession | undefined;
}

/**
 * What a client that resolves `xds:///host:port` asks for first: it has no address to listen on, and says where routes are.
 * @see https://github.com/grpc/proposal/blob/master/A27-xds-global-load-balancing.md
 * @see istio/istio pilot/pkg/networking/grpcgen/lds.go `buildOutboundListeners`
 */
export function grpcClientListener({ name, port, addresses, route, session }: ClientListenerInput): Listener {
  const [address, ...others] = addresses;
  const sticky = sessionFilter(session);
  const beside = additionalAddresses(others, port);
  return {
    name,
    address: socketAddress(address, port),
    ...(beside && { additionalAddresses: beside }),
    apiListener: {
      apiListener: packed(CONNECTION_MANAGER, {
        httpFilters: [...(sticky === undefined ? [] : [sticky]), FAULT, ROUTER],
        rds: { configSource: { ads: {} }, routeConfigName: route },
      }),
    },
  };
}
