import type { SecretSockets } from '../tls-context.ts';

/** What of a proxy counts for the clusters that it sends traffic to. */
export interface ClusterView {
  readonly type: 'sidecar' | 'router';
  /** It has Istio's own filters. */
  readonly istioExtensions: boolean;
  /** It tells its peers who it is, and asks who they are, with one of those. */
  readonly peerExchange: boolean;
  /** Labels of its workload that it tells of beside the usual ones. */
  readonly peerLabels?: readonly string[];
  /** Its agent serves the workload's certificate. */
  readonly sds: boolean;
  readonly secretSockets: SecretSockets;
  /** Names of HTTP/1.1 headers keep their letters. */
  readonly preserveHeaderCase: boolean;
  /** Client certificates in files, which the proxy's metadata name, in the place of the workload's own. */
  readonly clientFiles?: ClientFiles;
}

export interface ClientFiles {
  readonly certificate: string;
  readonly privateKey: string;
  readonly roots: string;
}
