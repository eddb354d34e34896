import { bool, type Enum, enumeration, list, type Message, message, one, string } from './schema.ts';

export const ClientTLSSettingsTLSmode: Enum = enumeration('ClientTLSSettingsTLSmode', 'TLS towards endpoints.', [
  'DISABLE',
  'SIMPLE',
  'MUTUAL',
  'ISTIO_MUTUAL',
]);

export const ClientTLSSettings: Message = message('ClientTLSSettings', 'TLS towards endpoints.', {
  mode: one(ClientTLSSettingsTLSmode, "None, with the server's certificate, with both, or the mesh's own."),
  clientCertificate: one(string, "File with the client's certificate."),
  privateKey: one(string, "File with the client's key."),
  caCertificates: one(string, 'File with the roots that the server is checked against.'),
  credentialName: one(string, 'Secret with certificate, key and roots, instead of files.'),
  subjectAltNames: list(string, "Names one of which the server's certificate must have."),
  sni: one(string, 'Server name that is asked for.'),
  insecureSkipVerify: one(bool, 'Do not check the server.'),
  caCrl: one(string, 'File with revoked certificates.'),
});
