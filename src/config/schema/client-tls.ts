import { bool, type Enum, enumeration, list, type Message, message, one, string } from './schema.ts';

export const ClientTLSSettingsTLSmode: Enum = enumeration('ClientTLSSettingsTLSmode', '', [
  'DISABLE',
  'SIMPLE',
  'MUTUAL',
  'ISTIO_MUTUAL',
]);

export const ClientTLSSettings: Message = message('ClientTLSSettings', '', {
  mode: one(ClientTLSSettingsTLSmode, ''),
  clientCertificate: one(string, ''),
  privateKey: one(string, ''),
  caCertificates: one(string, ''),
  credentialName: one(string, ''),
  subjectAltNames: list(string, ''),
  sni: one(string, ''),
  insecureSkipVerify: one(bool, ''),
  caCrl: one(string, ''),
});
