import type { envoy } from '#generated/proto/types.ts';
import type { Labels } from '../../base/labels.ts';
import type { Endpoint, HealthStatus } from '../../model/endpoint.ts';
import { pipeAddress, socketAddress } from '../address.ts';
import { type GroupedEndpoint, MAX_WEIGHT } from './groups.ts';

type LbEndpoint = envoy.config.endpoint.v3.LbEndpoint;

/** The endpoint match by which a cluster chooses mutual TLS: `transport_socket_match` on `tlsMode`. */
export const MTLS_MODE = 'istio';
const TRANSPORT_SOCKET_MATCH = 'envoy.transport_socket_match';

const NAME_LABELS = ['service.istio.io/canonical-name', 'app.kubernetes.io/name', 'app'];
const REVISION_LABELS = ['service.istio.io/canonical-revision', 'app.kubernetes.io/version', 'version'];

const HEALTH: Readonly<Record<Exclude<HealthStatus, 'Terminating'>, envoy.config.core.v3.HealthStatus | undefined>> = {
  Unknown: undefined,
  Healthy: 'HEALTHY',
  UnHealthy: 'UNHEALTHY',
  Draining: 'DRAINING',
};

/** Asks for connections to end: the endpoint counts as draining whatever its health. */
const DRAINING_LABEL = 'istio.io/draining';

export function healthOf({ health, labels }: Endpoint): HealthStatus {
  return labels[DRAINING_LABEL] ? 'Draining' : health;
}

export interface LbEndpointInput {
  /** Not `Terminating`. */
  readonly endpoint: Endpoint;
  readonly mtls: boolean;
  /** All addresses are sent, not only the first. */
  readonly dualStack: boolean;
  /** What its weight is multiplied by. */
  readonly scale: number;
}

/** @see istio/istio pilot/pkg/xds/endpoints/endpoint_builder.go `buildEnvoyLbEndpoint` */
export function lbEndpoint({ endpoint, mtls, dualStack, scale }: LbEndpointInput): GroupedEndpoint {
  const { addresses, port, labels, network } = endpoint;
  const [first = '', ...others] = addresses.map((address) =>
    port === 0 ? pipeAddress(address) : socketAddress(address, port),
  );
  const health = healthOf(endpoint);
  const healthStatus = health === 'Terminating' ? undefined : HEALTH[health];
  const weight = Math.min(MAX_WEIGHT, (endpoint.weight || 1) * scale);
  const tlsMode = mtls && endpoint.tlsMode !== '' && endpoint.tlsMode !== 'disabled' ? endpoint.tlsMode : undefined;
  const message: LbEndpoint = {
    endpoint: {
      ...(first === '' ? {} : { address: first }),
      ...(dualStack && others.length > 0 ? { additionalAddresses: others.map((address) => ({ address })) } : {}),
    },
    ...(healthStatus === undefined ? {} : { healthStatus }),
    loadBalancingWeight: weight,
    metadata: { filterMetadata: endpointMetadata(tlsMode, workload(endpoint)) },
  };
  return { message, origin: { labels, network }, weight, mtls: tlsMode === MTLS_MODE };
}

/** @param tlsMode undefined: plaintext */
export function endpointMetadata(
  tlsMode: string | undefined,
  workloadName: string,
): NonNullable<envoy.config.core.v3.Metadata['filterMetadata']> {
  return {
    ...(tlsMode === undefined ? {} : { [TRANSPORT_SOCKET_MATCH]: { tlsMode } }),
    istio: { workload: workloadName },
  };
}

/** `workload;namespace;canonical name;canonical revision;cluster`, for the telemetry of a client that its server tells nothing. */
function workload({ workloadName, namespace, labels, clusterId }: Endpoint): string {
  const name = firstLabel(labels, NAME_LABELS) ?? workloadName;
  const revision = firstLabel(labels, REVISION_LABELS) ?? '';
  return [workloadName, namespace, name, revision === 'latest' ? '' : revision, clusterId].join(';');
}

function firstLabel(labels: Labels, names: readonly string[]): string | undefined {
  return names.map((name) => labels[name]).find((value) => value !== undefined);
}
