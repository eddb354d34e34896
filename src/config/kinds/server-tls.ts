import type { ServerTLSSettings, ServerTLSSettingsTLSmode } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { ServerTLSSettingsTLSProtocol } from '../schema/gateway.ts';

/** Cipher suites that Envoy knows, but for those with pre-shared keys. */
const CIPHER_SUITES: ReadonlySet<string> = new Set([
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
  'ECDHE-ECDSA-AES128-SHA',
  'ECDHE-RSA-AES128-SHA',
  'ECDHE-ECDSA-AES256-SHA',
  'ECDHE-RSA-AES256-SHA',
  'AES128-GCM-SHA256',
  'AES256-GCM-SHA384',
  'AES128-SHA',
  'AES256-SHA',
  'DES-CBC3-SHA',
]);

/** A suite by name, or a part of an expression of several (`ALL`, `-NAME`, `[A|B]`), which is not looked into. */
export function isCipherSuite(text: string): boolean {
  return text === '' || text === 'ALL' || !/^[\p{L}\p{N}]/u.test(text) || CIPHER_SUITES.has(text);
}

/** A finding for each name in a list that is unknown or stands twice; such names are left out. */
export function* ignoredNames(
  at: Place,
  names: readonly string[],
  isKnown: (name: string) => boolean,
): Generator<Finding> {
  const seen = new Set<string>();
  for (const [i, name] of names.entries()) {
    if (!isKnown(name)) yield at.at(i).warning(`"${name}" is not known and is ignored`);
    else if (seen.has(name)) yield at.at(i).warning(`"${name}" stands before: remove it`);
    seen.add(name);
  }
}

const CERTIFICATES = [
  'serverCertificate',
  'privateKey',
  'caCertificates',
  'tlsCertificates',
  'credentialName',
  'credentialNames',
] as const;

function isSet(tls: ServerTLSSettings, name: keyof ServerTLSSettings): boolean {
  const value = tls[name];
  return value !== undefined && value !== '';
}

/** At most one source of the server's certificate. */
function* oneSource(at: Place, tls: ServerTLSSettings): Generator<Finding> {
  const sources = (['credentialName', 'credentialNames', 'tlsCertificates'] as const).filter((name) =>
    isSet(tls, name),
  );
  const files = isSet(tls, 'serverCertificate') && isSet(tls, 'privateKey');
  const second = files ? sources[0] : sources[1];
  if (second !== undefined) {
    yield at
      .at(second)
      .error(
        'only one of serverCertificate and privateKey, credentialName, credentialNames and tlsCertificates may be set',
      );
  }
}

function* certificateFiles(at: Place, tls: ServerTLSSettings, mode: ServerTLSSettingsTLSmode): Generator<Finding> {
  if (mode !== 'SIMPLE' && !isSet(tls, 'caCertificates')) {
    yield at.error(`mode ${mode} needs caCertificates to check clients, or a secret in credentialName`);
  }
  const certificates = tls.tlsCertificates ?? [tls];
  for (const [i, certificate] of certificates.entries()) {
    const place = tls.tlsCertificates === undefined ? at : at.at('tlsCertificates', i);
    const missing = (['serverCertificate', 'privateKey'] as const).filter((name) => (certificate[name] ?? '') === '');
    if (missing.length === 0) continue;
    yield place.error(`mode ${mode} needs ${missing.join(' and ')}, or a secret in credentialName`);
  }
}

/** TLS from clients. @see istio/istio pkg/config/validation/validation.go `validateTLSOptions` */
export function* serverTlsFindings(at: Place, tls: ServerTLSSettings | undefined): Generator<Finding> {
  if (tls === undefined) return;
  const { mode = 'PASSTHROUGH', minProtocolVersion, maxProtocolVersion, cipherSuites = [] } = tls;
  if ((minProtocolVersion === 'TLSV1_0' || minProtocolVersion === 'TLSV1_1') && cipherSuites.length === 0) {
    yield at
      .at('minProtocolVersion')
      .warning(`no default cipher suite works with ${minProtocolVersion}: set cipherSuites`);
  }
  const versions = Object.keys(ServerTLSSettingsTLSProtocol.values);
  const [least, most] = [minProtocolVersion, maxProtocolVersion].map((name = 'TLS_AUTO') => versions.indexOf(name));
  if (most !== undefined && least !== undefined && most > 0 && least > most) {
    yield at
      .at('minProtocolVersion')
      .warning(`is above maxProtocolVersion ${maxProtocolVersion}: no client can connect`);
  }
  yield* ignoredNames(at.at('cipherSuites'), cipherSuites, isCipherSuite);
  if (mode === 'ISTIO_MUTUAL') {
    for (const name of CERTIFICATES) {
      if (isSet(tls, name)) yield at.at(name).error(`mode ISTIO_MUTUAL uses the mesh's own certificates: remove it`);
    }
    return;
  }
  const passes = mode === 'PASSTHROUGH' || mode === 'AUTO_PASSTHROUGH';
  const unused = [...CERTIFICATES, 'caCrl' as const].find((name) => isSet(tls, name));
  if (passes && unused !== undefined)
    yield at.at(unused).warning(`mode ${mode} uses no certificates, they are ignored`);
  yield* oneSource(at, tls);
  const fromSecret = isSet(tls, 'credentialName') || isSet(tls, 'credentialNames');
  if (!passes && fromSecret) return;
  if (!passes) yield* certificateFiles(at, tls, mode);
  if (!isSet(tls, 'caCrl')) return;
  if (isSet(tls, 'credentialName')) yield at.at('caCrl').error('comes from the secret of credentialName: remove it');
  if (mode === 'SIMPLE') yield at.at('caCrl').error('mode SIMPLE checks no clients: remove it, or write MUTUAL');
}
