import { ClientTLSSettings } from './client-tls.ts';
import { ConnectionPoolSettings, OutlierDetection } from './connection-pool.ts';
import { PortSelector } from './destination.ts';
import { LoadBalancerSettings } from './load-balancer.ts';
import {
  bounded,
  double,
  duration,
  type Enum,
  enumeration,
  list,
  type Message,
  map,
  message,
  one,
  string,
  uint32,
} from './schema.ts';
import { PolicyWorkloadSelector } from './selector.ts';

export const PortTrafficPolicy: Message = message(
  'PortTrafficPolicy',
  'Traffic policy of one port; what it does not say is as by default, not as for the other ports.',
  {
    port: one(PortSelector, 'The port.'),
    loadBalancer: one(LoadBalancerSettings, 'How endpoints are chosen.'),
    connectionPool: one(ConnectionPoolSettings, 'Limits and timeouts of connections.'),
    outlierDetection: one(OutlierDetection, 'When an endpoint is left out for failing.'),
    tls: one(ClientTLSSettings, 'TLS towards the endpoints.'),
  },
);

export const TunnelSettings: Message = message('TunnelSettings', 'Traffic goes through a tunnel.', {
  protocol: one(string, '`CONNECT` or `POST`. Default `CONNECT`.'),
  targetHost: one(string, 'Host at the end of the tunnel.', { required: true }),
  targetPort: one(bounded(uint32, { min: 1, max: 65535 }), 'Port at the end of the tunnel.', { required: true }),
});

export const ProxyProtocolVERSION: Enum = enumeration('ProxyProtocolVERSION', 'Version of the PROXY protocol.', [
  'V1',
  'V2',
]);

export const ProxyProtocol: Message = message('ProxyProtocol', 'Connections begin with the PROXY protocol.', {
  version: one(ProxyProtocolVERSION, 'Its version.'),
});

export const RetryBudget: Message = message('RetryBudget', 'How many of the requests in flight may be retries.', {
  percent: one(bounded(double, { max: 100, min: 0 }), 'Percentage of the active requests. Default 20.'),
  minRetryConcurrency: one(uint32, 'Retries that are always allowed. Default 3.'),
  budgetInterval: one(duration, 'Time over which requests count as active.'),
});

export const TrafficPolicy: Message = message('TrafficPolicy', 'How traffic goes to the endpoints of a service.', {
  loadBalancer: one(LoadBalancerSettings, 'How endpoints are chosen.'),
  connectionPool: one(ConnectionPoolSettings, 'Limits and timeouts of connections.'),
  outlierDetection: one(OutlierDetection, 'When an endpoint is left out for failing.'),
  tls: one(ClientTLSSettings, 'TLS towards the endpoints.'),
  portLevelSettings: list(PortTrafficPolicy, 'Policies of single ports, instead of the above.', { maxItems: 4096 }),
  tunnel: one(TunnelSettings, 'Send the traffic through a tunnel.'),
  proxyProtocol: one(ProxyProtocol, 'Begin connections with the PROXY protocol.'),
  retryBudget: one(RetryBudget, 'How many of the requests in flight may be retries.'),
});

export const Subset: Message = message('Subset', 'Some of the endpoints, under a name.', {
  name: one(string, 'The name, by which routes refer to it.', { required: true }),
  labels: map(string, 'Labels of the endpoints.'),
  trafficPolicy: one(TrafficPolicy, 'Traffic policy, laid over that of the service.'),
});

export const DestinationRule: Message = message(
  'DestinationRule',
  'What happens to traffic after it was routed to a service.',
  {
    host: one(string, "The service: a name in the registry; a short one is completed with the rule's namespace.", {
      required: true,
    }),
    trafficPolicy: one(TrafficPolicy, 'How traffic goes to its endpoints.'),
    subsets: list(Subset, 'Parts of its endpoints, as versions.'),
    exportTo: list(string, 'Namespaces that see the rule: `.` its own, `*` all. None: as mesh.yaml says.'),
    workloadSelector: one(
      PolicyWorkloadSelector,
      "Client workloads of the rule's namespace that it is for. None: all.",
    ),
  },
);
