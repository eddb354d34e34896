import type { IstioEgressListener } from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import type { Protocol } from '../../model/protocol.ts';
import { isHttp, isTcp, parseProtocol } from '../../model/protocol.ts';
import { type Service, type ServicePort, UNSPECIFIED_ADDRESS } from '../../model/service.ts';
import { type Addresses, loopbacks, UNIX_PREFIX, WILDCARD_IPV6, wildcards } from './addresses.ts';
import { canBind } from './bindable.ts';
import type { L4Routes } from './l4-routes.ts';
import { listenerProtocol } from './listener-protocol.ts';
import { OutboundListeners, type PlannedListener } from './outbound-listeners.ts';
import type { PlanView } from './plan-view.ts';
import { extraServiceAddresses, serviceAddress } from './service-address.ts';

/** An egress listener with the services that it imports and the VirtualServices among its own that speak of connections. */
export interface PlannedEgress {
  readonly listener?: IstioEgressListener;
  readonly services: readonly Service[];
  readonly virtualServices: readonly L4Routes[];
}

export interface OutboundPlanInput {
  readonly view: PlanView;
  readonly egress: readonly PlannedEgress[];
  /** Addresses of the endpoints of a port of a service, those of one endpoint together. */
  readonly endpointAddresses: (service: Service, port: ServicePort) => readonly (readonly string[])[];
}

export interface OutboundPlan {
  /** By name. */
  readonly listeners: ReadonlyMap<string, PlannedListener>;
  /** Primary addresses of endpoints that have listeners of their own: a proxy with such an address has a plan of its own. */
  readonly endpointAddresses: ReadonlySet<string>;
}

/** Where the listeners of an egress listener are; without `binds`, wherever the services are. */
interface Binding {
  readonly binds?: Addresses;
  readonly toPort: boolean;
}

function bindingOf(listener: IstioEgressListener | undefined, view: PlanView): Binding {
  const bind = listener?.bind ?? '';
  const toPort = view.bindsAll || listener?.captureMode === 'NONE' || bind.startsWith(UNIX_PREFIX);
  if (bind !== '') return { binds: [bind], toPort };
  return toPort ? { binds: loopbacks(view.families), toPort } : { toPort };
}

/** The listener's port takes the place of the services' when it names one. */
function portOf({ port }: IstioEgressListener): ServicePort | undefined {
  if (port === undefined) return undefined;
  return { name: port.name ?? '', port: port.number ?? 0, protocol: parseProtocol(port.protocol ?? '') };
}

/** An address block cannot be bound: the wildcard is, and the block is matched. */
interface Place {
  readonly binds: Addresses;
  readonly destinations: readonly string[];
}

function wildcardPlace(view: PlanView): Place {
  return { binds: wildcards(view.families), destinations: [] };
}

/** Where a service without a bind of the user's is listened for: HTTP at the wildcard, all other at its own address. */
function placeOf(service: Service, protocol: Protocol, view: PlanView): Place {
  if (listenerProtocol(protocol) === 'HTTP') return wildcardPlace(view);
  const external = service.registry === 'External';
  const known = serviceAddress(service, view.addresses);
  const unknown = external && known === UNSPECIFIED_ADDRESS;
  const address = unknown && view.families === 'IPv6' ? WILDCARD_IPV6 : known;
  const dual = view.families === 'dual-IPv4' || view.families === 'dual-IPv6';
  const extra = [...extraServiceAddresses(service, view.addresses), ...(unknown && dual ? [WILDCARD_IPV6] : [])];
  if (address.includes('/')) return { binds: wildcards(view.families), destinations: [address, ...extra] };
  return { binds: [address, ...extra], destinations: [] };
}

/** A service without an address, to whose endpoints connections are made directly. */
function isHeadless(service: Service, port: ServicePort, view: PlanView): boolean {
  return (
    service.resolution === 'Passthrough' &&
    serviceAddress(service, view.addresses) === UNSPECIFIED_ADDRESS &&
    (isTcp(port.protocol) || port.protocol === 'Unsupported')
  );
}

/** Whether a headless service is listened for at the wildcard: nothing says where its endpoints are. */
function hasNoEndpointsOfItsOwn(service: Service, endpoints: readonly unknown[]): boolean {
  return service.registry !== 'Kubernetes' && endpoints.length === 0 && service.selector === undefined;
}

/**
 * All outbound listeners of a sidecar but `virtualOutbound`: one per port for HTTP services, one per address and port for
 * others, merged where they meet.
 *
 * @see istio/istio pilot/pkg/networking/core/listener.go `buildSidecarOutboundListeners`
 */
export function outboundPlan({ view, egress, endpointAddresses }: OutboundPlanInput): OutboundPlan {
  const listeners = new OutboundListeners(view);
  const listenedEndpoints = new Set<string>();

  function addAtPlace(
    service: Service,
    port: ServicePort,
    toPort: boolean,
    virtualServices: readonly L4Routes[],
  ): void {
    if (!isHeadless(service, port, view)) {
      listeners.add({ service, port, toPort, virtualServices, ...placeOf(service, port.protocol, view) });
      return;
    }
    const endpoints = endpointAddresses(service, port);
    if (hasNoEndpointsOfItsOwn(service, endpoints)) {
      listeners.add({ service, port, toPort, virtualServices, ...placeOf(service, port.protocol, view) });
      return;
    }
    for (const [primary, ...others] of endpoints) {
      if (primary === undefined || ![primary, ...others].every(isIpAddress)) continue;
      listenedEndpoints.add(primary);
      if (primary === view.ownAddress) continue;
      listeners.add({ service, port, toPort, virtualServices, binds: [primary, ...others], destinations: [] });
    }
  }

  for (const { listener, services, virtualServices } of egress) {
    const { binds, toPort } = bindingOf(listener, view);
    const only = listener && portOf(listener);
    if (only === undefined) listeners.lock();
    else if (!canBind(view.limits, { toPort, bind: binds?.[0], port: only.port, http: isHttp(only.protocol) }))
      continue;
    for (const service of services) {
      for (const port of only === undefined ? service.ports : [only]) {
        if (service.resolution === 'Alias' || listenerProtocol(port.protocol) === undefined) continue;
        const http = isHttp(port.protocol);
        if (!canBind(view.limits, { toPort, bind: binds?.[0], port: port.port, http })) continue;
        if (binds !== undefined) {
          listeners.add({ service, port, toPort, virtualServices, binds, destinations: [] });
        } else if (only === undefined) {
          addAtPlace(service, port, toPort, virtualServices);
        } else {
          listeners.add({ service, port, toPort, virtualServices, ...placeOf(service, port.protocol, view) });
        }
      }
    }
  }
  return { listeners: listeners.finished(), endpointAddresses: listenedEndpoints };
}
