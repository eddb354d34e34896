import type { ClientTLSSettings, DestinationRule, Gateway, ServerTLSSettings } from '#generated/config/specs.ts';
import type { Config } from './config.ts';
import { fileCertificateName, fileRootsName } from './secret-names.ts';

/** Files with certificates, as a proxy asks for them. Paths are as written: relative to the working directory, or absolute. */
export type FileSecret =
  | { readonly name: string; readonly certificate: string; readonly privateKey: string }
  | { readonly name: string; readonly roots: string; readonly revocations?: string };

/** The roots of the operating system, which are no file of ours. */
const SYSTEM_ROOTS = 'system';

function certificate(path: string | undefined, privateKey: string | undefined): readonly FileSecret[] {
  return path && privateKey ? [{ name: fileCertificateName(path, privateKey), certificate: path, privateKey }] : [];
}

function roots(path: string | undefined, revocations: string | undefined): readonly FileSecret[] {
  if (!path || path === SYSTEM_ROOTS) return [];
  return [{ name: fileRootsName(path, revocations), roots: path, ...(revocations && { revocations }) }];
}

/** What a server of a Gateway needs of files. */
export function fileSecretsOfServer(tls: ServerTLSSettings | undefined): readonly FileSecret[] {
  const { mode = 'PASSTHROUGH', credentialName = '', credentialNames = [], caCertificates, caCrl } = tls ?? {};
  const checks = mode === 'MUTUAL' || mode === 'OPTIONAL_MUTUAL';
  if (mode !== 'SIMPLE' && !checks) return [];
  if (credentialName !== '' || credentialNames.length > 0) return [];
  const { tlsCertificates = [], serverCertificate, privateKey } = tls ?? {};
  const own =
    tlsCertificates.length > 0
      ? tlsCertificates.flatMap((pair) => certificate(pair.serverCertificate, pair.privateKey))
      : certificate(serverCertificate, privateKey);
  return [...own, ...(checks ? roots(caCertificates, caCrl) : [])];
}

function fileSecretsOfClient(tls: ClientTLSSettings | undefined): readonly FileSecret[] {
  const { mode, credentialName = '', clientCertificate, privateKey, caCertificates, caCrl } = tls ?? {};
  if ((mode !== 'SIMPLE' && mode !== 'MUTUAL') || credentialName !== '') return [];
  return [...(mode === 'MUTUAL' ? certificate(clientCertificate, privateKey) : []), ...roots(caCertificates, caCrl)];
}

function fileSecretsOfRule({ trafficPolicy, subsets = [] }: DestinationRule): readonly FileSecret[] {
  return [trafficPolicy, ...subsets.map((subset) => subset.trafficPolicy)].flatMap((policy) => [
    ...fileSecretsOfClient(policy?.tls),
    ...(policy?.portLevelSettings ?? []).flatMap(({ tls }) => fileSecretsOfClient(tls)),
  ]);
}

/** What an object names of files, for proxies that have no agent which reads them. */
export function fileSecretsIn({ group, kind, spec }: Config): readonly FileSecret[] {
  if (group !== 'networking.istio.io') return NONE;
  if (kind === 'Gateway') return ((spec as Gateway).servers ?? []).flatMap(({ tls }) => fileSecretsOfServer(tls));
  return kind === 'DestinationRule' ? fileSecretsOfRule(spec as DestinationRule) : NONE;
}

const NONE: readonly FileSecret[] = [];
