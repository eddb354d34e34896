import type {
  DefaultTrafficPolicy,
  HTTPRetry,
  MeshFile as MeshFileSpec,
  MeshNetworks as MeshNetworksSpec,
  Network,
} from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import { parseDuration } from '../../base/duration.ts';
import { parsedObject } from '../../base/json.ts';
import { nearestName } from '../../base/nearest-name.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition, type ObjectMeta } from '../kind.ts';
import { MeshFile } from '../schema/mesh-config.ts';
import { MeshNetworks } from '../schema/mesh-networks.ts';
import { sourceProblem } from '../source-address.ts';
import { VARIABLES, variableProblem } from '../variables.ts';
import { subnetProblem } from './addresses.ts';
import { connectionPoolFindings, outlierDetectionFindings } from './connection-pool.ts';
import { extensionProvidersFindings } from './extension-provider.ts';
import { localityLbFindings, zoneAwareLbFindings } from './locality.ts';
import { meshProxyFindings } from './mesh-proxy.ts';
import { hostProblem, isDnsLabel, problem, wildcardHostProblem } from './names.ts';
import { retryFindings } from './retry.ts';
import { ignoredNames } from './server-tls.ts';

/** For `validateSpec` of a file that is no object. */
export const NO_METADATA: ObjectMeta = { name: '', namespace: '', labels: {}, annotations: {} };

const FILE = { group: 'mesh.istio.io', versions: ['v1alpha1'], scope: 'Cluster', specField: 'root' } as const;

/** Curves that Envoy knows. */
const CURVES: ReadonlySet<string> = new Set([
  '',
  'P-224',
  'P-256',
  'P-384',
  'P-521',
  'X25519',
  'X25519Kyber768Draft00',
  'X25519MLKEM768',
]);

function trustDomainProblem(domain: string): string | undefined {
  const labels = domain.replace(/\.$/, '').split('.');
  return labels.every(isDnsLabel) ? undefined : `"${domain}" is not a trust domain: write it as a host name`;
}

function* trustDomainFindings(at: Place, { trustDomain, trustDomainAliases = [] }: MeshFileSpec): Generator<Finding> {
  if (trustDomain !== undefined) yield* problem(at.at('trustDomain'), trustDomainProblem(trustDomain));
  for (const [i, alias] of trustDomainAliases.entries()) {
    yield* problem(at.at('trustDomainAliases', i), trustDomainProblem(alias));
  }
}

function* trafficPolicyFindings(at: Place, policy: DefaultTrafficPolicy | undefined): Generator<Finding> {
  yield* connectionPoolFindings(at.at('connectionPool'), policy?.connectionPool);
  yield* outlierDetectionFindings(at.at('outlierDetection'), policy?.outlierDetection);
}

/** Retries towards the own application: there is but one endpoint, and no time for each try. */
function* inboundRetryFindings(at: Place, retry: HTTPRetry | undefined): Generator<Finding> {
  if (retry === undefined) return;
  yield* retryFindings(at, retry);
  if ((retry.attempts ?? 0) === 0 && retry.backoff !== undefined) {
    yield at.at('backoff').error('0 attempts switch retries off: remove it');
  }
  for (const name of ['perTryTimeout', 'retryRemoteLocalities', 'retryIgnorePreviousHosts'] as const) {
    if (retry[name] !== undefined) yield at.at(name).warning('has no effect on inbound requests: remove it');
  }
}

function* logFormatFindings(at: Place, { accessLogEncoding, accessLogFormat = '' }: MeshFileSpec): Generator<Finding> {
  if (accessLogEncoding !== 'JSON' || accessLogFormat === '' || parsedObject(accessLogFormat) !== undefined) return;
  yield at.warning('is no JSON object, so the default format is used; accessLogEncoding: TEXT takes a line of text');
}

function* tlsFindings(at: Place, { meshMTLS, tlsDefaults }: MeshFileSpec): Generator<Finding> {
  if (meshMTLS?.ecdhCurves !== undefined) {
    yield at.at('meshMTLS', 'ecdhCurves').error('the curves between proxies can not be chosen: remove it');
  }
  yield* ignoredNames(at.at('tlsDefaults', 'ecdhCurves'), tlsDefaults?.ecdhCurves ?? [], (name) => CURVES.has(name));
}

function* sourceFindings(at: Place, sources: MeshFileSpec['configSources'] = []): Generator<Finding> {
  for (const [i, source] of sources.entries()) {
    const { field, message } = sourceProblem(source) ?? {};
    if (field !== undefined) yield at.at(i, field).warning(message ?? '');
  }
}

/** Others may be for agents, which read the file, too: only what looks like a slip is told. */
function* variableFindings(at: Place, env: Readonly<Record<string, string>>): Generator<Finding> {
  const known = [...VARIABLES.translation.keys(), ...VARIABLES.server.keys()];
  for (const [name, value] of Object.entries(env)) {
    yield* problem(at.at(name), variableProblem(name, value), 'warning');
    const meant = known.includes(name) ? undefined : nearestName(name, known, 2);
    if (meant !== undefined) yield at.at(name).warning(`"${name}" has no effect; did you mean "${meant}"?`);
  }
}

/**
 * The file mesh.yaml, read with `validateSpec` like an object.
 *
 * @see istio/istio pkg/config/validation/agent/validation.go `ValidateMeshConfig`
 */
export const MESH_FILE: KindDefinition<MeshFileSpec> = defineKind({
  ...FILE,
  kind: 'MeshConfig',
  plural: 'meshconfigs',
  schema: MeshFile,
  *validate({ spec, at }) {
    const detection = parseDuration(spec.protocolDetectionTimeout ?? '0') ?? 0;
    if (!Number.isInteger(Math.round(detection * 1e6) / 1e6)) {
      yield at('protocolDetectionTimeout').error('must be whole milliseconds');
    }
    yield* meshProxyFindings(at('defaultConfig'), spec.defaultConfig);
    yield* localityLbFindings(at('localityLbSetting'), spec.localityLbSetting, {});
    yield* zoneAwareLbFindings(at('zoneAwareLbSetting'), spec.zoneAwareLbSetting, {});
    for (const [i, { hosts = [] }] of (spec.serviceSettings ?? []).entries()) {
      for (const [j, host] of hosts.entries()) {
        yield* problem(at('serviceSettings', i, 'hosts', j), wildcardHostProblem(host));
      }
    }
    yield* variableFindings(at('env'), spec.env ?? {});
    yield* sourceFindings(at('configSources'), spec.configSources);
    yield* trustDomainFindings(at(), spec);
    yield* logFormatFindings(at('accessLogFormat'), spec);
    yield* extensionProvidersFindings(at('extensionProviders'), spec.extensionProviders ?? []);
    yield* tlsFindings(at(), spec);
    yield* trafficPolicyFindings(at('defaultTrafficPolicy'), spec.defaultTrafficPolicy);
    yield* inboundRetryFindings(at('defaultInboundHttpRetryPolicy'), spec.defaultInboundHttpRetryPolicy);
    for (const [i, namespace] of (spec.namespaces ?? []).entries()) {
      if (!isDnsLabel(namespace)) yield at('namespaces', i).error(`"${namespace}" is not a namespace`);
    }
  },
});

function* networkFindings(at: Place, { endpoints = [], gateways = [] }: Network): Generator<Finding> {
  for (const [i, { fromCidr, fromRegistry }] of endpoints.entries()) {
    if (fromCidr !== undefined) yield* problem(at.at('endpoints', i, 'fromCidr'), subnetProblem(fromCidr));
    if (fromRegistry !== undefined && !isDnsLabel(fromRegistry)) {
      yield at.at('endpoints', i, 'fromRegistry').error(`"${fromRegistry}" is not the name of a registry`);
    }
  }
  for (const [i, { registryServiceName, address }] of gateways.entries()) {
    const place = at.at('gateways', i);
    if (registryServiceName !== undefined) {
      yield* problem(place.at('registryServiceName'), hostProblem(registryServiceName));
    }
    if (address !== undefined && !isIpAddress(address) && hostProblem(address) !== undefined) {
      yield place.at('address').error(`"${address}" is neither an IP address nor a host name`);
    }
  }
}

/**
 * The file meshNetworks.yaml, read with `validateSpec` like an object.
 *
 * @see istio/istio pkg/config/validation/agent/validation.go `ValidateMeshNetworks`
 */
export const MESH_NETWORKS: KindDefinition<MeshNetworksSpec> = defineKind({
  ...FILE,
  kind: 'MeshNetworks',
  plural: 'meshnetworks',
  schema: MeshNetworks,
  *validate({ spec, at }) {
    for (const [name, network] of Object.entries(spec.networks ?? {})) {
      yield* networkFindings(at('networks', name), network);
    }
  },
});
