import { ConnectionPoolSettings } from './connection-pool.ts';
import { Destination } from './destination.ts';
import { ServerTLSSettings } from './gateway.ts';
import { NOT_IN_ISTIO } from './ignored.ts';
import {
  bounded,
  type Enum,
  enumeration,
  ignored,
  list,
  type Message,
  message,
  one,
  string,
  uint32,
} from './schema.ts';
import { WorkloadSelector } from './selector.ts';

export const SidecarPort: Message = message('SidecarPort', 'A port of a listener.', {
  number: one(bounded(uint32, { min: 0, max: 65535 }), 'Its number; 0 for a Unix socket.'),
  protocol: one(string, 'Protocol spoken on it, as `HTTP`.'),
  name: one(string, 'Its name.'),
  targetPort: ignored(one(uint32, 'Not allowed: it would have no effect.'), NOT_IN_ISTIO),
});

export const CaptureMode: Enum = enumeration('CaptureMode', 'How traffic reaches a listener.', [
  'DEFAULT',
  'IPTABLES',
  'NONE',
]);

export const IstioIngressListener: Message = message(
  'IstioIngressListener',
  'A listener for traffic to the workload.',
  {
    port: one(SidecarPort, 'The port.', { required: true }),
    bind: one(string, 'Address to listen on.'),
    captureMode: one(CaptureMode, 'How traffic reaches it.'),
    defaultEndpoint: one(
      string,
      "Where the traffic goes on: `127.0.0.1:port`, `0.0.0.0:port` (the workload's address) or `unix://path`.",
    ),
    tls: one(ServerTLSSettings, "TLS from clients, instead of the mesh's own."),
    connectionPool: one(ConnectionPoolSettings, 'Limits and timeouts of connections.'),
  },
);

export const IstioEgressListener: Message = message(
  'IstioEgressListener',
  'A listener for traffic from the workload.',
  {
    port: one(SidecarPort, 'The port. None: all ports of the hosts.'),
    bind: one(string, 'Address to listen on, or `unix://path`.'),
    captureMode: one(CaptureMode, 'How traffic reaches it.'),
    hosts: list(
      string,
      'Services that it offers, as `namespace/host`; `.` is the own namespace, `*` any; `~` before it leaves them out.',
      { required: true },
    ),
  },
);

export const OutboundTrafficPolicyMode: Enum = enumeration(
  'OutboundTrafficPolicyMode',
  'What happens to traffic for unknown hosts.',
  ['REGISTRY_ONLY', 'ALLOW_ANY'],
);

export const OutboundTrafficPolicy: Message = message(
  'OutboundTrafficPolicy',
  'What happens to traffic for hosts that the sidecar does not know.',
  {
    mode: one(OutboundTrafficPolicyMode, 'Drop it, or let it pass.'),
    egressProxy: one(Destination, 'A service through which it passes.', {
      deprecated: 'it still counts, but Istio means to drop it; route by a VirtualService.',
    }),
  },
);

export const Sidecar: Message = message('Sidecar', 'What the proxy of a workload offers and knows.', {
  workloadSelector: one(WorkloadSelector, 'Workloads that it is for. None: all of the namespace that no other is for.'),
  ingress: list(IstioIngressListener, 'Listeners for traffic to the workload. None: from its services.'),
  egress: list(IstioEgressListener, 'Listeners for traffic from the workload. None: all that is visible.'),
  inboundConnectionPool: one(ConnectionPoolSettings, 'Limits and timeouts of inbound connections.'),
  outboundTrafficPolicy: one(OutboundTrafficPolicy, 'What happens to traffic for unknown hosts.'),
});
