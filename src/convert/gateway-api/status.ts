import type { BackendTlsTarget, KubeGateway, ParentReference } from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import type { Config, ConfigKey } from '../../config/config.ts';
import type { Problem } from '../problem.ts';
import type { ConvertedBackendTls } from './backend-tls.ts';
import { type Condition, fails, holds, unless } from './conditions.ts';
import type { ConvertedGateway } from './gateways.ts';
import type { ListenerStatus } from './listeners.ts';
import { type Attachment, deniedParent } from './parents.ts';

const CONTROLLER = 'istio.io/gateway-controller';
const MESH_CONTROLLER = 'istio.io/mesh-controller';

/** Who serves a Gateway, as far as the mesh knows. */
export interface GatewayInstances {
  /** `host:port` of services that have workloads. */
  readonly internal: readonly string[];
  /** Addresses under which it is reached from outside; empty where that is not known. */
  readonly external: readonly string[];
  /** Names of its services where there are no other addresses. */
  readonly hosts: readonly string[];
  /** Why a port is served by nobody. */
  readonly warnings: readonly string[];
  /** All services and ports are there, though they may have no workloads yet. */
  readonly allUsable: boolean;
}

interface StatusAddress {
  readonly type: 'IPAddress' | 'Hostname';
  readonly value: string;
}

export interface GatewayStatus {
  readonly addresses?: readonly StatusAddress[];
  readonly conditions: readonly Condition[];
  readonly listeners: readonly (ListenerStatus & { readonly attachedRoutes: number })[];
  readonly attachedListenerSets?: number;
}

function listed(words: readonly string[]): string {
  return words.join(', ');
}

/** @see istio/istio pilot/pkg/config/kube/gatewaycommon/conversion.go `SetProgrammedCondition` */
function programmed(services: readonly string[], instances: GatewayInstances): Condition {
  const { internal, warnings, allUsable } = instances;
  if (services.length === 0) return fails('Programmed', 'UnsupportedAddress', 'none of its addresses can be used');
  if (warnings.length === 0) return holds('Programmed', `it is served by ${listed(internal)}`);
  const served = internal.length === 0 ? 'nobody serves it' : `it is served by ${listed(internal)}, but not in full`;
  const reason = allUsable ? 'AddressNotAssigned' : 'AddressNotUsable';
  return fails('Programmed', reason, `${served}: ${warnings.join('; ')}`);
}

/** A Gateway with a bad listener is accepted as long as another one is right. */
function accepted({ refusal, listeners, validListeners }: ConvertedGateway, ofSet: boolean): Condition {
  if (refusal !== undefined) return fails('Accepted', refusal.reason, refusal.message);
  if (validListeners === 0) return fails('Accepted', 'ListenersNotValid', 'none of its listeners is right');
  if (ofSet || validListeners === listeners.length) return holds('Accepted', 'it is taken');
  return holds('Accepted', 'it is taken, but for some of its listeners', 'ListenersNotValid');
}

function withRoutes(
  listeners: readonly ListenerStatus[],
  routes: (listener: string) => number,
): GatewayStatus['listeners'] {
  return listeners.map((listener) => ({ ...listener, attachedRoutes: routes(listener.name) }));
}

function letsStrangersIn(tls: KubeGateway['tls']): boolean {
  const { default: all, perPort = [] } = tls?.frontend ?? {};
  return [all, ...perPort.map((one) => one.tls)].some((one) => one?.validation?.mode === 'AllowInsecureFallback');
}

const INSECURE = holds(
  'InsecureFrontendValidationMode',
  'clients without a certificate, or with one that is not trusted, are let in',
  'ConfigurationChanged',
);

/**
 * The status of a Gateway.
 *
 * @param routes how many are attached to a listener
 * @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `reportGatewayStatus`
 */
export function gatewayStatus(
  { tls }: KubeGateway,
  converted: ConvertedGateway,
  instances: GatewayInstances,
  routes: (listener: string) => number,
  sets: number,
): GatewayStatus {
  const { services, listeners, unresolved } = converted;
  const values = instances.external.length > 0 ? instances.external : instances.hosts;
  const addresses = values.map(
    (value): StatusAddress => ({ type: isIpAddress(value) ? 'IPAddress' : 'Hostname', value }),
  );
  return {
    ...(addresses.length > 0 && { addresses }),
    conditions: [
      accepted(converted, false),
      programmed(services, instances),
      unless('ResolvedRefs', unresolved, 'all that it refers to is there'),
      ...(letsStrangersIn(tls) ? [INSECURE] : []),
    ],
    listeners: withRoutes(listeners, routes),
    ...(sets > 0 && { attachedListenerSets: sets }),
  };
}

/** A Gateway of another place. */
export function remoteGatewayStatus(addresses: readonly StatusAddress[]): GatewayStatus {
  return {
    ...(addresses.length > 0 && { addresses }),
    conditions: [holds('Accepted', 'it is taken'), holds('Programmed', 'it is remote, and not served here')],
    listeners: [],
  };
}

/** @see istio/istio pilot/pkg/config/kube/gatewaycommon/conversion.go `ReportListenerSetStatus` */
export function listenerSetStatus(
  converted: ConvertedGateway,
  instances: GatewayInstances,
  routes: (listener: string) => number,
): GatewayStatus {
  const { refusal, listeners, services, validListeners } = converted;
  const whole = accepted(converted, true);
  const isRefused = refusal !== undefined && listeners.length === 0;
  const isNothing = isRefused || validListeners === 0;
  return {
    conditions: [whole, isNothing ? { ...whole, type: 'Programmed' } : programmed(services, instances)],
    listeners: withRoutes(listeners, routes),
  };
}

export interface RouteStatus {
  readonly parents: readonly {
    readonly parentRef: ParentReference;
    readonly controllerName: string;
    readonly conditions: readonly Condition[];
  }[];
}

/** @see istio/istio pilot/pkg/config/kube/gateway/conditions.go `createRouteStatus` */
export function routeStatus(attachments: readonly Attachment[], problems: readonly Problem[]): RouteStatus {
  const byParent = Map.groupBy(attachments, ({ index }) => index);
  return {
    parents: [...byParent].map(([index, own]) => {
      const bound = own.filter(({ denied }) => denied === undefined).length;
      const message = bound > 1 ? `it is attached to ${bound} listeners` : 'it is attached';
      return {
        parentRef: own[0]?.ref ?? { name: '' },
        controllerName: CONTROLLER,
        conditions: [
          unless('Accepted', deniedParent(index, attachments), message),
          unless('ResolvedRefs', problems.at(-1), 'all that it refers to is there'),
        ],
      };
    }),
  };
}

export interface PolicyStatus {
  readonly ancestors: readonly {
    readonly ancestorRef: ParentReference;
    readonly controllerName: string;
    readonly conditions: readonly Condition[];
  }[];
}

/** How many a status has at most. */
const MAX_ANCESTORS = 16;

/**
 * The status of a BackendTLSPolicy: of each target, for clients inside the mesh, then of each Gateway from which it is reached.
 *
 * @param gatewaysOf Gateways whose routes name a target
 * @see istio/istio pilot/pkg/config/kube/gateway/backend_policies.go `BackendTLSPolicyCollection`
 */
export function backendTlsStatus(
  { targets, unresolved, isIgnored }: ConvertedBackendTls,
  gatewaysOf: (target: BackendTlsTarget) => readonly Config[],
): PolicyStatus {
  const conditionsOf = (problem: Problem | undefined): readonly Condition[] => {
    if (isIgnored) return [fails('Accepted', 'IgnoredByIstio', 'its annotation says to ignore it')];
    const untrusted = unresolved && { ...unresolved, reason: 'NoValidCACertificate' };
    return [
      unless('Accepted', problem ?? (unresolved?.reason === 'Invalid' ? unresolved : untrusted), 'it is in force'),
      unless('ResolvedRefs', unresolved, 'all that it refers to is there'),
    ];
  };
  const inMesh = targets.map(({ target, problem }) => ({
    ancestorRef: target,
    controllerName: MESH_CONTROLLER,
    conditions: conditionsOf(problem),
  }));
  const behind = new Map<ConfigKey, { readonly gateway: Config; readonly problem: Problem | undefined }>();
  for (const { target, problem } of isIgnored ? [] : targets) {
    for (const gateway of gatewaysOf(target)) {
      behind.set(gateway.key, { gateway, problem: behind.get(gateway.key)?.problem ?? problem });
    }
  }
  const atGateways = [...behind.values()].map(({ gateway: { group, kind, namespace, name }, problem }) => ({
    ancestorRef: { group, kind, namespace, name },
    controllerName: CONTROLLER,
    conditions: conditionsOf(problem),
  }));
  return { ancestors: [...inMesh, ...atGateways].slice(0, MAX_ANCESTORS) };
}

export const CLASS_STATUS: { readonly conditions: readonly Condition[] } = {
  conditions: [holds('Accepted', 'this control plane serves Gateways of the class')],
};
