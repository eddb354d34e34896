import type { ClientTLSSettings, DestinationRule } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';

function outcome({ credentialName = '', insecureSkipVerify }: ClientTLSSettings): string {
  if (insecureSkipVerify === true)
    return 'the certificates of servers are not checked: with caCertificates they would be';
  if (credentialName !== '') {
    return 'only gateways take the roots from the secret of credentialName, sidecars those of their operating system: add a workloadSelector or caCertificates';
  }
  return 'any server passes whose certificate is from a root of the operating system: name the roots in caCertificates';
}

function* ofSettings(at: Place, tls: ClientTLSSettings | undefined, bySecret: boolean, code: 'IST0128' | 'IST0129') {
  if (tls === undefined || (tls.mode !== 'SIMPLE' && tls.mode !== 'MUTUAL')) return;
  const { mode, caCertificates = '', credentialName = '' } = tls;
  if (caCertificates !== '' || (credentialName !== '' && bySecret)) return;
  yield at.at('mode').warning(`with mode ${mode} and without caCertificates, ${outcome(tls)}`, code);
}

/**
 * TLS by which a client can not tell whether it reached the right server.
 *
 * @see istio/istio pkg/config/analysis/analyzers/destinationrule/ca-certificates.go
 */
export function* unverifiedServers(
  at: Place,
  { trafficPolicy, workloadSelector }: Pick<DestinationRule, 'trafficPolicy' | 'workloadSelector'>,
): Generator<Finding> {
  const bySecret = workloadSelector !== undefined;
  yield* ofSettings(at.at('tls'), trafficPolicy?.tls, bySecret, 'IST0128');
  for (const [i, { tls }] of (trafficPolicy?.portLevelSettings ?? []).entries()) {
    yield* ofSettings(at.at('portLevelSettings', i, 'tls'), tls, bySecret, 'IST0129');
  }
}
