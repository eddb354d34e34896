import type { Gateway, ServerTLSSettings } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import type { Analyzer } from './analyzer.ts';
import { listed } from './names.ts';

/** By what a server's certificate is known: its secret, or its files; undefined when it has none of its own. */
export function certificateName(tls: ServerTLSSettings | undefined): string | undefined {
  if (tls === undefined) return undefined;
  const { credentialName = '', serverCertificate = '', privateKey = '' } = tls;
  if (credentialName !== '') return `secret ${credentialName}`;
  return serverCertificate === '' || privateKey === '' ? undefined : `files ${serverCertificate} ${privateKey}`;
}

/**
 * A certificate in several Gateways for the same proxies: clients that reuse a connection for the hosts of both get 404.
 *
 * @see istio/istio pkg/config/analysis/analyzers/gateway/certificate.go
 */
export const SHARED_CERTIFICATES: Analyzer<Gateway> = {
  kinds: ['Gateway'],
  *findings({ key, spec }, facts) {
    for (const [i, { tls }] of (spec.servers ?? []).entries()) {
      const certificate = certificateName(tls);
      if (certificate === undefined) continue;
      const others = facts.gatewaysWithCertificate(key, certificate);
      if (others.length === 0) continue;
      const field = certificate.startsWith('secret') ? 'credentialName' : 'serverCertificate';
      yield placeOf(['spec', 'servers', i, 'tls', field]).warning(
        `Gateway ${listed(others)} has this certificate, too: clients that reuse an HTTP/2 connection for hosts of both get 404; put the servers into one Gateway`,
        'IST0138',
      );
    }
  },
};
