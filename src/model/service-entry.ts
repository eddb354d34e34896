import type { ServiceEntry, ServicePort as ServicePortSpec } from '#generated/config/specs.ts';
import { isIpAddress, parseCidr } from '../base/address.ts';
import type { Labels } from '../base/labels.ts';
import type { Config } from '../config/config.ts';
import type { Endpoint } from './endpoint.ts';
import { parseProtocol } from './protocol.ts';
import { type AutoAddress, type Resolution, type Service, UNSPECIFIED_ADDRESS } from './service.ts';
import { trafficDistribution } from './traffic-distribution.ts';
import { type Workload, type WorkloadContext, workloadOfEntry } from './workload.ts';

const RESOLUTIONS: Readonly<Record<NonNullable<ServiceEntry['resolution']>, Resolution>> = {
  NONE: 'Passthrough',
  STATIC: 'ClientSideLB',
  DNS: 'DNSLB',
  DNS_ROUND_ROBIN: 'DNSRoundRobinLB',
  DYNAMIC_DNS: 'DynamicDNS',
};

export function isDns(resolution: Resolution): boolean {
  return resolution === 'DNSLB' || resolution === 'DNSRoundRobinLB';
}

/**
 * One service for each pair of host and address.
 * @param autoAddress the address that a host without any was given
 * @see istio/istio pilot/pkg/serviceregistry/serviceentry/conversion.go `convertServices`
 */
export function servicesOfServiceEntry(
  config: Config<ServiceEntry>,
  namespaceAnnotations: Labels,
  autoAddress: (hostname: string) => AutoAddress | undefined,
): readonly Service[] {
  const { spec, namespace, name, labels, annotations } = config;
  const resolution = RESOLUTIONS[spec.resolution ?? 'NONE'];
  const specPorts = spec.ports ?? [];
  const targetPorts = specPorts.flatMap((p) => (p.targetPort ? [[p.number, p.targetPort] as const] : []));
  const distribution = trafficDistribution(undefined, annotations, namespaceAnnotations);
  const dnsConnectStrategy = annotations['istio.io/connect-strategy'];
  const shared = {
    namespace,
    objectName: name,
    registry: 'External',
    ports: specPorts.map((p) => ({
      name: p.name ?? '',
      port: p.number ?? 0,
      protocol: parseProtocol(p.protocol ?? ''),
    })),
    resolution,
    meshExternal: (spec.location ?? 'MESH_EXTERNAL') === 'MESH_EXTERNAL',
    labels,
    ...(spec.workloadSelector ? { selector: spec.workloadSelector.labels ?? {} } : {}),
    ...(spec.exportTo?.length ? { exportTo: spec.exportTo } : {}),
    serviceAccounts: spec.subjectAltNames ?? [],
    ...(resolution === 'Passthrough' && targetPorts.length > 0
      ? { passthroughTargetPorts: Object.fromEntries(targetPorts) }
      : {}),
    aliases: [],
    ...(distribution ? { trafficDistribution: distribution } : {}),
    ...(dnsConnectStrategy ? { dnsConnectStrategy } : {}),
    creationTime: config.creationTime,
    config: config.key,
  } as const;
  return (spec.hosts ?? []).flatMap((hostname) =>
    serviceAddresses(spec).map((address) => {
      const allocated = address === UNSPECIFIED_ADDRESS ? autoAddress(hostname) : undefined;
      return {
        id: `${namespace}/${name}/${hostname}/${address}`,
        hostname,
        name: hostname,
        address,
        vips: address === UNSPECIFIED_ADDRESS ? [] : [address],
        ...(allocated ? { autoAddress: allocated } : {}),
        ...shared,
      };
    }),
  );
}

function serviceAddresses({ addresses = [] }: ServiceEntry): readonly string[] {
  if (addresses.length === 0) return [UNSPECIFIED_ADDRESS];
  return addresses.flatMap((text) => {
    if (isIpAddress(text)) return [text];
    const cidr = parseCidr(text);
    if (cidr === undefined) return [];
    const whole = cidr.prefixLength === (cidr.address.includes(':') ? 128 : 32);
    return [whole ? cidr.address : text];
  });
}

/**
 * Endpoints of one host of a ServiceEntry: those written in it, the workloads that its selector chose, or, when it is resolved
 * by DNS and has neither, the host itself.
 */
export function endpointsOfServiceEntry(
  config: Config<ServiceEntry>,
  hostname: string,
  selected: readonly Workload[] | undefined,
  context: WorkloadContext,
): readonly Endpoint[] {
  const { spec, namespace, name } = config;
  const ports = spec.ports ?? [];
  const dns = isDns(RESOLUTIONS[spec.resolution ?? 'NONE']);
  if (selected !== undefined) {
    return selected.filter((w) => dns || !w.dnsOnly).flatMap((workload) => endpointsOfWorkload(workload, ports));
  }
  if (!spec.endpoints?.length) {
    if (!dns) return [];
    return ports.map((port) => ({
      addresses: [hostname],
      port: port.targetPort || (port.number ?? 0),
      servicePortName: port.name ?? '',
      servicePort: port.number ?? 0,
      labels: {},
      serviceAccount: '',
      network: '',
      locality: '',
      clusterId: context.clusterId,
      weight: 0,
      tlsMode: 'disabled',
      namespace,
      workloadName: name,
      health: 'Unknown',
    }));
  }
  return spec.endpoints.flatMap((entry, i) =>
    endpointsOfWorkload(workloadOfEntry(entry, { namespace, name: `${name}-${i}` }, context), ports),
  );
}

const UNIX_PREFIX = 'unix://';

/** A workload's endpoint on each port: its Unix socket, its own port of that name, else the service's target port or number. */
function endpointsOfWorkload(workload: Workload, ports: readonly ServicePortSpec[]): readonly Endpoint[] {
  const [first = ''] = workload.addresses;
  const unix = workload.addresses.length === 1 && first.startsWith(UNIX_PREFIX);
  return ports.map((port) => ({
    addresses: unix ? [first.slice(UNIX_PREFIX.length)] : workload.addresses,
    port: unix ? 0 : workload.ports[port.name ?? ''] || port.targetPort || (port.number ?? 0),
    servicePortName: port.name ?? '',
    servicePort: port.number ?? 0,
    ...endpointIdentity(workload),
    // Readiness of a selected pod counts for its Kubernetes Services alone.
    health: workload.kind === 'Pod' ? 'Healthy' : 'Unknown',
  }));
}

type EndpointIdentity = Omit<Endpoint, 'addresses' | 'port' | 'servicePortName' | 'servicePort' | 'health'>;

/** What an endpoint has from its workload, whatever the port. */
export function endpointIdentity(workload: Workload): EndpointIdentity {
  const { labels, serviceAccount, network, locality, clusterId, weight, tlsMode, namespace, workloadName } = workload;
  const { hostName, subDomain, nodeName } = workload;
  return {
    labels,
    serviceAccount,
    network,
    locality,
    clusterId,
    weight,
    tlsMode,
    namespace,
    workloadName,
    ...(hostName ? { hostName } : {}),
    ...(subDomain ? { subDomain } : {}),
    ...(nodeName ? { nodeName } : {}),
  };
}
