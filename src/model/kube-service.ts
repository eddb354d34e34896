import type { EndpointSlice, KubeService, Pod } from '#generated/config/specs.ts';
import { parsedObject } from '../base/json.ts';
import type { Labels } from '../base/labels.ts';
import { spiffeId } from '../base/spiffe.ts';
import type { Config } from '../config/config.ts';
import { NETWORK_LABEL, NODE_SELECTOR_ANNOTATION } from '../config/network-labels.ts';
import type { Endpoint, HealthStatus } from './endpoint.ts';
import { type Protocol, parseProtocol } from './protocol.ts';
import { type Resolution, type Service, type ServiceAtNodes, UNSPECIFIED_ADDRESS } from './service.ts';
import { endpointIdentity } from './service-entry.ts';
import { trafficDistribution } from './traffic-distribution.ts';
import type { Workload } from './workload.ts';

/** Ports that are read as TCP when nothing names their protocol: SMTP, DNS, MySQL, MongoDB. */
const TCP_PORTS: ReadonlySet<number> = new Set([25, 53, 3306, 27017]);

const APP_PROTOCOLS: Readonly<Record<string, Protocol>> = {
  'kubernetes.io/h2c': 'HTTP2',
  'kubernetes.io/ws': 'HTTP',
  'kubernetes.io/wss': 'HTTPS',
};

interface KubePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly appProtocol?: string;
}

/** @see istio/istio pkg/config/kube/conversion.go `ConvertProtocol` */
export function kubePortProtocol({ name = '', port, protocol, appProtocol }: KubePort): Protocol {
  if (protocol === 'UDP') return 'UDP';
  const known = appProtocol === undefined ? undefined : APP_PROTOCOLS[appProtocol];
  if (known !== undefined) return known;
  const text = appProtocol ?? name;
  if (/^grpc-web/i.test(text)) return 'GRPCWeb';
  const parsed = parseProtocol(text.split('-', 1)[0] ?? '');
  return parsed === 'Unsupported' && TCP_PORTS.has(port) ? 'TCP' : parsed;
}

export function kubeHostname(name: string, namespace: string, domainSuffix: string): string {
  return `${name}.${namespace}.svc.${domainSuffix}`;
}

export interface KubeServiceContext {
  readonly domainSuffix: string;
  readonly trustDomain: string;
  readonly namespaceAnnotations: Labels;
  readonly persistentSessionLabel: string;
  readonly persistentSessionHeaderLabel: string;
}

/** @see istio/istio pilot/pkg/serviceregistry/kube/conversion.go `ConvertService` */
export function serviceOfKube(config: Config<KubeService>, context: KubeServiceContext): Service {
  const { spec, namespace, name, annotations, labels } = config;
  const hostname = kubeHostname(name, namespace, context.domainSuffix);
  const headless = spec.clusterIP === 'None';
  const externalName = spec.type === 'ExternalName' && spec.externalName ? spec.externalName : undefined;
  const resolution: Resolution = headless ? 'Passthrough' : externalName ? 'Alias' : 'ClientSideLB';
  const single = headless || !spec.clusterIP ? [] : [spec.clusterIP];
  const vips = !headless && (spec.clusterIPs?.length ?? 0) > 1 ? (spec.clusterIPs ?? []) : single;
  const address = vips[0] ?? UNSPECIFIED_ADDRESS;
  const exportTo = splitList(annotations['networking.istio.io/exportTo']);
  const distribution = trafficDistribution(spec.trafficDistribution, annotations, context.namespaceAnnotations);
  const atNodes = serviceAtNodes(config);
  const external = externalAddresses(config);
  const session = persistentSession(labels, context);
  return {
    id: `${namespace}/${name}/${hostname}/${address}`,
    hostname,
    namespace,
    name,
    objectName: name,
    registry: 'Kubernetes',
    ports: (spec.ports ?? []).map((p) => ({
      name: p.name ?? '',
      port: p.port,
      protocol: kubePortProtocol(p),
    })),
    resolution,
    meshExternal: externalName !== undefined,
    address,
    vips,
    labels,
    ...(spec.selector ? { selector: spec.selector } : {}),
    ...(exportTo.length > 0 ? { exportTo } : {}),
    serviceAccounts: [
      ...splitList(annotations['alpha.istio.io/canonical-serviceaccounts']),
      ...splitList(annotations['alpha.istio.io/kubernetes-serviceaccounts']).map((account) =>
        spiffeId(context.trustDomain, namespace, account),
      ),
    ],
    ...(externalName ? { externalName } : {}),
    aliases: [],
    kubernetesType: headless ? 'Headless' : (spec.type ?? 'ClusterIP'),
    ...(distribution ? { trafficDistribution: distribution } : {}),
    ...(spec.internalTrafficPolicy === 'Local' ? { internalTrafficPolicyLocal: true } : {}),
    ...(spec.publishNotReadyAddresses ? { publishNotReadyAddresses: true } : {}),
    ...(session ? { persistentSession: session } : {}),
    ...(atNodes ? { atNodes } : {}),
    ...(external.length > 0 ? { externalAddresses: external } : {}),
    creationTime: config.creationTime,
    config: config.key,
  };
}

function splitList(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** The annotation holds labels as a JSON object; other than that it chooses all nodes. */
function serviceAtNodes({ spec, annotations }: Config<KubeService>): ServiceAtNodes | undefined {
  const written = annotations[NODE_SELECTOR_ANNOTATION];
  if (spec.type !== 'NodePort' || written === undefined) return undefined;
  const selector = Object.entries(parsedObject(written) ?? {});
  return {
    selector: Object.fromEntries(selector.map(([label, value]) => [label, typeof value === 'string' ? value : ''])),
    ports: Object.fromEntries((spec.ports ?? []).map(({ port, nodePort = 0 }) => [port, nodePort])),
  };
}

function externalAddresses({ spec, status }: Config<KubeService>): readonly string[] {
  const balancer = status?.['loadBalancer'] as { ingress?: readonly { ip?: string; hostname?: string }[] } | undefined;
  const assigned = spec.type === 'LoadBalancer' ? (balancer?.ingress ?? []) : [];
  return [...assigned.flatMap((i) => i.ip || i.hostname || []), ...(spec.externalIPs ?? [])];
}

/** A label asks for sessions bound to one endpoint by a cookie (`name` or `name:path`) or a header. */
function persistentSession(labels: Labels, context: KubeServiceContext): Service['persistentSession'] {
  const cookie = labels[context.persistentSessionLabel];
  const header = labels[context.persistentSessionHeaderLabel];
  if (cookie) {
    const at = cookie.indexOf(':');
    return at < 0 ? { cookie } : { cookie: cookie.slice(0, at), cookiePath: cookie.slice(at + 1) };
  }
  return header ? { header } : undefined;
}

/** The port on which `pod` serves a Service's port, or undefined when it names a container port that the pod lacks. */
export function targetPortOn(
  pod: Config<Pod> | undefined,
  port: NonNullable<KubeService['ports']>[number],
): number | undefined {
  const target = port.targetPort ?? port.port;
  if (typeof target === 'number') return target;
  if (/^\d+$/.test(target)) return Number(target);
  const { containers = [], initContainers = [] } = pod?.spec ?? {};
  const sidecars = initContainers.filter((c) => c.restartPolicy === 'Always');
  return [...containers, ...sidecars]
    .flatMap((c) => c.ports ?? [])
    .find((p) => p.name === target && (p.protocol ?? 'TCP') === (port.protocol ?? 'TCP'))?.containerPort;
}

type SliceEndpoint = NonNullable<EndpointSlice['endpoints']>[number];

function healthOf(service: Service, { conditions = {} }: SliceEndpoint): HealthStatus {
  if (conditions.ready ?? true) return 'Healthy';
  const terminating = conditions.terminating ?? true;
  if (service.persistentSession !== undefined && (conditions.serving ?? true) && terminating) return 'Draining';
  return terminating ? 'Terminating' : 'UnHealthy';
}

/** A slice's endpoint is backed by a pod that it names, or, when it names none, by one with its address in its namespace. */
export interface PodLookup {
  byName(namespace: string, name: string): Workload | undefined;
  byAddress(namespace: string, address: string): Workload | undefined;
  readonly clusterId: string;
  readonly networkOf: (address: string, labels: Labels) => string;
  /** Dual-stack pods give one endpoint with all addresses. */
  readonly dualStack: boolean;
}

/**
 * @see istio/istio pilot/pkg/serviceregistry/kube/controller/endpointslice.go `updateEndpointCacheForSlice`
 */
export function endpointsOfSlice(slice: Config<EndpointSlice>, service: Service, pods: PodLookup): readonly Endpoint[] {
  const { addressType, endpoints = [], ports = [] } = slice.spec;
  if (addressType === 'FQDN') return [];
  return endpoints.flatMap((entry) =>
    (entry.addresses ?? []).flatMap((address): readonly Endpoint[] => {
      const ref = entry.targetRef?.kind === 'Pod' ? entry.targetRef : undefined;
      const pod = ref
        ? pods.byName(ref.namespace ?? slice.namespace, ref.name ?? '')
        : pods.byAddress(slice.namespace, address);
      if (ref && pod === undefined) return [];
      const dual = pods.dualStack && ref && (pod?.addresses.length ?? 0) > 1 && service.vips.length > 1;
      if (dual && addressType === 'IPv6') return [];
      const network = pods.networkOf(address, {});
      return ports.map((port) => ({
        addresses: dual ? (pod?.addresses ?? []) : [address],
        port: port.port ?? 0,
        servicePortName: port.name ?? '',
        servicePort: service.ports.find((p) => p.name === (port.name ?? ''))?.port ?? 0,
        ...(pod ? endpointIdentity(pod) : anonymous(pods.clusterId, network)),
        health: healthOf(service, entry),
      }));
    }),
  );
}

function anonymous(
  clusterId: string,
  network: string,
): Omit<Endpoint, 'addresses' | 'port' | 'servicePortName' | 'servicePort' | 'health'> {
  return {
    labels: {
      ...(clusterId ? { 'topology.istio.io/cluster': clusterId } : {}),
      ...(network ? { [NETWORK_LABEL]: network } : {}),
    },
    serviceAccount: '',
    network,
    locality: '',
    clusterId,
    weight: 0,
    tlsMode: 'disabled',
    namespace: '',
    workloadName: '',
  };
}

/** Endpoints of WorkloadEntries that a Service's selector chose. */
export function endpointsOfSelectedEntries(
  config: Config<KubeService>,
  service: Service,
  selected: readonly Workload[],
): readonly Endpoint[] {
  if (service.resolution !== 'ClientSideLB' || service.meshExternal || service.selector === undefined) return [];
  return selected
    .filter((w) => !w.dnsOnly)
    .flatMap((workload) =>
      (config.spec.ports ?? []).flatMap((port) => {
        const target = targetPortOnEntry(workload, port);
        if (target === undefined) return [];
        return {
          addresses: workload.addresses,
          port: target,
          servicePortName: port.name ?? '',
          servicePort: port.port,
          ...endpointIdentity(workload),
          health: 'Unknown' as const,
        };
      }),
    );
}

/** A WorkloadEntry may name its own port for a Service's port; a named target port must be one of the entry's ports. */
export function targetPortOnEntry(
  { ports }: Workload,
  port: NonNullable<KubeService['ports']>[number],
): number | undefined {
  const target = port.targetPort ?? port.port;
  if (typeof target === 'number' || /^\d+$/.test(target)) return ports[port.name ?? ''] || Number(target);
  return ports[target] || undefined;
}
