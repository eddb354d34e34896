import type { envoy } from '#generated/proto/types.ts';
import type { CertificateData, RootsData } from '../config/secret-data.ts';

type Secret = envoy.extensions.transport_sockets.tls.v3.Secret;

/**
 * A certificate with its key, under the name by which a proxy asks for it.
 * @see istio/istio pilot/pkg/xds/sds.go `toEnvoyTLSSecret`
 */
export function certificateSecret(name: string, { certificate, privateKey, staple }: CertificateData): Secret {
  return {
    name,
    tlsCertificate: {
      certificateChain: { inlineBytes: certificate },
      privateKey: { inlineBytes: privateKey },
      ...(staple ? { ocspStaple: { inlineBytes: staple } } : {}),
    },
  };
}

/**
 * Roots, under the name by which a proxy asks for them.
 * @see istio/istio pilot/pkg/xds/sds.go `toEnvoyCaSecret`
 */
export function rootsSecret(name: string, { roots, revocations }: Omit<RootsData, 'at'>): Secret {
  return {
    name,
    validationContext: {
      trustedCa: { inlineBytes: roots },
      ...(revocations ? { crl: { inlineBytes: revocations } } : {}),
    },
  };
}
