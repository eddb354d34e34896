import type { Finding, Place } from '../finding.ts';

/** Ports that every proxy listens on for itself. @see istio.io "Ports used by Istio" */
const RESERVED: ReadonlyMap<number, string> = new Map([
  [15000, "Envoy's admin interface"],
  [15020, "the agent's health and metrics"],
  [15021, 'readiness'],
  [15053, 'the name server of the agent'],
  [15090, "Envoy's metrics"],
]);

/** Ports of captured traffic, on which sidecars listen. */
const CAPTURED: ReadonlyMap<number, string> = new Map([
  [15001, 'captured outbound connections'],
  [15006, 'captured inbound connections'],
]);

/** A listener on a port that the proxy has already can not be bound, and Envoy refuses it. */
export function* reservedPortFindings(
  at: Place,
  port: number | undefined,
  proxy: 'sidecar' | 'gateway',
): Generator<Finding> {
  const use = RESERVED.get(port ?? 0) ?? (proxy === 'sidecar' ? CAPTURED.get(port ?? 0) : undefined);
  if (use !== undefined)
    yield at.warning(`port ${port} is that of ${use} on every proxy, so it can not be bound: choose another`, 'VM0206');
}
