import type { envoy } from '#generated/proto/types.ts';
import { packed } from '../../proto/message.ts';
import { socketAddress } from '../address.ts';
import type { RbacInput } from '../filters/rbac.ts';
import { additionalAddresses } from '../listeners/addresses.ts';
import { ROUTER } from './client-listener.ts';
import { grpcRbacFilters } from './rbac.ts';
import { grpcServerTls } from './tls.ts';

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

export interface ServerListenerInput {
  readonly name: string;
  /** On which the server listens. */
  readonly host: string;
  readonly port: number;
  /** Further addresses of the service behind the port. */
  readonly others: readonly string[];
  /** Connections are secured. gRPC takes both kinds on no port. */
  readonly mutualTls: boolean;
  readonly authorization: RbacInput;
}

/**
 * What a gRPC server that is configured by xDS asks for, for each address that it listens on.
 * @see https://github.com/grpc/proposal/blob/master/A36-xds-for-servers.md
 * @see istio/istio pilot/pkg/networking/grpcgen/lds.go `buildInboundListeners`
 */
export function grpcServerListener(input: ServerListenerInput): Listener {
  const { name, host, port } = input;
  const beside = additionalAddresses(input.others, port);
  return {
    name,
    address: socketAddress(host, port),
    ...(beside && { additionalAddresses: beside }),
    filterChains: [filterChain(input)],
  };
}

function filterChain({ mutualTls, authorization }: ServerListenerInput): FilterChain {
  const kind = mutualTls ? 'mtls' : 'plaintext';
  return {
    name: `inbound-${kind}`,
    filters: [
      {
        name: `inbound-hcm${kind}`,
        typedConfig: packed('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', {
          // Of its routes gRPC takes only those that lead nowhere (grpc/grpc-go#4924).
          routeConfig: {
            name: 'inbound',
            virtualHosts: [{ domains: ['*'], routes: [{ match: { prefix: '/' }, nonForwardingAction: {} }] }],
          },
          httpFilters: [...grpcRbacFilters(authorization), ROUTER],
        }),
      },
    ],
    ...(mutualTls && { transportSocket: grpcServerTls() }),
  };
}
