import type { ClientTLSSettings, TrafficPolicy } from '#generated/config/specs.ts';
import type { MtlsMode } from '../../model/authentication.ts';
import type { Service } from '../../model/service.ts';
import type { ClientFiles } from './view.ts';

/** Whether a service's traffic goes to the address that the client chose, so that no endpoint decides how it is sent. */
function isPassedThrough(service: Pick<Service, 'resolution'>, policy: TrafficPolicy | undefined): boolean {
  return service.resolution === 'Passthrough' || policy?.loadBalancer?.simple === 'PASSTHROUGH';
}

/**
 * What a client takes the servers of a port to accept. Where no endpoint of EDS can say it, all must: one endpoint without
 * mutual TLS makes it plaintext.
 *
 * @param policy of the whole destination (or subset), not of the port
 * @param allSpeakMtls whether every endpoint of the port accepts it, and there is one; asked only when traffic is passed through
 * @returns undefined for services outside the mesh
 * @see istio/istio pilot/pkg/model/push_context.go `BestEffortInferServiceMTLSMode`
 */
export function serverMtlsMode(
  service: Pick<Service, 'resolution' | 'meshExternal'>,
  policy: TrafficPolicy | undefined,
  namespaceMode: MtlsMode | undefined,
  allSpeakMtls: () => boolean,
): MtlsMode | undefined {
  if (service.meshExternal) return undefined;
  if (isPassedThrough(service, policy) && !allSpeakMtls()) return 'DISABLE';
  return namespaceMode ?? 'PERMISSIVE';
}

export interface TlsSettingsInput {
  /** Of the policy. */
  readonly tls: ClientTLSSettings | undefined;
  /** SANs to expect of servers in the mesh. */
  readonly serviceAccounts: readonly string[];
  /** The SNI of mutual TLS in the mesh, or empty. */
  readonly sni: string;
  readonly autoMtls: boolean;
  readonly meshExternal: boolean;
  readonly serverMode: MtlsMode | undefined;
  readonly clientFiles?: ClientFiles | undefined;
}

export interface TlsSettings {
  readonly settings: ClientTLSSettings;
  /** Nobody asked for it: it is used where the endpoint says that it speaks it. */
  readonly auto: boolean;
}

/**
 * How a client is to secure its connections; undefined: not at all.
 * @see istio/istio pilot/pkg/networking/core/cluster_tls.go `buildUpstreamTLSSettings`
 */
export function tlsSettings(input: TlsSettingsInput): TlsSettings | undefined {
  const { tls, serviceAccounts, sni, clientFiles, meshExternal } = input;
  if (tls === undefined) {
    if (meshExternal || !input.autoMtls || input.serverMode === undefined || input.serverMode === 'DISABLE')
      return undefined;
    const settings: ClientTLSSettings = { subjectAltNames: serviceAccounts, sni };
    return {
      settings: clientFiles ? withFiles(settings, clientFiles) : { ...settings, mode: 'ISTIO_MUTUAL' },
      auto: true,
    };
  }
  const { mode = 'DISABLE' } = tls;
  if (mode === 'DISABLE') return undefined;
  if (mode === 'SIMPLE') return { settings: tls, auto: false };
  if (clientFiles !== undefined) {
    // Outside of the mesh the workload's certificates may mean nothing, so what the rule says counts.
    return { settings: meshExternal ? tls : withFiles(tls, clientFiles), auto: false };
  }
  if (mode === 'MUTUAL') return { settings: tls, auto: false };
  const { subjectAltNames = serviceAccounts, insecureSkipVerify } = tls;
  const settings: ClientTLSSettings = {
    mode,
    subjectAltNames,
    sni: tls.sni || sni,
    ...(insecureSkipVerify === undefined ? {} : { insecureSkipVerify }),
  };
  return { settings, auto: false };
}

function withFiles(
  { subjectAltNames = [], sni = '', insecureSkipVerify }: ClientTLSSettings,
  { certificate, privateKey, roots }: ClientFiles,
): ClientTLSSettings {
  return {
    mode: 'MUTUAL',
    clientCertificate: certificate,
    privateKey,
    ...(roots ? { caCertificates: roots } : {}),
    subjectAltNames,
    sni,
    ...(insecureSkipVerify === undefined ? {} : { insecureSkipVerify }),
  };
}
