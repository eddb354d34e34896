import { NOT_IN_ISTIO } from './ignored.ts';
import {
  bool,
  bounded,
  type Enum,
  enumeration,
  ignored,
  list,
  type Message,
  map,
  message,
  one,
  string,
  uint32,
} from './schema.ts';

export const Port: Message = message('Port', 'A port of a gateway.', {
  number: one(bounded(uint32, { min: 0, max: 65535 }), 'Its number; 0 for a Unix socket.', { required: true }),
  protocol: one(string, 'Protocol spoken on it: HTTP, HTTPS, GRPC, GRPC-WEB, HTTP2, MONGO, TCP or TLS.', {
    required: true,
  }),
  name: one(string, 'Its name, unique in the gateway.', { required: true }),
  targetPort: ignored(one(uint32, 'Not allowed: it would have no effect.'), NOT_IN_ISTIO),
});

export const ServerTLSSettingsTLSmode: Enum = enumeration('ServerTLSSettingsTLSmode', 'TLS from clients.', [
  'PASSTHROUGH',
  'SIMPLE',
  'MUTUAL',
  'AUTO_PASSTHROUGH',
  'ISTIO_MUTUAL',
  'OPTIONAL_MUTUAL',
]);

export const TLSCertificate: Message = message('TLSCertificate', 'A certificate and its key.', {
  serverCertificate: one(string, 'File with the certificate.'),
  privateKey: one(string, 'File with the key.'),
  caCertificates: ignored(
    one(string, 'File with the roots that clients are checked against.'),
    'the roots of a server are those of its tls.caCertificates',
  ),
});

export const ServerTLSSettingsTLSProtocol: Enum = enumeration('ServerTLSSettingsTLSProtocol', 'Version of TLS.', [
  'TLS_AUTO',
  'TLSV1_0',
  'TLSV1_1',
  'TLSV1_2',
  'TLSV1_3',
]);

export const ServerTLSSettings: Message = message('ServerTLSSettings', 'TLS from clients.', {
  httpsRedirect: one(bool, 'Send plain HTTP clients to HTTPS.'),
  mode: one(ServerTLSSettingsTLSmode, "Passed through, with the server's certificate, with both, or the mesh's own."),
  serverCertificate: one(string, "File with the server's certificate."),
  privateKey: one(string, "File with the server's key."),
  caCertificates: one(string, 'File with the roots that clients are checked against.'),
  caCrl: one(string, 'File with revoked certificates.'),
  credentialName: one(string, 'Secret with certificate and key (and roots), instead of files.'),
  credentialNames: list(string, 'Such secrets, one each for RSA and ECDSA.', { minItems: 1, maxItems: 2 }),
  caCertCredentialName: one(string, 'Secret with the roots that clients are checked against.'),
  tlsCertificates: list(TLSCertificate, 'Files with certificates and keys, one each for RSA and ECDSA.', {
    minItems: 1,
    maxItems: 2,
  }),
  subjectAltNames: list(string, "Names one of which a client's certificate must have."),
  verifyCertificateSpki: list(string, "Hashes of public keys, one of which a client's certificate must have."),
  verifyCertificateHash: list(string, "Hashes of certificates, one of which a client's must be."),
  minProtocolVersion: one(ServerTLSSettingsTLSProtocol, 'The oldest version of TLS. Default 1.2.'),
  maxProtocolVersion: one(ServerTLSSettingsTLSProtocol, 'The newest version of TLS. Default 1.3.'),
  cipherSuites: list(string, 'Cipher suites up to TLS 1.2, most wanted first.'),
  insecureSkipVerify: one(bool, 'Accept clients whose certificate can not be checked.'),
  ecdhCurves: list(string, 'Curves for the key exchange, most wanted first.'),
});

export const Server: Message = message('Server', 'A port of a gateway, and the hosts on it.', {
  port: one(Port, 'The port.', { required: true }),
  bind: one(string, 'Address to listen on, or `unix://path`.'),
  hosts: list(
    string,
    'Hosts, as `host` or `namespace/host`; `namespace` is where VirtualServices may come from, `.` the own one.',
    { required: true },
  ),
  tls: one(ServerTLSSettings, 'TLS from clients.'),
  defaultEndpoint: ignored(one(string, 'Not used.'), NOT_IN_ISTIO),
  name: one(string, 'A name.'),
});

export const Gateway: Message = message('Gateway', 'What a proxy at the edge of the mesh listens on.', {
  servers: list(Server, 'The ports and hosts.'),
  selector: map(string, 'Labels of the proxies that it is for.'),
});
