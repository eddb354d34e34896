import type { Analyzer } from './analyzer.ts';

/** What of Ingresses and objects of the Gateway API is not done. */
export const CONVERSIONS: Analyzer = {
  kinds: [
    'Ingress',
    'KubernetesGateway',
    'ListenerSet',
    'HTTPRoute',
    'GRPCRoute',
    'TLSRoute',
    'TCPRoute',
    'BackendTLSPolicy',
  ],
  findings({ key }, facts) {
    return facts.conversionFindings(key);
  },
};
