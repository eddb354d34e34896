import { list, type Message, map, message, one, string, uint32 } from './schema.ts';

export const NetworkEndpoints: Message = message('NetworkEndpoints', '', {
  fromCidr: one(string, '', { oneof: 'ne' }),
  fromRegistry: one(string, '', { oneof: 'ne' }),
});

export const IstioNetworkGateway: Message = message('IstioNetworkGateway', '', {
  registryServiceName: one(string, '', { oneof: 'gw' }),
  address: one(string, '', { oneof: 'gw' }),
  port: one(uint32, ''),
  locality: one(string, ''),
});

export const Network: Message = message('Network', '', {
  endpoints: list(NetworkEndpoints, ''),
  gateways: list(IstioNetworkGateway, ''),
});

export const MeshNetworks: Message = message('MeshNetworks', '', {
  networks: map(Network, ''),
});
