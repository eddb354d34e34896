/** Texts of objects for a gateway on this machine. */

/** A Kubernetes Service with one endpoint on loopback. */
export function service(name: string, namespace: string, port: number, appProtocol = 'http'): string {
  return `---
apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: ${namespace}}
spec:
  clusterIP: None
  ports: [{name: ${appProtocol}, port: 80, targetPort: ${port}}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: ${name}-1, namespace: ${namespace}, labels: {kubernetes.io/service-name: ${name}}}
addressType: IPv4
ports: [{name: ${appProtocol}, port: ${port}}]
endpoints: [{addresses: [127.0.0.1]}]
`;
}

/** A Gateway in namespace shop, which the Envoy serves at these ports of loopback. */
export function gateway(ports: { readonly http: number; readonly tls: number; readonly tcp: number }): string {
  const { http, tls, tcp } = ports;
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
  - {number: 80, name: http, protocol: HTTP, targetPort: ${http}}
  - {number: 443, name: tls, protocol: TLS, targetPort: ${tls}}
  - {number: 9000, name: tcp, protocol: TCP, targetPort: ${tcp}}
  endpoints: [{address: 127.0.0.1}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec:
  gatewayClassName: istio
  addresses: [{type: Hostname, value: edge.mesh.internal}]
  listeners:
  - {name: http, port: 80, protocol: HTTP, hostname: "*.example.com"}
  - {name: passed, port: 443, protocol: TLS, hostname: "*.example.com", tls: {mode: Passthrough}}
  - {name: tcp, port: 9000, protocol: TCP}
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

/** A route of namespace shop. @param spec below its parents, in YAML */
export function route(kind: string, name: string, spec: string): string {
  const version = kind === 'TCPRoute' || kind === 'TLSRoute' ? 'v1alpha2' : 'v1';
  return `---
apiVersion: gateway.networking.k8s.io/${version}
kind: ${kind}
metadata: {name: ${name}, namespace: shop}
spec:
  parentRefs: [{name: edge}]
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

export function grant(kind: string, from: string): string {
  return `apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: ${from}, namespace: bank}
spec:
  from: [{group: gateway.networking.k8s.io, kind: ${kind}, namespace: ${from}}]
  to: [{group: "", kind: Service, name: vault}]
`;
}
