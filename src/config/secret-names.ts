/** The certificate and key in files, as a proxy asks for them. @see istio/istio pkg/security/security.go `SdsCertificateConfig` */
export function fileCertificateName(certificate: string, privateKey: string): string {
  return `file-cert:${certificate}~${privateKey}`;
}

/** Roots in a file, as a proxy asks for them; with a list of revoked certificates only where this control plane reads both. */
export function fileRootsName(path: string, revocations: string = ''): string {
  return revocations === '' ? `file-root:${path}` : `file-root:${path}~${revocations}`;
}

/** What stands at the end of a name when the roots are meant that belong to a certificate, or that stand by themselves. */
export const ROOTS_SUFFIX = '-cacert';

/** A Secret of the proxy's own namespace. */
export const SECRET_SCHEME = 'kubernetes://';
/** A Secret that a Gateway of the Gateway API names with its namespace. */
export const GATEWAY_SECRET_SCHEME = 'kubernetes-gateway://';
/** A ConfigMap with roots. */
export const CONFIG_MAP_SCHEME = 'configmap://';

/** An object by its namespace and name. */
export interface NamespacedName {
  readonly namespace: string;
  readonly name: string;
}

/** @returns undefined unless the name is of the form `SCHEME//namespace/name` */
export function namespacedName(resource: string, scheme: string): NamespacedName | undefined {
  if (!resource.startsWith(scheme)) return undefined;
  const [namespace = '', name = ''] = resource.slice(scheme.length).split('/');
  return namespace === '' || name === '' ? undefined : { namespace, name };
}
