import { bool, type Enum, enumeration, list, type Message, map, message, one, string, uint32 } from './schema.ts';

export const Port: Message = message('Port', '', {
  number: one(uint32, '', { required: true }),
  protocol: one(string, '', { required: true }),
  name: one(string, '', { required: true }),
  targetPort: one(uint32, '', { deprecated: '' }),
});

export const ServerTLSSettingsTLSmode: Enum = enumeration('ServerTLSSettingsTLSmode', '', [
  'PASSTHROUGH',
  'SIMPLE',
  'MUTUAL',
  'AUTO_PASSTHROUGH',
  'ISTIO_MUTUAL',
  'OPTIONAL_MUTUAL',
]);

export const TLSCertificate: Message = message('TLSCertificate', '', {
  serverCertificate: one(string, ''),
  privateKey: one(string, ''),
  caCertificates: one(string, ''),
});

export const ServerTLSSettingsTLSProtocol: Enum = enumeration('ServerTLSSettingsTLSProtocol', '', [
  'TLS_AUTO',
  'TLSV1_0',
  'TLSV1_1',
  'TLSV1_2',
  'TLSV1_3',
]);

export const ServerTLSSettings: Message = message('ServerTLSSettings', '', {
  httpsRedirect: one(bool, ''),
  mode: one(ServerTLSSettingsTLSmode, ''),
  serverCertificate: one(string, ''),
  privateKey: one(string, ''),
  caCertificates: one(string, ''),
  caCrl: one(string, ''),
  credentialName: one(string, ''),
  credentialNames: list(string, '', { minItems: 1, maxItems: 2 }),
  caCertCredentialName: one(string, ''),
  tlsCertificates: list(TLSCertificate, '', { minItems: 1, maxItems: 2 }),
  subjectAltNames: list(string, ''),
  verifyCertificateSpki: list(string, ''),
  verifyCertificateHash: list(string, ''),
  minProtocolVersion: one(ServerTLSSettingsTLSProtocol, ''),
  maxProtocolVersion: one(ServerTLSSettingsTLSProtocol, ''),
  cipherSuites: list(string, ''),
  insecureSkipVerify: one(bool, ''),
});

export const Server: Message = message('Server', '', {
  port: one(Port, '', { required: true }),
  bind: one(string, ''),
  hosts: list(string, '', { required: true }),
  tls: one(ServerTLSSettings, ''),
  defaultEndpoint: one(string, ''),
  name: one(string, ''),
});

export const Gateway: Message = message('Gateway', '', {
  servers: list(Server, ''),
  selector: map(string, ''),
});
