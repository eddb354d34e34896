import type { ClientTLSSettings, TLSConfig } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import {
  ALPN_H2_ONLY,
  type CertificateValidationContext,
  type CommonTlsContext,
  credentialRoots,
  credentialSecret,
  exactNames,
  fileCertificate,
  fileRoots,
  meshClientAlpn,
  readsOwnFiles,
  upstreamTlsSocket,
  validation,
  workloadIdentity,
} from '../tls-context.ts';
import type { TlsSettings } from './tls-settings.ts';
import type { ClusterView } from './view.ts';

type Cluster = envoy.config.cluster.v3.Cluster;
type TransportSocket = envoy.config.core.v3.TransportSocket;
type UpstreamTlsContext = envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext;

export interface UpstreamTlsInput {
  readonly tls: TlsSettings | undefined;
  readonly clusterName: string;
  readonly view: Pick<ClusterView, 'type' | 'peerExchange' | 'sds' | 'secretSockets'>;
  /** It speaks HTTP/2 and nothing else. */
  readonly http2: boolean;
  /** The address is found by the request's host, so names are those of the request. */
  readonly dynamicDns: boolean;
  /** The rule chooses workloads: only then may a sidecar be told of a secret that others could not read. */
  readonly ruleSelectsWorkloads: boolean;
  /** SANs that a ServiceEntry expects of its servers, used when the rule names none. */
  readonly serviceEntryNames?: readonly string[] | undefined;
  /** MeshConfig `tlsDefaults`. */
  readonly tlsDefaults?: TLSConfig | undefined;
}

export interface UpstreamTls {
  /** Undefined: plaintext. */
  readonly context?: UpstreamTlsContext;
  /** The request's host is to be the SNI, and the name to expect in the certificate. */
  readonly autoSni: boolean;
  readonly autoSanValidation: boolean;
  /** For `envoy.clusters.dynamic_forward_proxy`, which refuses to be without both otherwise. */
  readonly insecure: boolean;
}

const PLAINTEXT: UpstreamTls = { autoSni: false, autoSanValidation: false, insecure: false };

const CLIENT_TLS_PARAMS: NonNullable<CommonTlsContext['tlsParams']> = {
  tlsMinimumProtocolVersion: 'TLSv1_2',
  tlsMaximumProtocolVersion: 'TLSv1_3',
};

/** @see istio/istio pilot/pkg/networking/core/cluster_tls.go `buildUpstreamClusterTLSContext` */
export function upstreamTls(input: UpstreamTlsInput): UpstreamTls {
  const settings = input.tls?.settings;
  switch (settings?.mode) {
    case 'ISTIO_MUTUAL':
      return input.view.sds ? meshTls(settings, input) : PLAINTEXT;
    case 'SIMPLE':
    case 'MUTUAL':
      return isWithheld(settings, input) ? PLAINTEXT : rulesTls(settings, input);
    default:
      return PLAINTEXT;
  }
}

function isWithheld(
  { credentialName = '' }: ClientTLSSettings,
  { view, ruleSelectsWorkloads }: UpstreamTlsInput,
): boolean {
  if (credentialName === '' || credentialName.startsWith('configmap://')) return false;
  return view.type === 'sidecar' && !ruleSelectsWorkloads;
}

function meshTls(settings: ClientTLSSettings, input: UpstreamTlsInput): UpstreamTls {
  const { view, http2, dynamicDns, clusterName } = input;
  const sni = settings.sni || (dynamicDns ? '' : clusterName);
  const context: UpstreamTlsContext = {
    commonTlsContext: {
      tlsParams: CLIENT_TLS_PARAMS,
      ...workloadIdentity(namesToExpect(settings.subjectAltNames)),
      alpnProtocols: meshClientAlpn(http2, view.peerExchange),
    },
    ...(sni ? { sni } : {}),
  };
  return { context, ...(dynamicDns ? namesOfRequest(settings, true) : NAMES_AS_GIVEN) };
}

function rulesTls(settings: ClientTLSSettings, input: UpstreamTlsInput): UpstreamTls {
  const { tlsDefaults: { ecdhCurves = [], cipherSuites = [] } = {} } = input;
  const names = namesOfRequest(settings, input.dynamicDns);
  const own = settings.subjectAltNames ?? [];
  const secrets = settings.credentialName
    ? credentialContext(settings, own.length > 0 ? own : input.serviceEntryNames, input)
    : fileContext(settings, own.length > 0 ? own : input.serviceEntryNames, input);
  if (secrets === undefined) return { ...names };
  const context: UpstreamTlsContext = {
    commonTlsContext: {
      tlsParams: {
        ...CLIENT_TLS_PARAMS,
        ...(ecdhCurves.length > 0 ? { ecdhCurves } : {}),
        ...(cipherSuites.length > 0 ? { cipherSuites } : {}),
      },
      ...secrets,
      ...(input.http2 ? { alpnProtocols: ALPN_H2_ONLY } : {}),
    },
    ...(settings.sni ? { sni: settings.sni } : {}),
  };
  return { context, ...names };
}

function credentialContext(
  settings: ClientTLSSettings,
  names: readonly string[] | undefined,
  { view: { secretSockets, sds } }: UpstreamTlsInput,
): CommonTlsContext {
  const { credentialName = '', insecureSkipVerify } = settings;
  return {
    ...(settings.mode === 'MUTUAL'
      ? { tlsCertificateSdsSecretConfigs: [credentialSecret(credentialName, secretSockets, sds)] }
      : {}),
    ...(insecureSkipVerify
      ? {}
      : validation(credentialRoots(credentialName, secretSockets, sds), namesToExpect(names))),
  };
}

/** The roots of the operating system. */
const SYSTEM_ROOTS = 'system';

/** @returns undefined when there is no certificate to show */
function fileContext(
  settings: ClientTLSSettings,
  names: readonly string[] | undefined,
  input: UpstreamTlsInput,
): CommonTlsContext | undefined {
  const { sds, secretSockets } = input.view;
  const { mode, clientCertificate = '', privateKey = '', caCertificates, insecureSkipVerify, caCrl } = settings;
  if (mode === 'MUTUAL' && (clientCertificate === '' || privateKey === '')) return undefined;
  const roots = caCertificates || SYSTEM_ROOTS;
  const conditions: CertificateValidationContext = {
    ...(caCrl && (readsOwnFiles(secretSockets, sds) || roots === SYSTEM_ROOTS) ? { crl: { filename: caCrl } } : {}),
    ...namesToExpect(names),
  };
  const certificate = fileCertificate(clientCertificate, privateKey, secretSockets, sds);
  return {
    ...(mode === 'MUTUAL' ? { tlsCertificateSdsSecretConfigs: [certificate] } : {}),
    ...(insecureSkipVerify ? { validationContext: {} } : validated(roots, caCrl, conditions, input)),
  };
}

/** Without an agent an Envoy finds the roots of its operating system itself. */
function validated(
  roots: string,
  revocations: string | undefined,
  conditions: CertificateValidationContext,
  { view: { sds, secretSockets } }: UpstreamTlsInput,
): CommonTlsContext {
  if (!sds && roots === SYSTEM_ROOTS && conditions.crl === undefined) {
    return { validationContext: { systemRootCerts: {}, ...conditions } };
  }
  return validation(fileRoots(roots, secretSockets, sds, revocations), conditions);
}

function namesToExpect(names: readonly string[] | undefined): CertificateValidationContext {
  const matchSubjectAltNames = exactNames(names);
  return matchSubjectAltNames === undefined ? {} : { matchSubjectAltNames };
}

const NAMES_AS_GIVEN: Omit<UpstreamTls, 'context'> = { autoSni: false, autoSanValidation: false, insecure: false };

/** @see istio/istio pilot/pkg/networking/core/cluster_tls.go `setAutoSniAndAutoSanValidation` */
function namesOfRequest(settings: ClientTLSSettings, dynamicDns: boolean): Omit<UpstreamTls, 'context'> {
  const { sni = '', subjectAltNames = [], insecureSkipVerify = false } = settings;
  const autoSni = sni === '';
  const autoSanValidation = !insecureSkipVerify && (dynamicDns || (autoSni && subjectAltNames.length === 0));
  return { autoSni, autoSanValidation, insecure: dynamicDns && !(autoSni && autoSanValidation) };
}

const RAW_BUFFER: NonNullable<TransportSocket['typedConfig']> = {
  '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.raw_buffer.v3.RawBuffer',
};

export interface TransportInput {
  readonly tls: TlsSettings | undefined;
  readonly context: UpstreamTlsContext | undefined;
  /** Endpoints can say what they accept: not where the client chose the address. */
  readonly matchesEndpoints: boolean;
  readonly proxyProtocol: 'V1' | 'V2' | undefined;
}

/** How bytes go to the endpoints: the same way to all, or as each of them says. */
export function transport({ tls, context, matchesEndpoints, proxyProtocol }: TransportInput): Cluster {
  const wrap = (socket: TransportSocket): TransportSocket =>
    proxyProtocol === undefined ? socket : withProxyProtocol(socket, proxyProtocol);
  if (context === undefined) {
    if (proxyProtocol === undefined) return {};
    return { transportSocket: wrap({ name: 'raw_buffer', typedConfig: RAW_BUFFER }) };
  }
  const socket = wrap(upstreamTlsSocket(context));
  if (!matchesEndpoints || tls?.auto !== true || tls.settings.mode !== 'ISTIO_MUTUAL')
    return { transportSocket: socket };
  return {
    transportSocketMatches: [
      { name: 'tlsMode-istio', match: { tlsMode: 'istio' }, transportSocket: socket },
      {
        name: 'tlsMode-disabled',
        match: {},
        transportSocket: wrap({ name: 'envoy.transport_sockets.raw_buffer', typedConfig: RAW_BUFFER }),
      },
    ],
  };
}

function withProxyProtocol(transportSocket: TransportSocket, version: 'V1' | 'V2'): TransportSocket {
  return {
    name: 'envoy.transport_sockets.upstream_proxy_protocol',
    typedConfig: {
      '@type':
        'type.googleapis.com/envoy.extensions.transport_sockets.proxy_protocol.v3.ProxyProtocolUpstreamTransport',
      config: version === 'V2' ? { version } : {},
      transportSocket,
    },
  };
}
