import type { Gateway } from '#generated/config/specs.ts';
import { deepEqual } from '../../base/equal.ts';
import { canonicalJson } from '../../base/intern.ts';
import { type Labels, selects } from '../../base/labels.ts';
import { WeakInterner } from '../../base/weak-intern.ts';
import type { ConfigKey } from '../../config/config.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import { type GatewayOfProxy, type MergedGateway, type MergeStyle, mergeGateways } from '../../model/merged-gateway.ts';
import type { ProxyScope } from '../../model/scope.ts';
import type { ServiceTarget } from '../../model/service.ts';
import { type Mesh, ONE } from '../mesh.ts';
import type { GatewayHead } from './gateway-heads.ts';

/** Port numbers with the numbers on which the proxy listens for them. */
type PortTargets = readonly (readonly [number, readonly number[]])[];

/** A Gateway of a proxy, and where the proxy's Services lead its ports. */
interface GatewayRef {
  readonly key: ConfigKey;
  readonly ports: PortTargets;
  /** Ports that no Service has are listened on as they are. */
  readonly otherPorts: boolean;
}

/** All that the merged gateway of a proxy depends on. Interned. */
interface MergeKey {
  readonly gateways: readonly GatewayRef[];
  readonly style: MergeStyle;
}

/** On a Service: its ports are not those that Gateways mean. */
const UNTRANSLATED_LABEL = 'experimental.istio.io/disable-gateway-port-translation';

/** The Gateways of each router as one, shared by routers with the same ones. Undefined for other proxies. */
export function deriveMergedGateways(
  graph: Graph,
  mesh: Pick<Mesh, 'config' | 'gateways' | 'targets'>,
): Derived<ProxyScope, MergedGateway | undefined> {
  const keys = new WeakInterner<MergeKey>();

  const merged = graph.derived<MergeKey, MergedGateway>(
    'mergedGateway',
    ({ gateways, style }) =>
      mergeGateways(
        gateways.flatMap(({ key, ports, otherPorts }): readonly GatewayOfProxy[] => {
          const gateway = mesh.config<Gateway>(key);
          const targets = new Map(ports);
          const listenPorts = (port: number) => targets.get(port) ?? (otherPorts ? [port] : []);
          return gateway === undefined ? [] : [{ gateway, listenPorts }];
        }),
        style,
      ),
    { equals: deepEqual },
  );
  return graph.derived<ProxyScope, MergedGateway | undefined>('mergedGatewayOf', (scope) => {
    if (scope.type !== 'router') return undefined;
    const targets = mesh.targets.get(scope);
    const gateways = mesh.gateways.get(ONE).flatMap((gateway) => refOf(gateway, scope.labels, targets) ?? []);
    const key: MergeKey = { gateways, style: mergeStyle(scope) };
    return merged.get(keys.intern(canonicalJson(key), () => key));
  });
}

/** Istio's Envoys are sent what istiod sends. */
export function mergeStyle({ capabilities }: ProxyScope): MergeStyle {
  return capabilities.istioExtensions ? 'istiod' : 'widest';
}

/**
 * Undefined when the Gateway is not for a proxy with these labels and services.
 * @see istio/istio pilot/pkg/model/push_context.go `mergeGateways`
 */
function refOf(
  { key, selector, services }: GatewayHead,
  labels: Labels,
  targets: readonly ServiceTarget[],
): GatewayRef | undefined {
  if (services !== undefined) {
    const { namespace, hosts } = services;
    const own = targets.filter(({ service }) => hosts.includes(service.hostname) && service.namespace === namespace);
    return own.length === 0 ? undefined : { key, ports: allTargets(own), otherPorts: false };
  }
  if (!selects(selector, labels)) return undefined;
  const translated = targets.filter(({ service }) => !(UNTRANSLATED_LABEL in service.labels));
  return { key, ports: firstTargets(translated), otherPorts: true };
}

/** What is selected by labels may be behind several Services: the first that has a port is meant. */
function firstTargets(targets: readonly ServiceTarget[]): PortTargets {
  return allTargets(targets).map(([port, [first = port]]) => [port, [first]]);
}

function allTargets(targets: readonly ServiceTarget[]): PortTargets {
  const byPort = new Map<number, number[]>();
  for (const { port, targetPort } of targets) {
    const known = byPort.get(port.port) ?? [];
    if (!known.includes(targetPort)) byPort.set(port.port, [...known, targetPort]);
  }
  return [...byPort];
}
