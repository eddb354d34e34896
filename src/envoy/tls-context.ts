import type { envoy } from '#generated/proto/types.ts';
import {
  CONFIG_MAP_SCHEME,
  fileCertificateName,
  fileRootsName,
  GATEWAY_SECRET_SCHEME,
  ROOTS_SUFFIX,
  SECRET_SCHEME,
} from '../config/secret-names.ts';

export type CommonTlsContext = envoy.extensions.transport_sockets.tls.v3.CommonTlsContext;
export type SdsSecretConfig = envoy.extensions.transport_sockets.tls.v3.SdsSecretConfig;
export type CertificateValidationContext = envoy.extensions.transport_sockets.tls.v3.CertificateValidationContext;
type StringMatcher = envoy.type.matcher.v3.StringMatcher;
type TransportSocket = envoy.config.core.v3.TransportSocket;

const TLS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3';
const TLS_SOCKET = 'envoy.transport_sockets.tls';

/** The workload's own certificate, which its agent serves. */
const WORKLOAD_SECRET = 'default';
/** The mesh's root certificates, which the workload's agent serves. */
const ROOT_SECRET = 'ROOTCA';

/** ALPN protocols. `istio` marks traffic between proxies, `istio-peer-exchange` that they tell each other who they are. */
export const ALPN_HTTP: readonly string[] = ['h2', 'http/1.1'];
export const ALPN_H2_ONLY: readonly string[] = ['h2'];
const PEER_EXCHANGE = 'istio-peer-exchange';

/** What a client of the mesh offers; `peerExchange` where the proxy has Istio's metadata exchange filter. */
export function meshClientAlpn(http2: boolean, peerExchange: boolean): readonly string[] {
  return [...(peerExchange ? [PEER_EXCHANGE] : []), 'istio', ...(http2 ? ['h2'] : [])];
}

/** What a server of TCP traffic in the mesh accepts; servers of HTTP accept `ALPN_HTTP`. */
export function meshTcpServerAlpn(peerExchange: boolean): readonly string[] {
  return peerExchange ? [PEER_EXCHANGE, ...ALPN_HTTP] : ALPN_HTTP;
}

/** The ciphers of servers in the mesh unless MeshConfig `meshMTLS` names others. */
export const SERVER_CIPHERS: readonly string[] = [
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-GCM-SHA256',
];

/** Sockets for secrets that a node says it has beside its agent's (`credential`, `file-credential` in its metadata). */
export interface SecretSockets {
  /** Serves what `credentialName: sds://…` names. */
  readonly credential: boolean;
  /** Serves `file-cert:` and `file-root:` in the place of the agent. */
  readonly files: boolean;
}

export const NO_SECRET_SOCKETS: SecretSockets = { credential: false, files: false };

/** The cluster to the `credential` socket, and where that socket is. */
export const EXTERNAL_SDS_CLUSTER = 'sds-external';
export const EXTERNAL_SDS_SOCKET = './var/run/secrets/credential-uds/socket';
const EXTERNAL_SDS_PREFIX = 'sds://';

function sdsOverGrpc(name: string, cluster: string, authority?: string): SdsSecretConfig {
  return {
    name,
    sdsConfig: {
      apiConfigSource: {
        apiType: 'GRPC',
        transportApiVersion: 'V3',
        setNodeOnFirstMessageOnly: true,
        grpcServices: [{ envoyGrpc: { clusterName: cluster, ...(authority ? { authority } : {}) } }],
      },
      resourceApiVersion: 'V3',
      // Nothing works without the workload's identity, so the proxy waits for it however long it takes.
      ...(name === WORKLOAD_SECRET || name === ROOT_SECRET ? { initialFetchTimeout: '0s' } : {}),
    },
  };
}

/**
 * A secret that the node's agent serves: `default`, `ROOTCA`, or files.
 * @see istio/istio pkg/model/authentication.go `ConstructSdsSecretConfig`
 */
function agentSecret(name: string): SdsSecretConfig {
  return sdsOverGrpc(name, 'sds-grpc');
}

/** A certificate and its key in files of the node. */
export function fileCertificate(
  certificate: string,
  privateKey: string,
  sockets: SecretSockets,
  agent: boolean = true,
): SdsSecretConfig {
  return fileSecret(fileCertificateName(certificate, privateKey), sockets, agent);
}

/**
 * Root certificates in a file of the node; `system` are those of its operating system.
 * @param revocations a list of revoked certificates, for nodes whose files this control plane reads
 */
export function fileRoots(
  path: string,
  sockets: SecretSockets,
  agent: boolean = true,
  revocations: string = '',
): SdsSecretConfig {
  return fileSecret(fileRootsName(path, readsOwnFiles(sockets, agent) ? '' : revocations), sockets, agent);
}

/** Whether files are read on the node's machine: else they come from this control plane. */
export function readsOwnFiles({ files }: SecretSockets, agent: boolean = true): boolean {
  return files || agent;
}

function fileSecret(name: string, { files }: SecretSockets, agent: boolean): SdsSecretConfig {
  if (files) return sdsOverGrpc(name, 'sds-files-grpc');
  return agent ? sdsOverGrpc(name, 'sds-grpc') : streamSecret(name);
}

/** How long an Envoy without an agent waits for a secret that may never come, before it goes on without: connections then fail. */
const STREAM_SECRET_WAIT = '1s';

/**
 * For a node without an agent, the same names asked for over the stream that it has. Files named in a cluster itself would be
 * no way: an Envoy refuses the whole cluster when one is not there.
 */
function streamSecret(name: string): SdsSecretConfig {
  return { name, sdsConfig: { ads: {}, initialFetchTimeout: STREAM_SECRET_WAIT, resourceApiVersion: 'V3' } };
}

const SCHEMES: readonly string[] = [CONFIG_MAP_SCHEME, SECRET_SCHEME, GATEWAY_SECRET_SCHEME];

/** The name under which a `credentialName` is asked for. @see istio/istio pilot/pkg/model/credentials/resource.go */
function credentialResourceName(name: string): string {
  if (name.startsWith('builtin://')) return WORKLOAD_SECRET;
  if (name.startsWith('invalid://')) return 'invalid://';
  return SCHEMES.some((scheme) => name.startsWith(scheme)) ? name : SECRET_SCHEME + name;
}

/** A server of secrets named by a MeshConfig extension provider: the cluster to it and its hostname. */
export interface SecretProvider {
  readonly cluster: string;
  readonly hostname: string;
}

/**
 * The secret of a `credentialName`: served by this control plane over the stream that the node has already, by the workload's
 * own agent (`builtin://`), or by somebody else (`sds://`).
 *
 * @param agent whether the node has one; one without starts when it has waited a moment, whether or not keys may go to it
 * @see istio/istio pilot/pkg/security/model/authentication.go `ConstructSdsSecretConfigForCredential`
 */
export function credentialSecret(
  name: string,
  sockets: SecretSockets,
  agent: boolean = true,
  provider?: SecretProvider,
): SdsSecretConfig {
  if (name === 'builtin://') return agentSecret(WORKLOAD_SECRET);
  if (name === 'builtin://-cacert') return agentSecret(ROOT_SECRET);
  const external = name.startsWith(EXTERNAL_SDS_PREFIX);
  if (external && sockets.credential) return sdsOverGrpc(name, EXTERNAL_SDS_CLUSTER);
  const resource = external ? name.slice(EXTERNAL_SDS_PREFIX.length) : name;
  if (external && provider !== undefined) return sdsOverGrpc(resource, provider.cluster, provider.hostname);
  // No fetch timeout of 0: the secret may not exist, and that must not hold up everything else.
  if (!agent) return streamSecret(credentialResourceName(resource));
  return { name: credentialResourceName(resource), sdsConfig: { ads: {}, resourceApiVersion: 'V3' } };
}

/** The secret with the roots that belong to a `credentialName`. */
export function credentialRoots(
  name: string,
  sockets: SecretSockets,
  agent: boolean = true,
  provider?: SecretProvider,
): SdsSecretConfig {
  return credentialSecret(name + ROOTS_SUFFIX, sockets, agent, provider);
}

/** Matchers for subject alternative names; undefined, so that the field is absent, when there are none. */
export function exactNames(names: readonly string[] | undefined): readonly StringMatcher[] | undefined {
  return names === undefined || names.length === 0 ? undefined : names.map((exact) => ({ exact }));
}

/** Any identity of one of the trust domains. */
export function trustDomainNames(trustDomains: readonly string[]): readonly StringMatcher[] {
  return trustDomains.map((domain) => ({ prefix: `spiffe://${domain}/` }));
}

/** Validation against roots that come by SDS, and conditions that stand in the configuration. */
export function validation(
  roots: SdsSecretConfig,
  conditions: CertificateValidationContext,
): Pick<CommonTlsContext, 'combinedValidationContext'> {
  return {
    combinedValidationContext: { defaultValidationContext: conditions, validationContextSdsSecretConfig: roots },
  };
}

/** The certificate of the workload and validation of its peer against the mesh's roots. */
export function workloadIdentity(
  conditions: CertificateValidationContext,
): Pick<CommonTlsContext, 'tlsCertificateSdsSecretConfigs' | 'combinedValidationContext'> {
  return {
    tlsCertificateSdsSecretConfigs: [agentSecret(WORKLOAD_SECRET)],
    ...validation(agentSecret(ROOT_SECRET), conditions),
  };
}

/** Where a server's certificates are when they are not the workload's own. */
export interface ServerFiles {
  /** Empty: the workload's own certificate. */
  readonly certificates: readonly { readonly certificate: string; readonly privateKey: string }[];
  /** Absent or empty: the mesh's roots. */
  readonly roots?: string;
  /** A list of revoked certificates beside the roots. */
  readonly revocations?: string;
}

/**
 * Certificates of a server from files of the node or its agent, and validation of clients when it is asked for.
 * @see istio/istio pilot/pkg/security/model/authentication.go `ApplyToCommonTLSContext`
 */
export function serverIdentity(
  files: ServerFiles,
  sockets: SecretSockets,
  clients: CertificateValidationContext | undefined,
  agent: boolean = true,
): Pick<CommonTlsContext, 'tlsCertificateSdsSecretConfigs' | 'combinedValidationContext'> {
  const own = files.certificates.filter(({ certificate, privateKey }) => certificate !== '' && privateKey !== '');
  const roots = files.roots ? fileRoots(files.roots, sockets, agent, files.revocations) : agentSecret(ROOT_SECRET);
  return {
    tlsCertificateSdsSecretConfigs:
      own.length === 0
        ? [agentSecret(WORKLOAD_SECRET)]
        : own.map(({ certificate, privateKey }) => fileCertificate(certificate, privateKey, sockets, agent)),
    ...(clients === undefined ? {} : validation(roots, clients)),
  };
}

/** A transport socket around `envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext`. */
export function upstreamTlsSocket(
  context: envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext,
): TransportSocket {
  return { name: TLS_SOCKET, typedConfig: { '@type': `${TLS}.UpstreamTlsContext`, ...context } };
}

/** A transport socket around `envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext`. */
export function downstreamTlsSocket(
  context: envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext,
): TransportSocket {
  return { name: TLS_SOCKET, typedConfig: { '@type': `${TLS}.DownstreamTlsContext`, ...context } };
}
