import type { Labels } from '../base/labels.ts';

export interface Locality {
  readonly region: string;
  readonly zone: string;
  readonly subZone: string;
}

/** `region/zone/subzone`, the form of Istio's locality labels; missing parts are empty. */
export function parseLocality(text: string): Locality {
  const [region = '', zone = '', subZone = ''] = text.split('/');
  return { region, zone, subZone };
}

/** `Unknown` where nothing watches it: the endpoints of ServiceEntries, which are used like healthy ones. */
export type HealthStatus = 'Unknown' | 'Healthy' | 'UnHealthy' | 'Draining' | 'Terminating';

/**
 * One address of a service on one port.
 * @see istio/istio pilot/pkg/model/service.go `IstioEndpoint`
 */
export interface Endpoint {
  /** IPs (the second of a dual-stack endpoint after the first), a hostname, or a Unix socket's path with `port` 0. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** Name of the service port that it serves. EDS matches by it. */
  readonly servicePortName: string;
  /** Number of the service port as the ServiceEntry that gave the endpoint has it; clusters with inline endpoints match by it. */
  readonly servicePort: number;
  readonly labels: Labels;
  /** A spiffe URI, or empty. */
  readonly serviceAccount: string;
  readonly network: string;
  /** `region/zone/subzone` or empty. */
  readonly locality: string;
  readonly clusterId: string;
  /** 0 means unset. */
  readonly weight: number;
  /** `istio` when it accepts Istio's mutual TLS, else `disabled`. */
  readonly tlsMode: string;
  readonly namespace: string;
  readonly workloadName: string;
  readonly health: HealthStatus;
  /** Pod name and subdomain, for headless services' name tables. */
  readonly hostName?: string;
  readonly subDomain?: string;
  readonly nodeName?: string;
  /** A Kubernetes Service with `internalTrafficPolicy: Local` shows its endpoints only to this node. */
  readonly onlyNode?: string;
}
