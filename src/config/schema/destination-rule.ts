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

export const PortTrafficPolicy: Message = message('PortTrafficPolicy', '', {
  port: one(PortSelector, ''),
  loadBalancer: one(LoadBalancerSettings, ''),
  connectionPool: one(ConnectionPoolSettings, ''),
  outlierDetection: one(OutlierDetection, ''),
  tls: one(ClientTLSSettings, ''),
});

export const TunnelSettings: Message = message('TunnelSettings', '', {
  protocol: one(string, ''),
  targetHost: one(string, '', { required: true }),
  targetPort: one(uint32, '', { required: true }),
});

export const ProxyProtocolVERSION: Enum = enumeration('ProxyProtocolVERSION', '', ['V1', 'V2']);

export const ProxyProtocol: Message = message('ProxyProtocol', '', {
  version: one(ProxyProtocolVERSION, ''),
});

export const RetryBudget: Message = message('RetryBudget', '', {
  percent: one(bounded(double, { max: 100, min: 0 }), ''),
  minRetryConcurrency: one(uint32, ''),
  budgetInterval: one(duration, ''),
});

export const TrafficPolicy: Message = message('TrafficPolicy', '', {
  loadBalancer: one(LoadBalancerSettings, ''),
  connectionPool: one(ConnectionPoolSettings, ''),
  outlierDetection: one(OutlierDetection, ''),
  tls: one(ClientTLSSettings, ''),
  portLevelSettings: list(PortTrafficPolicy, '', { maxItems: 4096 }),
  tunnel: one(TunnelSettings, ''),
  proxyProtocol: one(ProxyProtocol, ''),
  retryBudget: one(RetryBudget, ''),
});

export const Subset: Message = message('Subset', '', {
  name: one(string, '', { required: true }),
  labels: map(string, ''),
  trafficPolicy: one(TrafficPolicy, ''),
});

export const DestinationRule: Message = message('DestinationRule', '', {
  host: one(string, '', { required: true }),
  trafficPolicy: one(TrafficPolicy, ''),
  subsets: list(Subset, ''),
  exportTo: list(string, ''),
  workloadSelector: one(PolicyWorkloadSelector, ''),
});
