/** Annotations of objects that are made of others. Users can not set them. */
export const MARKS = {
  /** `Kind/name.namespace` of what it was made of, with commas. */
  parents: 'internal.istio.io/parents',
  /** Of a Gateway: the namespace of its services, where that is not its own. */
  parentNamespace: 'internal.istio.io/parent-namespace',
  /** Of a Gateway: hostnames of the services whose workloads it is for, with commas. */
  services: 'internal.istio.io/gateway-service',
  serviceAccount: 'internal.istio.io/service-account-name',
  gatewaySemantics: 'internal.istio.io/gateway-semantics',
  routeSemantics: 'internal.istio.io/route-semantics',
} as const;
