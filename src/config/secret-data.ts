/** Contents in base64, by name. */
export type SecretData = Readonly<Record<string, string | undefined>>;

/** A certificate with its key, as a Secret holds it; all in base64. */
export interface CertificateData {
  /** The names of the entries that it stands in. */
  readonly at: { readonly certificate: string; readonly privateKey: string };
  readonly certificate: string;
  readonly privateKey: string;
  /** An OCSP response for the certificate. */
  readonly staple?: string;
}

/** Certificates of authorities, as a Secret or ConfigMap holds them; all in base64. */
export interface RootsData {
  /** The names of the entries that they stand in. */
  readonly at: { readonly roots: string; readonly revocations: string };
  readonly roots: string;
  /** A list of revoked certificates. */
  readonly revocations?: string;
}

/** Two spellings: that of generic Secrets, which comes first, and that of the type `kubernetes.io/tls`. */
const CERTIFICATE_NAMES = [
  { certificate: 'cert', privateKey: 'key' },
  { certificate: 'tls.crt', privateKey: 'tls.key' },
] as const;
const ROOTS_NAMES = [
  { roots: 'cacert', revocations: 'crl' },
  { roots: 'ca.crt', revocations: 'ca.crl' },
] as const;
const STAPLE = 'tls.ocsp-staple';

/**
 * The certificate and key in a Secret; undefined when it holds none.
 * @see istio/istio pilot/pkg/credentials/kube/secrets.go `ExtractCertInfo`
 */
export function certificateIn(data: SecretData): CertificateData | undefined {
  for (const at of CERTIFICATE_NAMES) {
    const certificate = data[at.certificate];
    const privateKey = data[at.privateKey];
    if (!certificate || !privateKey) continue;
    const staple = at.certificate === 'tls.crt' ? data[STAPLE] : undefined;
    return { at, certificate, privateKey, ...(staple && { staple }) };
  }
  return undefined;
}

/**
 * The roots in a Secret or ConfigMap; undefined when it holds none.
 * @see istio/istio pilot/pkg/credentials/kube/secrets.go `ExtractRoot`
 */
export function rootsIn(data: SecretData): RootsData | undefined {
  for (const at of ROOTS_NAMES) {
    const roots = data[at.roots];
    if (!roots) continue;
    const revocations = data[at.revocations];
    return { at, roots, ...(revocations && { revocations }) };
  }
  return undefined;
}
