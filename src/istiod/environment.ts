import { listenerSwitches } from '../pipeline/listener-switches.ts';
import type { MeshOptions } from '../pipeline/options.ts';
import { DEFAULT_MESH_OPTIONS } from '../pipeline/options.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is said where mesh.yaml's `env` and the process's environment differ. */
export interface EnvironmentConflict {
  readonly name: string;
}

/** mesh.yaml's `env` laid over the real environment: mesh.yaml wins. */
export function effectiveEnvironment(
  real: Environment,
  written: Readonly<Record<string, string>>,
): { readonly env: Environment; readonly conflicts: readonly EnvironmentConflict[] } {
  const conflicts = Object.entries(written)
    .filter(([name, value]) => real[name] !== undefined && real[name] !== value)
    .map(([name]) => ({ name }));
  return { env: { ...real, ...written }, conflicts };
}

function isTrue(value: string | undefined): boolean {
  return /^(1|t|true)$/i.test(value ?? '');
}

/** Istio's variables that shape translation. */
export function meshOptions(env: Environment): MeshOptions {
  return {
    domainSuffix: env['DOMAIN_SUFFIX'] || DEFAULT_MESH_OPTIONS.domainSuffix,
    clusterId: env['CLUSTER_ID'] || DEFAULT_MESH_OPTIONS.clusterId,
    dualStack: isTrue(env['ISTIO_DUAL_STACK']),
    persistentSessionLabel: env['PILOT_PERSISTENT_SESSION_LABEL'] || DEFAULT_MESH_OPTIONS.persistentSessionLabel,
    persistentSessionHeaderLabel:
      env['PILOT_PERSISTENT_SESSION_HEADER_LABEL'] || DEFAULT_MESH_OPTIONS.persistentSessionHeaderLabel,
    listeners: listenerSwitches(env),
  };
}

/** Milliseconds of `PILOT_DEBOUNCE_AFTER` and `PILOT_DEBOUNCE_MAX`, absent unless set. */
export function strictChecks(env: Environment): boolean {
  return isTrue(env['CHECK_STRICT']);
}
