import { bool, duration, enumeration, list, type Message, message, one, string } from '../config/schema/schema.ts';

const ADDRESS = '`host:port`; empty switches it off, port 0 picks a free one.';

const Listen: Message = message('Listen', 'Where the server listens.', {
  grpc: one(string, `Plaintext xDS and MCP: ${ADDRESS}`, { default: '127.0.0.1:15010' }),
  grpcUnix: one(string, 'A Unix socket for xDS and MCP, with mode 0660; empty switches it off.', { default: '' }),
  grpcTls: one(string, `xDS, MCP and the CA over TLS: ${ADDRESS}`, { default: '0.0.0.0:15012' }),
  envoyTls: one(string, `TLS by an Envoy that istiod starts: ${ADDRESS}`, { default: '' }),
  http: one(string, `Readiness, dashboard, registry, status and debugging: ${ADDRESS}`, { default: '127.0.0.1:8080' }),
  monitoring: one(string, `Metrics, version and debugging: ${ADDRESS}`, { default: '127.0.0.1:15014' }),
});

const Registry: Message = message('RegistryOptions', 'Where instances that register are kept.', {
  store: one(enumeration('RegistryStore', 'Kind of store.', ['embedded', 'etcd']), 'Kind of store.', {
    default: 'embedded',
  }),
  endpoints: list(string, 'Addresses of etcd.'),
});

const Log: Message = message('LogOptions', 'What is logged, and how.', {
  level: one(enumeration('LogLevel', 'Least severity.', ['debug', 'info', 'warn', 'error']), 'Least severity.', {
    default: 'info',
  }),
  format: one(
    enumeration('LogFormat', 'Form of a line.', ['json', 'pretty']),
    'Form; on a terminal `pretty` by default.',
  ),
});

/** `etc/istio/istiod.yaml`. */
export const IstiodOptionsSchema: Message = message('IstiodOptions', "The server's own options.", {
  listen: one(Listen, 'Where the server listens.'),
  namespace: one(string, 'The root namespace, unless mesh.yaml names one.', { default: 'istio-system' }),
  revision: one(string, 'Which proxies are served: those of this revision.', { default: 'default' }),
  watchNamespaces: list(string, 'Namespaces to read; empty: all.'),
  mode: one(enumeration('Mode', 'What the process does.', ['full', 'minion', 'ca']), 'What the process does.', {
    default: 'full',
  }),
  secretsOverPlaintext: one(bool, 'Send private keys over plaintext, for tests only.', { default: false }),
  settle: one(duration, 'How long a file must be still before an object that vanished from it counts as removed.', {
    default: '250ms',
  }),
  registry: one(Registry, 'Where instances that register are kept.'),
  log: one(Log, 'What is logged, and how.'),
});
