/** Texts of objects for a gateway on this machine. */

export interface ServiceOptions {
  /** Says the protocol, where `appProtocol` does not; default: http. */
  readonly portName?: string;
  /** As Kubernetes words it. */
  readonly appProtocol?: string;
  /** Default: 80. */
  readonly port?: number;
  /** Default: None, the service is headless. */
  readonly clusterIP?: string;
}

/** A Kubernetes Service with one endpoint on loopback. */
export function service(name: string, namespace: string, endpoint: number, options: ServiceOptions = {}): string {
  const { portName = 'http', appProtocol, port = 80, clusterIP = 'None' } = options;
  const spoken = appProtocol === undefined ? '' : `, appProtocol: ${appProtocol}`;
  return `---
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  clusterIP: ${clusterIP}
  ports: [{name: ${portName}, port: ${port}, targetPort: ${endpoint}${spoken}}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: ${name}-1, namespace: ${namespace}, labels: {kubernetes.io/service-name: ${name}}}
addressType: IPv4
ports: [{name: ${portName}, port: ${endpoint}${spoken}}]
endpoints: [{addresses: [127.0.0.1]}]
`;
}

export interface ListenerPort {
  readonly name: string;
  /** Of the Gateway. */
  readonly port: number;
  readonly protocol: 'HTTP' | 'HTTPS' | 'TLS' | 'TCP';
  /** Where the Envoy listens. */
  readonly at: number;
}

/** A Gateway in namespace shop, which the Envoy serves on loopback. @param spec its listeners and more, in YAML */
export function gateway(ports: readonly ListenerPort[], spec: string): string {
  const entries = ports.map(
    ({ name, port, protocol, at }) =>
      `  - {number: ${port}, name: ${name}, protocol: ${protocol}, targetPort: ${at}}\n`,
  );
  return `---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: edge, namespace: shop}
spec:
  hosts: [edge.mesh.internal]
  addresses: [10.30.0.1]
  location: MESH_INTERNAL
  resolution: STATIC
  ports:
${entries.join('')}\
  endpoints: [{address: 127.0.0.1}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: istio
  addresses: [{type: Hostname, value: edge.mesh.internal}]
${spec}\
---
apiVersion: networking.istio.io/v1alpha3
kind: EnvoyFilter
metadata: {name: loopback, namespace: shop}
spec:
  configPatches:
  - applyTo: LISTENER
    match: {context: GATEWAY}
    patch: {operation: MERGE, value: {address: {socket_address: {address: 127.0.0.1}}}}
`;
}

export interface RouteOptions {
  /** In YAML; default: the Gateway. */
  readonly parent?: string;
  /** Default: shop. */
  readonly namespace?: string;
}

/** A route. @param spec below its parents, in YAML */
export function route(kind: string, name: string, spec: string, options: RouteOptions = {}): string {
  const { parent = '{name: edge}', namespace = 'shop' } = options;
  const version = kind === 'TCPRoute' || kind === 'TLSRoute' ? 'v1alpha2' : 'v1';
  return `---
apiVersion: gateway.networking.k8s.io/${version}
kind: ${kind}
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  parentRefs: [${parent}]
${spec}`;
}

/** An HTTPRoute for the host of its name. @param rules one a line, in YAML */
export function httpRoute(name: string, ...rules: readonly string[]): string {
  return route(
    'HTTPRoute',
    name,
    `  hostnames: [${name}.example.com]\n  rules:\n${rules.map((rule) => `  - ${rule}\n`).join('')}`,
  );
}

/** Lets objects of one kind in a namespace name what is called `vault` in namespace bank. */
export function grant(kind: string, from: string, to = 'Service'): string {
  return `apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: ${from}, namespace: bank}
spec:
  from: [{group: gateway.networking.k8s.io, kind: ${kind}, namespace: ${from}}]
  to: [{group: "", kind: ${to}, name: vault}]
`;
}
