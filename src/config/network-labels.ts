import type { Labels } from '../base/labels.ts';

/** The network that an object is in, or is a gateway of. */
export const NETWORK_LABEL = 'topology.istio.io/network';
/** Of a Service of type NodePort: as a JSON object, labels of the nodes at which other networks reach it. */
export const NODE_SELECTOR_ANNOTATION = 'traffic.istio.io/nodeSelector';
/** The port at which a gateway between networks passes on the mesh's own TLS. */
export const GATEWAY_PORT_LABEL = 'networking.istio.io/gatewayPort';
export const DEFAULT_GATEWAY_PORT = 15443;

/** The port that labels name, or the usual one where they name none that is a number. */
export function gatewayPort(labels: Labels): number {
  return Number.parseInt(labels[GATEWAY_PORT_LABEL] ?? '', 10) || DEFAULT_GATEWAY_PORT;
}
