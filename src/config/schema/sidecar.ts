import { ConnectionPoolSettings } from './connection-pool.ts';
import { Destination } from './destination.ts';
import { ServerTLSSettings } from './gateway.ts';
import { type Enum, enumeration, list, type Message, message, one, string, uint32 } from './schema.ts';
import { WorkloadSelector } from './selector.ts';

export const SidecarPort: Message = message('SidecarPort', '', {
  number: one(uint32, ''),
  protocol: one(string, ''),
  name: one(string, ''),
  targetPort: one(uint32, '', { deprecated: '' }),
});

export const CaptureMode: Enum = enumeration('CaptureMode', '', ['DEFAULT', 'IPTABLES', 'NONE']);

export const IstioIngressListener: Message = message('IstioIngressListener', '', {
  port: one(SidecarPort, '', { required: true }),
  bind: one(string, ''),
  captureMode: one(CaptureMode, ''),
  defaultEndpoint: one(string, ''),
  tls: one(ServerTLSSettings, ''),
  connectionPool: one(ConnectionPoolSettings, ''),
});

export const IstioEgressListener: Message = message('IstioEgressListener', '', {
  port: one(SidecarPort, ''),
  bind: one(string, ''),
  captureMode: one(CaptureMode, ''),
  hosts: list(string, '', { required: true }),
});

export const OutboundTrafficPolicyMode: Enum = enumeration('OutboundTrafficPolicyMode', '', [
  'REGISTRY_ONLY',
  'ALLOW_ANY',
]);

export const OutboundTrafficPolicy: Message = message('OutboundTrafficPolicy', '', {
  mode: one(OutboundTrafficPolicyMode, ''),
  egressProxy: one(Destination, ''),
});

export const Sidecar: Message = message('Sidecar', '', {
  workloadSelector: one(WorkloadSelector, ''),
  ingress: list(IstioIngressListener, ''),
  egress: list(IstioEgressListener, ''),
  inboundConnectionPool: one(ConnectionPoolSettings, ''),
  outboundTrafficPolicy: one(OutboundTrafficPolicy, ''),
});
