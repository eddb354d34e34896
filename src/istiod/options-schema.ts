import {
  bool,
  bounded,
  duration,
  enumeration,
  list,
  type Message,
  message,
  one,
  string,
} from '../config/schema/schema.ts';

/** The options of `listen` with their defaults. */
export const DEFAULT_LISTEN = {
  grpc: '127.0.0.1:15010',
  grpcUnix: '',
  grpcTls: '0.0.0.0:15012',
  envoyTls: '',
  http: '127.0.0.1:8080',
  monitoring: '127.0.0.1:15014',
} as const;

export type ListenOption = keyof typeof DEFAULT_LISTEN;

const ADDRESS = '`host:port`; empty switches it off, port 0 picks a free one.';

const Listen: Message = message('Listen', 'Where the server listens.', {
  grpc: one(string, `Plaintext xDS: ${ADDRESS}`, { default: DEFAULT_LISTEN.grpc }),
  grpcUnix: one(string, 'Path of a Unix socket for xDS, made with mode 0660; empty switches it off.', {
    default: DEFAULT_LISTEN.grpcUnix,
  }),
  grpcTls: one(
    string,
    `xDS and certificates over TLS, with the certificate of \`etc/certs\` or else one of its own: ${ADDRESS}`,
    {
      default: DEFAULT_LISTEN.grpcTls,
    },
  ),
  envoyTls: one(string, 'TLS by an Envoy that istiod starts. Not in this version.', {
    default: DEFAULT_LISTEN.envoyTls,
  }),
  http: one(string, `Readiness, status and debugging: ${ADDRESS}`, {
    default: DEFAULT_LISTEN.http,
  }),
  monitoring: one(string, `Metrics, version and debugging: ${ADDRESS}`, { default: DEFAULT_LISTEN.monitoring }),
});

const Registry: Message = message(
  'RegistryOptions',
  'Where instances that register are kept. No effect in this version.',
  {
    store: one(
      enumeration('RegistryStore', 'Kind of store.', ['embedded', 'etcd']),
      'Kind of store; `etcd` is not in this version.',
      {
        default: 'embedded',
      },
    ),
    endpoints: list(string, 'Addresses of etcd.'),
  },
);

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
  revision: one(
    string,
    'Which proxies and objects are served: those that name this revision (`istio.io/rev`), or none.',
    { default: 'default' },
  ),
  watchNamespaces: list(string, 'Namespaces to read; empty: all.'),
  mode: one(
    enumeration('Mode', 'What the process does.', ['full', 'minion', 'ca']),
    'What the process does: `ca` gives certificates and serves no proxies; `minion` is not in this version.',
    {
      default: 'full',
    },
  ),
  secretsOverPlaintext: one(bool, 'Send private keys over plaintext, for tests only.', { default: false }),
  settle: one(
    bounded(duration, { min: 0, max: 60_000 }),
    'How long a file must be still before an object that vanished from it counts as removed.',
    {
      default: '250ms',
    },
  ),
  registry: one(Registry, 'Where instances that register are kept. No effect in this version.'),
  log: one(Log, 'What is logged, and how.'),
});
