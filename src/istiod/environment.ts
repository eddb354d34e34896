import { join } from 'node:path';
import type { ConfigSource, MeshFile } from '#generated/config/specs.ts';
import type { Config } from '../config/config.ts';
import type { LastGoodStorage } from '../config/last-good.ts';
import { LIMITS } from '../config/limits.ts';
import { MESH, MESH_KEY } from '../config/mesh-files.ts';
import { parseFile } from '../config/parse.ts';
import type { AddressAllocation } from '../model/vip.ts';
import type { JwksFetchMode } from '../pipeline/key-sets.ts';
import { listenerSwitches } from '../pipeline/listener-switches.ts';
import type { MeshOptions } from '../pipeline/options.ts';
import { DEFAULT_MESH_OPTIONS } from '../pipeline/options.ts';
import type { Environment } from '../process/environment.ts';
import { fileText } from '../sources/read-file.ts';
import { FILE_SOURCE, MESH_FILE } from './sources.ts';

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

/**
 * The `env` of mesh.yaml, as it stands when the process starts; where mesh.yaml can not be taken, that of its last good version.
 *
 * @param lastGood copies of an earlier process
 */
export function readEnvironment(root: string, lastGood?: LastGoodStorage): Readonly<Record<string, string>> {
  return readMesh(root, lastGood)?.env ?? {};
}

/** `configSources` of mesh.yaml, read in the same way. */
export function listedSources(root: string, lastGood?: LastGoodStorage): readonly ConfigSource[] {
  return (readMesh(root, lastGood)?.configSources ?? []).filter(({ address = '' }) => address !== '');
}

function readMesh(root: string, lastGood: LastGoodStorage | undefined): MeshFile | undefined {
  let text: string | undefined;
  try {
    text = fileText(join(root, MESH_FILE), LIMITS.fileBytes);
    if (text === undefined) return undefined;
  } catch {
    // That it can not be read is a finding of its source.
  }
  const copy = () => lastGood?.load(FILE_SOURCE).find(({ key }) => key === MESH_KEY)?.text;
  return (text === undefined ? undefined : meshIn(text)) ?? meshIn(copy() ?? '');
}

/** @returns undefined when the text can not be taken as mesh.yaml */
function meshIn(text: string): MeshFile | undefined {
  const { configs } = parseFile(MESH_FILE, text, { source: '', namespace: '', strict: false, whole: MESH });
  return (configs[0] as Config<MeshFile> | undefined)?.spec;
}

export function isFalse(value: string | undefined): boolean {
  return /^(0|f|false)$/i.test(value ?? '');
}

function isTrue(value: string | undefined): boolean {
  return /^(1|t|true)$/i.test(value ?? '');
}

/** Istio knows true (its default) and false. `status` is ours: there, addresses stand in the objects' status and nowhere else. */
function addressAllocation(value = ''): AddressAllocation {
  if (isFalse(value)) return 'table-only';
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
    multiRootMesh: isTrue(env['ISTIO_MULTIROOT_MESH']),
    listeners: listenerSwitches(env),
    variable: (name) => env[name] ?? '',
  };
}

/** `CHECK_STRICT`: what is only likely a mistake counts as one. */
export function strictChecks(env: Environment): boolean {
  return isTrue(env['CHECK_STRICT']);
}

/** `XDS_AUTH`: whether clients over TLS have to prove who they are; true unless it is said to be false. */
export function authenticatesClients(env: Environment): boolean {
  return !isFalse(env['XDS_AUTH']);
}

/** `PILOT_ENABLE_XDS_IDENTITY_CHECK`: whether nodes have to be what their certificates and tokens say; true unless it is false. */
export function checksIdentities(env: Environment): boolean {
  return !isFalse(env['PILOT_ENABLE_XDS_IDENTITY_CHECK']);
}
