import type { IstioIngressListener, ServerTLSSettings } from '#generated/config/specs.ts';
import type { Hostname } from '../../base/host.ts';
import type { MtlsMode, PeerPolicy } from '../../model/authentication.ts';
import { modeOfPort } from '../../model/authentication.ts';
import { isHttp, type Protocol, parseProtocol } from '../../model/protocol.ts';
import type { InterceptionMode } from '../../model/proxy.ts';
import type { IpFamilies } from '../../model/scope.ts';
import type { ServicePort, ServiceTarget } from '../../model/service.ts';
import { INBOUND_PASSTHROUGH_CLUSTER, inboundClusterName } from '../names.ts';
import { type Addresses, globalUnicastAddress, wildcards } from './addresses.ts';
import { canBind, type PortLimits } from './bindable.ts';
import { protocolInsideTls } from './listener-protocol.ts';

/** A port of the workload as its callers find it: what the filter chains for it depend on. */
export interface InboundPort {
  /** Where the workload listens; 0 for all ports that have no chain of their own. */
  readonly targetPort: number;
  /** As the service, or the Sidecar, names it. */
  readonly port: ServicePort;
  /** Names the chain; where `toPort` is set the proxy listens there. */
  readonly binds: Addresses;
  readonly toPort: boolean;
  /** Where connections go. */
  readonly cluster: string;
  /** Of the service that the port belongs to, for statistics and traces; empty where nobody knows. */
  readonly hostname: Hostname;
  readonly kubernetes?: { readonly name: string; readonly namespace: string };
  readonly mode: MtlsMode;
  /** TLS that the Sidecar asks for in the place of the mesh's. */
  readonly tls?: ServerTLSSettings;
  /** The Sidecar that gave the port, as resources name it. */
  readonly path?: string;
}

export interface InboundPortsInput {
  /** Of the workload's services, oldest service first: on one port the first counts. */
  readonly targets: readonly ServiceTarget[];
  /** The Sidecar that applies, if it names ingress listeners: those take the place of the services' ports. */
  readonly sidecar?: {
    readonly name: string;
    readonly namespace: string;
    readonly path: string;
    readonly ingress: readonly IstioIngressListener[];
  };
  /** Service ports that the Sidecar does not name are kept beside those that it does. */
  readonly mergesServicePorts: boolean;
  readonly sidecarTls: boolean;
  readonly policy: PeerPolicy;
  readonly interceptionMode: InterceptionMode;
  readonly families: IpFamilies;
  /** The proxy's own. */
  readonly ips: readonly string[];
  readonly limits: PortLimits;
  /** Of `limits.reserved`, those that traffic is redirected to: a Sidecar may name them. */
  readonly virtualPorts: readonly number[];
}

/** A target port of 0 is one that nobody knows: its connections are as all others that no chain is for. */
function servicePorts(input: InboundPortsInput, leaveOut: ReadonlySet<number>): readonly InboundPort[] {
  const { targets, policy, interceptionMode, families, limits } = input;
  const binds = wildcards(families);
  const toPort = interceptionMode === 'NONE';
  const ports = new Map<number, InboundPort>();
  for (const { service, port, targetPort } of targets) {
    const bindable = canBind(limits, { toPort, bind: binds[0], port: targetPort, http: isHttp(port.protocol) });
    if (!bindable || targetPort === 0 || leaveOut.has(targetPort) || ports.has(targetPort)) continue;
    const { hostname, registry, name, namespace } = service;
    ports.set(targetPort, {
      targetPort,
      port,
      binds,
      toPort,
      cluster: inboundClusterName(targetPort),
      hostname,
      ...(registry === 'Kubernetes' ? { kubernetes: { name, namespace } } : {}),
      mode: modeOfPort(policy, targetPort),
    });
  }
  return [...ports.values()];
}

/** Redirected traffic needs no listener of its own unless the Sidecar asks for one. */
function bindsToPort({ captureMode = 'DEFAULT' }: IstioIngressListener, mode: InterceptionMode): boolean {
  return captureMode === 'DEFAULT' ? mode === 'NONE' : captureMode === 'NONE';
}

function ingressPort(listener: IstioIngressListener, input: InboundPortsInput): InboundPort | undefined {
  const { sidecar, sidecarTls, policy, interceptionMode, families, ips, limits, virtualPorts } = input;
  const { port: named, bind = '', tls: ownTls } = listener;
  const number = named.number ?? 0;
  const declared = parseProtocol(named.protocol ?? '');
  const toPort = bindsToPort(listener, interceptionMode);
  const ownLimits = { ...limits, reserved: limits.reserved.filter((port) => !virtualPorts.includes(port)) };
  if (sidecar === undefined || !canBind(ownLimits, { toPort, bind, port: number, http: isHttp(declared) })) {
    return undefined;
  }
  const global = globalUnicastAddress(ips);
  const binds: Addresses = bind !== '' ? [bind] : global === undefined ? wildcards(families) : [global];
  const tls = sidecarTls ? ownTls : undefined;
  const protocol: Protocol = tls === undefined ? declared : protocolInsideTls(declared);
  return {
    targetPort: number,
    port: { name: named.name ?? '', port: number, protocol },
    binds,
    toPort,
    cluster: inboundClusterName(number),
    hostname: `${sidecar.name}.${sidecar.namespace}`,
    mode: modeOfPort(policy, number),
    ...(tls === undefined ? {} : { tls }),
    path: sidecar.path,
  };
}

/**
 * The ports of a workload that have filter chains of their own, in order of numbers.
 * @see istio/istio pilot/pkg/networking/core/listener_inbound.go `buildInboundChainConfigs`
 */
export function inboundPorts(input: InboundPortsInput): readonly InboundPort[] {
  const { sidecar, mergesServicePorts, interceptionMode } = input;
  const byNumber = (a: InboundPort, b: InboundPort) => a.targetPort - b.targetPort;
  if (sidecar === undefined) {
    // Without redirection the workload itself has its ports.
    return interceptionMode === 'NONE' ? [] : [...servicePorts(input, new Set())].sort(byNumber);
  }
  const named = new Set(sidecar.ingress.map(({ port }) => port.number ?? 0));
  const ports = mergesServicePorts ? [...servicePorts(input, named)] : [];
  for (const listener of sidecar.ingress) {
    const port = ingressPort(listener, input);
    if (port !== undefined && !ports.some(({ targetPort }) => targetPort === port.targetPort)) ports.push(port);
  }
  return ports.sort(byNumber);
}

/** Name of the port for all that has no chain of its own. */
const CATCH_ALL_PORT = 'virtualInbound';

/**
 * All ports that have no chain of their own, and those of them whose mode differs.
 * @see istio/istio pilot/pkg/networking/plugin/authn/authentication.go `ForPassthrough`
 */
export function catchAllPorts(input: InboundPortsInput): readonly InboundPort[] {
  const { targets, sidecar, policy, families } = input;
  const served = new Set(
    sidecar === undefined
      ? targets.map(({ targetPort }) => targetPort)
      : sidecar.ingress.map(({ port }) => port.number ?? 0),
  );
  const apart = policy.ports.filter(({ port }) => !served.has(port));
  return [{ port: 0, mode: policy.mode }, ...apart].map(({ port: targetPort, mode }) => ({
    targetPort,
    port: { name: CATCH_ALL_PORT, port: 0, protocol: 'Unsupported' },
    binds: wildcards(families),
    toPort: false,
    cluster: INBOUND_PASSTHROUGH_CLUSTER,
    hostname: '',
    mode,
  }));
}
