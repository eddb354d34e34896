import { NOT_IN_ISTIO } from './ignored.ts';
import { bounded, ignored, list, type Message, map, message, one, string, uint32 } from './schema.ts';

export const NetworkEndpoints: Message = message('NetworkEndpoints', 'Which endpoints are in a network.', {
  fromCidr: one(string, 'Pods with an address in this block.', { oneof: 'ne' }),
  fromRegistry: one(string, 'Pods of this cluster.', { oneof: 'ne' }),
});

export const IstioNetworkGateway: Message = message('IstioNetworkGateway', 'A gateway into a network.', {
  registryServiceName: one(
    string,
    'The host name of the Kubernetes Service that it is; the network is to have the endpoints of its cluster.',
    { oneof: 'gw' },
  ),
  address: one(string, 'Its address.', { oneof: 'gw' }),
  port: one(bounded(uint32, { min: 1, max: 65535 }), 'Its port.', { required: true }),
  locality: ignored(one(string, 'Its locality, as `region/zone/subzone`.'), NOT_IN_ISTIO),
});

export const Network: Message = message('Network', 'A network whose endpoints reach each other directly.', {
  endpoints: list(NetworkEndpoints, 'Endpoints in it.'),
  gateways: list(IstioNetworkGateway, 'Gateways into it.'),
});

export const MeshNetworks: Message = {
  ...message('MeshNetworks', 'The networks of the mesh.', {
    networks: map(Network, 'Networks by name.'),
  }),
  file: 'meshNetworks.yaml',
};
