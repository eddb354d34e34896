import type { ServerTLSSettings, TLSConfig } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { isCipherSuite } from '../../config/kinds/server-tls.ts';
import {
  ALPN_HTTP,
  type CertificateValidationContext,
  type CommonTlsContext,
  credentialRoots,
  credentialSecret,
  downstreamTlsSocket,
  exactNames,
  meshTcpServerAlpn,
  readsOwnFiles,
  type SecretSockets,
  serverIdentity,
  validation,
} from '../tls-context.ts';

type TlsParameters = envoy.extensions.transport_sockets.tls.v3.TlsParameters;
type TransportSocket = envoy.config.core.v3.TransportSocket;

const VERSIONS: Readonly<Record<string, TlsParameters['tlsMinimumProtocolVersion']>> = {
  TLSV1_0: 'TLSv1_0',
  TLSV1_1: 'TLSv1_1',
  TLSV1_2: 'TLSv1_2',
  TLSV1_3: 'TLSv1_3',
};

/** What the server asks for, over what the mesh has as its default. */
function tlsParams(settings: ServerTLSSettings, defaults: TLSConfig | undefined): Pick<CommonTlsContext, 'tlsParams'> {
  const chosen = (own: readonly string[] | undefined, mesh: readonly string[] | undefined) =>
    own !== undefined && own.length > 0 ? own : (mesh ?? []);
  const ciphers = [...new Set((settings.cipherSuites ?? []).filter(isCipherSuite))];
  const cipherSuites = chosen(ciphers, defaults?.cipherSuites);
  const ecdhCurves = chosen(settings.ecdhCurves, defaults?.ecdhCurves);
  const minimum = VERSIONS[settings.minProtocolVersion ?? ''] ?? VERSIONS[defaults?.minProtocolVersion ?? ''];
  const maximum = VERSIONS[settings.maxProtocolVersion ?? ''];
  const params: TlsParameters = {
    ...(minimum === undefined ? {} : { tlsMinimumProtocolVersion: minimum }),
    ...(maximum === undefined ? {} : { tlsMaximumProtocolVersion: maximum }),
    ...(cipherSuites.length > 0 ? { cipherSuites } : {}),
    ...(ecdhCurves.length > 0 ? { ecdhCurves } : {}),
  };
  return Object.keys(params).length > 0 ? { tlsParams: params } : {};
}

/** @param ownFiles files are read on the node's machine */
function clientConditions(
  settings: ServerTLSSettings,
  byCredential: boolean,
  ownFiles: boolean,
): CertificateValidationContext {
  const names = exactNames(settings.subjectAltNames);
  return {
    ...(names === undefined ? {} : { matchSubjectAltNames: names }),
    ...(byCredential && settings.verifyCertificateSpki
      ? { verifyCertificateSpki: settings.verifyCertificateSpki }
      : {}),
    ...(byCredential && settings.verifyCertificateHash
      ? { verifyCertificateHash: settings.verifyCertificateHash }
      : {}),
    ...(!byCredential && ownFiles && settings.caCrl ? { crl: { filename: settings.caCrl } } : {}),
    ...(settings.insecureSkipVerify ? { trustChainVerification: 'ACCEPT_UNTRUSTED' as const } : {}),
  };
}

/** Certificates that this control plane, or another server of secrets, hands out by name. */
function credentialIdentity(
  { settings, sockets, agent, omitsIdleNames = false }: ServerTls,
  checksClients: boolean,
): CommonTlsContext {
  const { credentialName = '', credentialNames = [], caCertCredentialName = '', subjectAltNames } = settings;
  const own = credentialNames.length > 0 ? credentialNames : [credentialName];
  const roots =
    caCertCredentialName === ''
      ? credentialRoots(own[0] ?? '', sockets, agent)
      : credentialSecret(caCertCredentialName, sockets, agent);
  const names = exactNames(subjectAltNames);
  return {
    tlsCertificateSdsSecretConfigs: own.map((name) => credentialSecret(name, sockets, agent)),
    ...(checksClients
      ? validation(roots, clientConditions(settings, true, true))
      : names === undefined || omitsIdleNames
        ? {}
        : { validationContext: { matchSubjectAltNames: names } }),
  };
}

export interface ServerTls {
  readonly settings: ServerTLSSettings;
  /** MeshConfig `tlsDefaults`. */
  readonly defaults: TLSConfig | undefined;
  /** The proxy's own certificate in files; empty texts: from its agent. */
  readonly serverFiles: { readonly certificate: string; readonly privateKey: string; readonly roots: string };
  readonly sockets: SecretSockets;
  /** Of the mesh's TLS around what is not HTTP: proxies tell each other over ALPN who they are. */
  readonly tcp?: { readonly peerExchange: boolean };
  /** The node has an agent, which serves its files; absent: true. */
  readonly agent?: boolean;
  /** Names that no certificate is compared with are left out: an Envoy refuses them, although istiod sends them. */
  readonly omitsIdleNames?: boolean;
}

function fileIdentity({ settings, serverFiles, sockets, agent }: ServerTls, checksClients: boolean): CommonTlsContext {
  const { mode, tlsCertificates = [], serverCertificate = '', privateKey = '', caCertificates = '' } = settings;
  const { caCrl = '' } = settings;
  const conditions = checksClients ? clientConditions(settings, false, readsOwnFiles(sockets, agent)) : undefined;
  if (mode === 'ISTIO_MUTUAL') {
    return serverIdentity({ certificates: [serverFiles], roots: serverFiles.roots }, sockets, conditions);
  }
  const pairs =
    tlsCertificates.length > 0
      ? tlsCertificates.map((pair) => ({
          certificate: pair.serverCertificate ?? '',
          privateKey: pair.privateKey ?? '',
        }))
      : [{ certificate: serverCertificate, privateKey }];
  const files = { certificates: pairs, roots: caCertificates, revocations: caCrl };
  return serverIdentity(files, sockets, conditions, agent);
}

/**
 * TLS in a server's own words, in the place of the mesh's.
 * @see istio/istio pilot/pkg/networking/core/listener.go `BuildListenerTLSContext`
 */
export function serverTlsSocket(tls: ServerTls): TransportSocket {
  const { settings, defaults, tcp } = tls;
  const mode = settings.mode ?? 'PASSTHROUGH';
  const requires = mode === 'MUTUAL' || mode === 'ISTIO_MUTUAL';
  const checks = requires || mode === 'OPTIONAL_MUTUAL';
  const named = (settings.credentialNames ?? []).length > 0 || (settings.credentialName ?? '') !== '';
  const ownParams = mode === 'SIMPLE' || mode === 'MUTUAL' || mode === 'OPTIONAL_MUTUAL';
  return downstreamTlsSocket({
    requireClientCertificate: requires,
    commonTlsContext: {
      alpnProtocols: tcp && mode === 'ISTIO_MUTUAL' ? meshTcpServerAlpn(tcp.peerExchange) : ALPN_HTTP,
      ...(named && mode !== 'ISTIO_MUTUAL' ? credentialIdentity(tls, checks) : fileIdentity(tls, checks)),
      ...(ownParams ? tlsParams(settings, defaults) : {}),
    },
  });
}
