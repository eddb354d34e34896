import type {
  AddressType,
  EndpointPort,
  EndpointSlice as EndpointSliceSpec,
  Endpoints as EndpointsSpec,
  KubeService as KubeServiceSpec,
  Pod as PodSpec,
} from '#generated/config/specs.ts';
import { isIpAddress, isIpv6 } from '../../base/address.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import {
  ConfigMap,
  EndpointSlice,
  Endpoints,
  KubeService,
  KubeServiceStatus,
  Namespace,
  Node,
  NodeStatus,
  Pod,
  PodStatus,
  ServiceAccount,
} from '../schema/kubernetes.ts';
import { ipProblem, portProblem } from './addresses.ts';
import { problem } from './names.ts';
import { networkGatewayFindings, nodeSelectorFindings } from './network-gateway.ts';
import { SECRET } from './secret.ts';

const CORE = { group: '', versions: ['v1'], scope: 'Namespaced' } as const;

function withProtocol<P extends EndpointPort>(port: P): P {
  return Object.freeze({ protocol: 'TCP' as const, ...port });
}

function addressTypeOf(address: string): AddressType {
  if (!isIpAddress(address)) return 'FQDN';
  return isIpv6(address) ? 'IPv6' : 'IPv4';
}

/** Defaults as the API server's: https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/ */
export const SERVICE: KindDefinition<KubeServiceSpec> = defineKind({
  ...CORE,
  kind: 'Service',
  plural: 'services',
  specField: 'spec',
  schema: KubeService,
  status: KubeServiceStatus,
  *validate({ spec: { type, ports = [], externalName = '' }, labels, annotations, at, atMetadata }) {
    if (type === 'ExternalName' && externalName === '')
      yield at('externalName').error('ExternalName needs the host name');
    for (const [i, { name = '', targetPort }] of ports.entries()) {
      if (name === '' && ports.length > 1) yield at('ports', i).error('one of several ports needs a name');
      if (ports.slice(0, i).some((port) => (port.name ?? '') === name)) {
        yield at('ports', i, 'name').error(`a port "${name}" stands before: give each its own name`);
      }
      if (typeof targetPort === 'number') yield* problem(at('ports', i, 'targetPort'), portProblem(targetPort));
    }
    yield* networkGatewayFindings(labels, ports, atMetadata);
    if (type === 'NodePort') yield* nodeSelectorFindings(annotations, atMetadata);
  },
  default: ({ ports, ...spec }) => {
    const type = spec.type ?? 'ClusterIP';
    return Object.freeze({
      type,
      sessionAffinity: 'None',
      ...(type === 'ExternalName' ? {} : { internalTrafficPolicy: 'Cluster' }),
      ...spec,
      ...(ports && {
        ports: Object.freeze(
          ports.map((port) => Object.freeze({ protocol: 'TCP' as const, targetPort: port.port, ...port })),
        ),
      }),
    });
  },
});

export const ENDPOINT_SLICE: KindDefinition<EndpointSliceSpec> = defineKind({
  group: 'discovery.k8s.io',
  versions: ['v1', 'v1beta1'],
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  scope: 'Namespaced',
  specField: 'root',
  schema: EndpointSlice,
  *validate({ spec: { addressType, endpoints = [] }, at }) {
    for (const [i, { addresses }] of endpoints.entries()) {
      for (const [j, address] of addresses.entries()) {
        if (addressTypeOf(address) === addressType) continue;
        yield at('endpoints', i, 'addresses', j).error(`"${address}" is not an address of type ${addressType}`);
      }
    }
  },
  default: (spec) =>
    Object.freeze({ ...spec, ...(spec.ports && { ports: Object.freeze(spec.ports.map(withProtocol)) }) }),
});

export const ENDPOINTS: KindDefinition<EndpointsSpec> = defineKind({
  ...CORE,
  kind: 'Endpoints',
  plural: 'endpoints',
  specField: 'root',
  schema: Endpoints,
  *validate({ spec: { subsets = [] }, at }) {
    for (const [i, subset] of subsets.entries()) {
      for (const list of ['addresses', 'notReadyAddresses'] as const) {
        for (const [j, { ip }] of (subset[list] ?? []).entries()) {
          yield* problem(at('subsets', i, list, j, 'ip'), ipProblem(ip));
        }
      }
    }
  },
  default: ({ subsets = [] }) =>
    Object.freeze({
      subsets: Object.freeze(
        subsets.map(({ ports, ...subset }) =>
          Object.freeze({ ...subset, ...(ports && { ports: Object.freeze(ports.map(withProtocol)) }) }),
        ),
      ),
    }),
});

export const POD: KindDefinition<PodSpec> = defineKind({
  ...CORE,
  kind: 'Pod',
  plural: 'pods',
  specField: 'spec',
  schema: Pod,
  status: PodStatus,
  default: (spec) => Object.freeze({ serviceAccountName: 'default', ...spec }),
});

export const NODE: KindDefinition = defineKind({
  ...CORE,
  scope: 'Cluster',
  kind: 'Node',
  plural: 'nodes',
  specField: 'spec',
  schema: Node,
  status: NodeStatus,
});

export const NAMESPACE: KindDefinition = defineKind({
  ...CORE,
  scope: 'Cluster',
  kind: 'Namespace',
  plural: 'namespaces',
  specField: 'spec',
  schema: Namespace,
});

export const CONFIG_MAP: KindDefinition = defineKind({
  ...CORE,
  kind: 'ConfigMap',
  plural: 'configmaps',
  specField: 'root',
  schema: ConfigMap,
});

export const SERVICE_ACCOUNT: KindDefinition = defineKind({
  ...CORE,
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  specField: 'root',
  schema: ServiceAccount,
});

export const KUBERNETES_KINDS: readonly KindDefinition[] = [
  SERVICE,
  ENDPOINT_SLICE,
  ENDPOINTS,
  POD,
  NODE,
  NAMESPACE,
  SECRET,
  CONFIG_MAP,
  SERVICE_ACCOUNT,
];
