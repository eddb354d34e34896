import type { Labels } from '../../base/labels.ts';
import type { Finding, Place } from '../finding.ts';

const NETWORK_LABEL = 'topology.istio.io/network';
const PORT_LABEL = 'networking.istio.io/gatewayPort';
const DEFAULT_PORT = 15443;

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
  const written = labels[PORT_LABEL];
  if (written !== undefined && !/^\d+$/.test(written)) {
    yield at('labels', PORT_LABEL).warning(`"${written}" is not a port: ${DEFAULT_PORT} is taken, write the number`);
  }
  const port = Number.parseInt(written ?? '', 10) || DEFAULT_PORT;
  if (ports.some((one) => one.port === port)) return;
  yield at('labels', NETWORK_LABEL).warning(
    `is no gateway of network "${network}": the Service has no port ${port}; add it, or name its port with the label ${PORT_LABEL}`,
  );
}
