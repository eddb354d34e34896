import type { ClientTLSSettings } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';

const CONFIG_MAP = 'configmap://';

/** TLS towards a server. @see istio/istio pkg/config/validation/agent/validation.go `ValidateTLS` */
export function* clientTlsFindings(
  at: Place,
  tls: ClientTLSSettings | undefined,
  namespace: string,
): Generator<Finding> {
  if (tls === undefined) return;
  const { mode = 'DISABLE', credentialName = '' } = tls;
  const isSet = (name: 'clientCertificate' | 'privateKey' | 'caCertificates' | 'caCrl') => (tls[name] ?? '') !== '';
  if (credentialName.startsWith(CONFIG_MAP))
    yield* configMapFindings(at.at('credentialName'), credentialName, namespace);
  const verifies = mode === 'SIMPLE' || mode === 'MUTUAL';
  if (tls.insecureSkipVerify === true && verifies) {
    const roots = isSet('caCertificates') || (mode === 'SIMPLE' && credentialName !== '');
    if (roots || tls.subjectAltNames !== undefined) {
      yield at
        .at('insecureSkipVerify')
        .error(
          'the server is not checked, so caCertificates, credentialName and subjectAltNames have no use: remove them',
        );
    }
  }
  if (verifies && credentialName !== '') {
    for (const name of ['clientCertificate', 'privateKey', 'caCertificates', 'caCrl'] as const) {
      if (isSet(name)) yield at.at(name).error('comes from the secret of credentialName: remove one of them');
    }
    return;
  }
  if (mode !== 'MUTUAL') return;
  const missing = (['clientCertificate', 'privateKey'] as const).filter((name) => !isSet(name));
  if (missing.length > 0) {
    yield at.error(`mode MUTUAL needs ${missing.join(' and ')}, or a secret in credentialName`);
  }
}

/** `configmap://namespace/name`. @see istio/istio pilot/pkg/model/credentials/resource.go `ParseResourceName` */
function* configMapFindings(at: Place, credentialName: string, namespace: string): Generator<Finding> {
  const [owner = '', name = ''] = credentialName.slice(CONFIG_MAP.length).split('/');
  if (owner === '' || name === '') {
    yield at.error(`"${credentialName}" must have the form configmap://namespace/name`);
  } else if (owner !== namespace) {
    yield at.error(`the ConfigMap must be in the namespace of the object, "${namespace}"`);
  }
}
