import {
  bool,
  bounded,
  bytes,
  type Enum,
  enumeration,
  int32,
  intOrString,
  kubeObject,
  list,
  type Message,
  map,
  one,
  type Scalar,
  string,
} from './schema.ts';

const PORT: Scalar = bounded(int32, { min: 1, max: 65535 });

export const KubeProtocol: Enum = enumeration('KubeProtocol', 'Transport of a port.', ['TCP', 'UDP', 'SCTP']);

export const KubeServiceType: Enum = enumeration('KubeServiceType', 'How a Service is reached.', [
  'ClusterIP',
  'NodePort',
  'LoadBalancer',
  'ExternalName',
]);

export const KubeServicePort: Message = kubeObject('KubeServicePort', 'A port of a Service.', {
  name: one(string, 'Name of the port; its prefix (`http-`, `grpc-`, `tcp-`, …) says which protocol is spoken.'),
  protocol: one(KubeProtocol, 'Transport.', { default: 'TCP' }),
  port: one(PORT, 'Port of the service itself.', { required: true }),
  targetPort: one(intOrString, 'Port of the endpoints, as a number or the name of a container port; else `port`.'),
  nodePort: one(int32, 'Port on each node.'),
  appProtocol: one(string, 'Protocol spoken on the port; wins over the prefix of the name.'),
});

export const SessionAffinityClientIP: Message = kubeObject(
  'SessionAffinityClientIP',
  'Affinity by the address of the client.',
  { timeoutSeconds: one(int32, 'Seconds for which a client keeps its endpoint.') },
);

export const SessionAffinityConfig: Message = kubeObject('SessionAffinityConfig', 'Details of session affinity.', {
  clientIP: one(SessionAffinityClientIP, 'By the address of the client.'),
});

export const KubeService: Message = kubeObject('KubeService', 'A Service of Kubernetes.', {
  type: one(KubeServiceType, 'How the service is reached.', { default: 'ClusterIP' }),
  ports: list(KubeServicePort, 'Ports of the service.'),
  selector: map(string, 'Labels of the pods that serve it.'),
  clusterIP: one(string, 'Virtual address; `None` for a headless service.'),
  clusterIPs: list(string, 'Virtual addresses, one per address family.'),
  externalIPs: list(string, 'Further addresses under which it is reached.'),
  externalName: one(string, 'Host name that an ExternalName service stands for.'),
  publishNotReadyAddresses: one(bool, 'Send traffic to pods that are not ready, too.'),
  sessionAffinity: one(string, '`ClientIP` or `None`.', { default: 'None' }),
  sessionAffinityConfig: one(SessionAffinityConfig, 'Details of session affinity.'),
  internalTrafficPolicy: one(string, '`Cluster` or `Local`: which endpoints traffic from inside may reach.', {
    default: 'Cluster',
  }),
  externalTrafficPolicy: one(string, '`Cluster` or `Local`: which endpoints traffic from outside may reach.'),
  trafficDistribution: one(string, 'Preference among endpoints: `PreferClose`, `PreferSameZone`, `PreferSameNode`.'),
  ipFamilies: list(string, 'Address families, the first one first.'),
  ipFamilyPolicy: one(string, '`SingleStack`, `PreferDualStack` or `RequireDualStack`.'),
  loadBalancerIP: one(string, 'Address asked of the load balancer.'),
});

export const LoadBalancerIngress: Message = kubeObject('LoadBalancerIngress', 'An address of a load balancer.', {
  ip: one(string, 'IP address.'),
  hostname: one(string, 'Host name.'),
});

export const LoadBalancerStatus: Message = kubeObject('LoadBalancerStatus', 'Addresses of a load balancer.', {
  ingress: list(LoadBalancerIngress, 'Its addresses.'),
});

export const KubeServiceStatus: Message = kubeObject('KubeServiceStatus', 'What is known of a Service.', {
  loadBalancer: one(LoadBalancerStatus, 'Addresses that its load balancer has.'),
});

export const ObjectReference: Message = kubeObject('ObjectReference', 'A reference to another object.', {
  kind: one(string, 'Kind of the object.'),
  namespace: one(string, 'Namespace of the object.'),
  name: one(string, 'Name of the object.'),
});

export const EndpointConditions: Message = kubeObject('EndpointConditions', 'State of an endpoint.', {
  ready: one(bool, 'It takes new requests. Unset counts as true.'),
  serving: one(bool, 'It still answers, even while it terminates.'),
  terminating: one(bool, 'It is shutting down.'),
});

export const ForZone: Message = kubeObject('ForZone', 'A zone that an endpoint should serve.', {
  name: one(string, 'Name of the zone.', { required: true }),
});

export const EndpointHints: Message = kubeObject('EndpointHints', 'Hints on who should use an endpoint.', {
  forZones: list(ForZone, 'Zones that it should serve.'),
});

export const Endpoint: Message = kubeObject('Endpoint', 'One endpoint of a slice.', {
  addresses: list(string, 'Its addresses, all of the same endpoint.', { required: true }),
  conditions: one(EndpointConditions, 'Its state.'),
  hostname: one(string, 'Host name of the endpoint.'),
  targetRef: one(ObjectReference, 'The pod behind it.'),
  nodeName: one(string, 'Node on which it runs.'),
  zone: one(string, 'Zone in which it runs.'),
  hints: one(EndpointHints, 'Who should use it.'),
});

export const EndpointPort: Message = kubeObject('EndpointPort', 'A port of the endpoints.', {
  name: one(string, 'Name of the port of the Service.'),
  protocol: one(KubeProtocol, 'Transport.', { default: 'TCP' }),
  port: one(int32, 'Number of the port.'),
  appProtocol: one(string, 'Protocol spoken on the port.'),
});

export const AddressType: Enum = enumeration('AddressType', 'What the addresses of a slice are.', [
  'IPv4',
  'IPv6',
  'FQDN',
]);

export const EndpointSlice: Message = kubeObject(
  'EndpointSlice',
  'Endpoints of a Service, which the label `kubernetes.io/service-name` names.',
  {
    addressType: one(AddressType, 'What the addresses are.', { required: true }),
    endpoints: list(Endpoint, 'The endpoints.'),
    ports: list(EndpointPort, 'Ports of every endpoint.'),
  },
);

export const EndpointAddress: Message = kubeObject('EndpointAddress', 'An address of Endpoints.', {
  ip: one(string, 'IP address.', { required: true }),
  hostname: one(string, 'Host name.'),
  nodeName: one(string, 'Node on which it runs.'),
  targetRef: one(ObjectReference, 'The pod behind it.'),
});

export const EndpointSubset: Message = kubeObject('EndpointSubset', 'Addresses that share their ports.', {
  addresses: list(EndpointAddress, 'Addresses that take traffic.'),
  notReadyAddresses: list(EndpointAddress, 'Addresses that do not take traffic yet.'),
  ports: list(EndpointPort, 'Ports of every address.'),
});

export const Endpoints: Message = kubeObject('Endpoints', 'Endpoints of the Service of the same name.', {
  subsets: list(EndpointSubset, 'Addresses and ports.'),
});

export const ContainerPort: Message = kubeObject('ContainerPort', 'A port of a container.', {
  name: one(string, 'Name, by which a Service may refer to it.'),
  containerPort: one(PORT, 'Number of the port.', { required: true }),
  protocol: one(KubeProtocol, 'Transport.', { default: 'TCP' }),
});

export const Container: Message = kubeObject('Container', 'A container of a pod.', {
  name: one(string, 'Name of the container.'),
  ports: list(ContainerPort, 'Its ports.'),
  restartPolicy: one(string, '`Always` on an init container makes it a sidecar.'),
});

export const Pod: Message = kubeObject('Pod', 'A pod of Kubernetes.', {
  containers: list(Container, 'Containers.'),
  initContainers: list(Container, 'Containers that start before the others.'),
  serviceAccountName: one(string, 'Service account that it runs under.', { default: 'default' }),
  nodeName: one(string, 'Node on which it runs.'),
  hostNetwork: one(bool, 'It uses the network of its node.'),
  hostname: one(string, 'Host name of the pod.'),
  subdomain: one(string, 'Name of the headless service under which the pod has a DNS name.'),
});

export const PodIP: Message = kubeObject('PodIP', 'An address of a pod.', {
  ip: one(string, 'IP address.'),
});

export const PodCondition: Message = kubeObject('PodCondition', 'A condition of a pod.', {
  type: one(string, 'Name of the condition.'),
  status: one(string, '`True`, `False` or `Unknown`.'),
});

export const PodStatus: Message = kubeObject('PodStatus', 'What is known of a pod.', {
  phase: one(string, '`Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.'),
  podIP: one(string, 'Its first address.'),
  podIPs: list(PodIP, 'All its addresses.'),
  hostIP: one(string, 'Address of its node.'),
  conditions: list(PodCondition, 'Its conditions.'),
});

export const Node: Message = kubeObject('Node', 'A node of Kubernetes; its labels say its locality.', {});

export const NodeAddress: Message = kubeObject('NodeAddress', 'An address of a node.', {
  type: one(string, '`InternalIP`, `ExternalIP`, `Hostname`, …'),
  address: one(string, 'The address.'),
});

export const NodeStatus: Message = kubeObject('NodeStatus', 'What is known of a node.', {
  addresses: list(NodeAddress, 'Its addresses.'),
});

export const Namespace: Message = kubeObject('Namespace', 'A namespace; its labels are what selectors match.', {});

export const Secret: Message = kubeObject('Secret', 'Keys and certificates.', {
  type: one(string, 'Kind of the secret, as `kubernetes.io/tls`.', { default: 'Opaque' }),
  data: map(bytes, 'Contents in base64, by name.', { secret: true }),
  stringData: map(string, 'Contents as plain text, by name; laid over `data`.', { secret: true }),
});

export const ConfigMap: Message = kubeObject('ConfigMap', 'Texts by name.', {
  data: map(string, 'Texts.'),
  binaryData: map(bytes, 'Bytes in base64.'),
});

export const ServiceAccount: Message = kubeObject('ServiceAccount', 'An identity that pods run under.', {});
