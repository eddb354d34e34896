import type { PortTrafficPolicy, TrafficPolicy, TunnelSettings } from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import type { Finding, Place } from '../finding.ts';
import { clientTlsFindings } from './client-tls.ts';
import { connectionPoolFindings, outlierDetectionFindings } from './connection-pool.ts';
import { loadBalancerFindings } from './load-balancer.ts';
import { hostProblem } from './names.ts';

function* tunnelFindings(at: Place, { protocol = '', targetHost }: TunnelSettings): Generator<Finding> {
  if (!['', 'CONNECT', 'POST'].includes(protocol)) {
    yield at.at('protocol').error(`"${protocol}" must be "CONNECT" or "POST"`);
  }
  if (hostProblem(targetHost) !== undefined && !isIpAddress(targetHost)) {
    yield at.at('targetHost').error(`"${targetHost}" is neither a host name nor an IP address`);
  }
}

/** What the policy of a service and that of a port have in common. */
function* commonFindings(at: Place, policy: TrafficPolicy | PortTrafficPolicy, namespace: string): Generator<Finding> {
  yield* outlierDetectionFindings(at.at('outlierDetection'), policy.outlierDetection);
  yield* connectionPoolFindings(at.at('connectionPool'), policy.connectionPool);
  yield* loadBalancerFindings(at.at('loadBalancer'), policy.loadBalancer, policy.outlierDetection);
  yield* clientTlsFindings(at.at('tls'), policy.tls, namespace);
}

/** @see istio/istio pkg/config/validation/validation.go `validateTrafficPolicy` */
export function* trafficPolicyFindings(
  at: Place,
  policy: TrafficPolicy | undefined,
  namespace: string,
): Generator<Finding> {
  if (policy === undefined) return;
  if (Object.keys(policy).length === 0) {
    yield at.error('says nothing: set one of its fields, or leave trafficPolicy out');
    return;
  }
  if (policy.tunnel !== undefined && policy.proxyProtocol !== undefined) {
    yield at.at('proxyProtocol').error('only one of tunnel and proxyProtocol may be set');
    return;
  }
  yield* commonFindings(at, policy, namespace);
  if (policy.tunnel !== undefined) yield* tunnelFindings(at.at('tunnel'), policy.tunnel);
  for (const [i, port] of (policy.portLevelSettings ?? []).entries()) {
    const place = at.at('portLevelSettings', i);
    if (port.port === undefined) yield place.error('needs a port: write "port: {number: 80}"');
    if (Object.keys(port).every((name) => name === 'port')) yield place.error('says nothing about its port');
    else yield* commonFindings(place, port, namespace);
  }
}
