import type {
  ClientTLSSettings,
  DefaultTrafficPolicy,
  DestinationRule,
  PortTrafficPolicy,
  TrafficPolicy,
} from '#generated/config/specs.ts';

/**
 * The policy for one port of a service. A port's own settings inherit nothing: what they leave out has its default, not what
 * is said for the whole destination.
 *
 * @see istio/istio pilot/pkg/networking/util/util.go `GetPortLevelTrafficPolicy`
 */
export function portTrafficPolicy(policy: TrafficPolicy | undefined, port: number): TrafficPolicy | undefined {
  const own = portSettings(policy, port);
  if (own === undefined) return policy;
  const { port: _selector, ...settings } = own;
  return settings;
}

function portSettings(policy: TrafficPolicy | undefined, port: number): PortTrafficPolicy | undefined {
  return policy?.portLevelSettings?.find((settings) => settings.port?.number === port);
}

/**
 * The policy for one port of a subset: block by block the subset's, else the destination's. A subset's settings for the port
 * replace all four blocks that a port can have.
 *
 * @see istio/istio pilot/pkg/networking/util/util.go `MergeSubsetTrafficPolicy`
 */
export function subsetTrafficPolicy(
  destination: TrafficPolicy | undefined,
  subset: TrafficPolicy | undefined,
  port: number,
): TrafficPolicy | undefined {
  const base = portTrafficPolicy(destination, port);
  if (subset === undefined) return base;
  const own = portTrafficPolicy(subset, port);
  if (base === undefined) return own;
  const { portLevelSettings: _base, ...merged } = base;
  const { portLevelSettings: _own, ...settings } = own ?? {};
  if (portSettings(subset, port) === undefined) return { ...merged, ...settings };
  const { loadBalancer: _lb, connectionPool: _pool, outlierDetection: _outlier, tls: _tls, ...rest } = merged;
  return { ...rest, ...settings };
}

/** The policy of a DestinationRule for a port of a subset; the empty name is the whole service. */
export function policyOfSubset(
  rule: DestinationRule | undefined,
  subset: string,
  port: number,
): TrafficPolicy | undefined {
  const own = rule?.subsets?.find(({ name }) => name === subset);
  return subsetTrafficPolicy(rule?.trafficPolicy, own?.trafficPolicy, port);
}

/** MeshConfig `defaultTrafficPolicy` fills in the blocks that a policy lacks. */
export function withMeshDefaults(
  policy: TrafficPolicy | undefined,
  defaults: DefaultTrafficPolicy | undefined,
): TrafficPolicy | undefined {
  if (defaults === undefined) return policy;
  const { connectionPool = defaults.connectionPool, outlierDetection = defaults.outlierDetection } = policy ?? {};
  if (connectionPool === policy?.connectionPool && outlierDetection === policy?.outlierDetection) return policy;
  return {
    ...policy,
    ...(connectionPool ? { connectionPool } : {}),
    ...(outlierDetection ? { outlierDetection } : {}),
  };
}

/**
 * What a rule says of TLS to a port of a subset, whatever else it says of the port.
 * @see istio/istio pilot/pkg/xds/endpoints/mtls_checker.go `tlsModeForDestinationRule`
 */
export function tlsOfSubset(
  rule: DestinationRule | undefined,
  subset: string,
  port: number,
): ClientTLSSettings | undefined {
  const whole = tlsOfPort(rule?.trafficPolicy, port);
  if (subset === '') return whole;
  const own = rule?.subsets?.find(({ name }) => name === subset);
  return own && (tlsOfPort(own.trafficPolicy, port) ?? whole);
}

function tlsOfPort(policy: TrafficPolicy | undefined, port: number): ClientTLSSettings | undefined {
  const own = policy?.portLevelSettings?.find(
    (settings) => settings.port?.number === port && settings.tls !== undefined,
  );
  return own?.tls ?? policy?.tls;
}
