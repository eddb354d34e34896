import type { MeshFile } from '#generated/config/specs.ts';
import type { Config } from '../config/config.ts';
import { MESH } from '../config/mesh-files.ts';
import { parseFile } from '../config/parse.ts';
import type { AddressAllocation } from '../model/vip.ts';
import type { JwksFetchMode } from '../pipeline/key-sets.ts';
import { listenerSwitches } from '../pipeline/listener-switches.ts';
import type { MeshOptions } from '../pipeline/options.ts';
import { DEFAULT_MESH_OPTIONS } from '../pipeline/options.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LaidOver {
  readonly env: Environment;
  /** Variables that both have, with different values. */
  readonly conflicts: readonly string[];
}

/** mesh.yaml's `env` laid over the real environment: mesh.yaml wins. */
export function effectiveEnvironment(real: Environment, written: Readonly<Record<string, string>>): LaidOver {
  const conflicts = Object.entries(written)
    .filter(([name, value]) => real[name] !== undefined && real[name] !== value)
    .map(([name]) => name)
    .sort();
  return { env: { ...real, ...written }, conflicts };
}

/** The `env` of mesh.yaml as it stands when the process starts; nothing when the file is missing or can not be taken. */
export function writtenEnvironment(meshFile: string | undefined): Readonly<Record<string, string>> {
  if (meshFile === undefined) return {};
  const { configs } = parseFile('etc/istio/mesh.yaml', meshFile, {
    source: '',
    namespace: '',
    strict: false,
    whole: MESH,
  });
  return (configs[0] as Config<MeshFile> | undefined)?.spec.env ?? {};
}

function isTrue(value: string | undefined): boolean {
  return /^(1|t|true)$/i.test(value ?? '');
}

/** Istio knows true (its default) and false. `status` is ours: there, addresses stand in the objects' status and nowhere else. */
function addressAllocation(value = ''): AddressAllocation {
  if (/^(0|f|false)$/i.test(value)) return 'table-only';
  return value.toLowerCase() === 'status' ? 'status-only' : 'status-first';
}

/** @see istio/istio pkg/jwt/jwt.go `ConvertToJwksFetchMode` */
function jwksFetchMode(value = ''): JwksFetchMode {
  if (value === 'envoy') return 'envoy';
  return value === 'hybrid' || value === 'true' ? 'hybrid' : 'istiod';
}

/** Istio's variables that shape translation. */
export function meshOptions(env: Environment, rootNamespace: string): MeshOptions {
  return {
    rootNamespace,
    domainSuffix: env['DOMAIN_SUFFIX'] || DEFAULT_MESH_OPTIONS.domainSuffix,
    clusterId: env['CLUSTER_ID'] || DEFAULT_MESH_OPTIONS.clusterId,
    dualStack: isTrue(env['ISTIO_DUAL_STACK']),
    persistentSessionLabel: env['PILOT_PERSISTENT_SESSION_LABEL'] || DEFAULT_MESH_OPTIONS.persistentSessionLabel,
    persistentSessionHeaderLabel:
      env['PILOT_PERSISTENT_SESSION_HEADER_LABEL'] || DEFAULT_MESH_OPTIONS.persistentSessionHeaderLabel,
    addressAllocation: addressAllocation(env['PILOT_ENABLE_IP_AUTOALLOCATE']),
    ingressNamespace: env['K8S_INGRESS_NS'] || DEFAULT_MESH_OPTIONS.ingressNamespace,
    jwksFetchMode: jwksFetchMode(env['PILOT_JWT_ENABLE_REMOTE_JWKS']),
    listeners: listenerSwitches(env),
    variable: (name) => env[name] ?? '',
  };
}

/** `CHECK_STRICT`: what is only likely a mistake counts as one. */
export function strictChecks(env: Environment): boolean {
  return isTrue(env['CHECK_STRICT']);
}
