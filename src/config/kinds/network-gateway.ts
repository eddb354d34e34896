import { parsedObject } from '../../base/json.ts';
import type { Labels } from '../../base/labels.ts';
import type { Finding, Place } from '../finding.ts';
import {
  DEFAULT_GATEWAY_PORT,
  GATEWAY_PORT_LABEL,
  gatewayPort,
  NETWORK_LABEL,
  NODE_SELECTOR_ANNOTATION,
} from '../network-labels.ts';

/**
 * What keeps a Service with a network's label from being that network's gateway.
 *
 * @param at a place in the metadata
 * @see istio/istio pilot/pkg/serviceregistry/kube/controller/network.go `getGatewayDetails`
 */
export function* networkGatewayFindings(
  labels: Labels,
  ports: readonly { readonly port?: number }[],
  at: Place['at'],
): Generator<Finding> {
  const network = labels[NETWORK_LABEL];
  if (!network) return;
  const written = labels[GATEWAY_PORT_LABEL];
  if (written !== undefined && !/^\d+$/.test(written)) {
    yield at('labels', GATEWAY_PORT_LABEL).warning(
      `"${written}" is not a port: ${DEFAULT_GATEWAY_PORT} is taken, write the number`,
    );
  }
  const port = gatewayPort(labels);
  if (ports.some((one) => one.port === port)) return;
  yield at('labels', NETWORK_LABEL).warning(
    `is no gateway of network "${network}": the Service has no port ${port}; add it, or name its port with the label ${GATEWAY_PORT_LABEL}`,
  );
}

/** What is wrong with the choice of the nodes at which a gateway is reached. */
export function* nodeSelectorFindings(annotations: Labels, at: Place['at']): Generator<Finding> {
  const written = annotations[NODE_SELECTOR_ANNOTATION];
  if (!written) return;
  const labels = parsedObject(written);
  if (labels !== undefined && Object.values(labels).every((value) => typeof value === 'string')) return;
  yield at('annotations', NODE_SELECTOR_ANNOTATION).warning(
    labels === undefined
      ? 'this is no JSON object, so all nodes are chosen: write labels, as {"door": "yes"}'
      : 'values of labels are texts: put them in quotes, as {"door": "yes"}',
  );
}
