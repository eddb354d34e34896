import { parseDuration } from '../base/duration.ts';

/** An environment variable of the server, which `env` in mesh.yaml may set, too. */
export interface Variable {
  /** What it does, for the reference. */
  readonly doc: string;
  /** What holds where it is unset; empty for nothing. */
  readonly default: string;
}

const LISTENERS = {
  PILOT_ENABLE_METADATA_EXCHANGE: ['true', "Proxies with Istio's filters tell each other who they are, for telemetry."],
  PILOT_MX_ADDITIONAL_LABELS: ['', 'Labels, separated by commas, that they tell of beside those of telemetry.'],
  PILOT_ENABLE_ALPN_FILTER: ['true', "Sidecars with Istio's filters say by ALPN which protocol follows."],
  PILOT_ENABLE_PERSISTENT_SESSION_FILTER: ['false', 'Services may ask for sessions that stay with one endpoint.'],
  ENABLE_100_CONTINUE_HEADERS: ['true', '`100 Continue` is passed on as it comes from the server.'],
  PILOT_SIDECAR_USE_REMOTE_ADDRESS: ['false', 'Sidecars write the address of the client into X-Forwarded-For.'],
  ENABLE_HCM_INTERNAL_NETWORKS: ['false', "`meshNetworks.yaml`'s networks are internal to connection managers."],
  PILOT_ENABLE_MONGO_FILTER: ['true', 'Ports of MongoDB get its filter, for statistics.'],
  PILOT_ENABLE_REDIS_FILTER: ['false', 'Ports of Redis get its filter.'],
  PILOT_ENABLE_MYSQL_FILTER: ['false', 'Ports of MySQL get its filter.'],
  PILOT_HTTP10: ['false', 'HTTP/1.0 is accepted from all workloads.'],
  PILOT_TRACE_SAMPLING: ['1', 'Requests that are traced, in percent, where mesh.yaml and Telemetry do not say.'],
  MAX_CONNECTIONS_PER_SOCKET_EVENT_LOOP: ['1', 'Connections that a listener accepts at a time; 0 is no limit.'],
  PILOT_GATEWAY_TRANSPORT_SOCKET_CONNECT_TIMEOUT: ['15s', 'For a TLS handshake with a gateway; `0s` is no limit.'],
  ENABLE_TLS_ON_SIDECAR_INGRESS: ['false', "A Sidecar's ingress listeners may have TLS settings."],
  PILOT_ALLOW_SIDECAR_SERVICE_INBOUND_LISTENER_MERGE: [
    'false',
    "Ports of a workload that its Sidecar's ingress does not name are served, too.",
  ],
  ISTIO_ENABLE_IPV4_OUTBOUND_LISTENER_FOR_IPV6_CLUSTERS: ['false', 'IPv6 workloads listen on IPv4 for clients, too.'],
  PILOT_ENABLE_MULTIPLE_CUSTOM_AUTHZ_PROVIDERS: [
    'false',
    'AuthorizationPolicies of one workload may name different providers.',
  ],
  PILOT_SKIP_VALIDATE_TRUST_DOMAIN: ['false', "Any identity that the mesh's roots vouch for is accepted."],
} as const;

const TRANSLATION = {
  DOMAIN_SUFFIX: ['cluster.local', 'Ends the names of Kubernetes Services.'],
  CLUSTER_ID: ['Kubernetes', 'The cluster that files belong to.'],
  K8S_INGRESS_NS: ['istio-system', 'Namespace of the gateways that serve Ingresses.'],
  PILOT_JWT_ENABLE_REMOTE_JWKS: [
    'istiod',
    'Who fetches keys of tokens: `istiod`, `envoy` (the proxy), or `hybrid`: the proxy from services of the mesh, istiod from others.',
  ],
  ISTIO_MULTIROOT_MESH: ['false', "Agents are told of MeshConfig's `caCertificates`, as roots beside their own."],
  ISTIO_DUAL_STACK: ['false', 'Workloads have addresses of both families.'],
  PILOT_PERSISTENT_SESSION_LABEL: ['istio.io/persistent-session', 'Label of services with sessions by cookie.'],
  PILOT_PERSISTENT_SESSION_HEADER_LABEL: [
    'istio.io/persistent-session-header',
    'Label of services with sessions by header.',
  ],
  PILOT_ENABLE_IP_AUTOALLOCATE: [
    'true',
    'Hosts of ServiceEntries without addresses are given one. `false`: only for proxies that ask with DNS_AUTO_ALLOCATE; `status`: only by the `status` of the object.',
  ],
} as const;

const SERVER = {
  PILOT_JWT_PUB_KEY_REFRESH_INTERVAL: ['20m', 'How often keys of tokens are fetched again.'],
  BLOCKED_CIDRS_IN_JWKS_URIS: ['', 'Blocks of addresses, separated by commas, that keys are not fetched from.'],
  JWKS_RESOLVER_INSECURE_SKIP_VERIFY: ['false', 'Certificates of servers that keys are fetched from are not verified.'],
  XDS_AUTH: ['true', 'Clients over TLS have to prove who they are, by a certificate of the mesh or a token.'],
  PILOT_ENABLE_XDS_IDENTITY_CHECK: [
    'true',
    'Proxies over TLS have to be of the namespace and the service account that they have proven.',
  ],
  JWT_RULE: [
    '',
    'A JWTRule in JSON: tokens of its issuer prove who workloads are; `jwks`, `jwksUri`, or what the issuer describes.',
  ],
  TOKEN_ISSUER: ['', 'An issuer of such tokens whose keys its own description names.'],
  AUDIENCE: ['', 'The audience that tokens of TOKEN_ISSUER have to have.'],
  TOKEN_AUDIENCES: [
    'istio-ca',
    'Audiences, separated by commas, one of which tokens have to have where nothing else says.',
  ],
  ENABLE_CA_SERVER: ['true', 'Workloads get certificates from istiod.'],
  ROOT_CA_DIR: ['etc/cacerts', 'Where an authority is plugged in, relative to the working directory.'],
  DEFAULT_WORKLOAD_CERT_TTL: ['24h', 'How long a certificate holds whose request does not say.'],
  MAX_WORKLOAD_CERT_TTL: ['2160h', 'The longest that a request may ask for.'],
  CITADEL_SELF_SIGNED_CA_CERT_TTL: ['87600h', 'How long a root of its own holds.'],
  CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL: [
    '1h',
    'How often istiod looks whether its own root has to be renewed; `0` is never.',
  ],
  CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE: [
    '20',
    'A root is renewed when so many percent of its time are left.',
  ],
  CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE: ['', 'Bits of an RSA key for a root of its own; empty: an elliptic key, P-256.'],
  ISTIOD_CUSTOM_HOST: ['', "Names, separated by commas, that the server's own certificate is for, too."],
  CHECK_STRICT: [
    'false',
    '`istiod check`: warnings count as errors. An unknown field refuses the object, in a running server, too.',
  ],
} as const;

/** Variables that only the environment can set: they are of a command, or of the service manager. */
const COMMANDS = {
  CHECK_FORMAT: ['text', '`istiod check`: `text`, `json` or `sarif`.'],
  DIFF_FORMAT: ['text', '`istiod diff`: `text` or `json`.'],
  DIFF_PROXIES: ['', '`istiod diff`: a file with the nodes of proxies, in place of those that are connected.'],
  NOTIFY_SOCKET: ['', 'Set by systemd: where readiness is told.'],
  NOTIFY_FD: ['', "Set by the unit's helper: an open descriptor of that socket."],
  WATCHDOG_USEC: ['', 'Set by systemd: how often it wants a sign of life.'],
  WATCHDOG_PID: ['', 'Set by systemd: whose.'],
} as const;

type Table = Readonly<Record<string, readonly [string, string]>>;

function variables(table: Table): ReadonlyMap<string, Variable> {
  return new Map(Object.entries(table).map(([name, [otherwise, doc]]) => [name, { doc, default: otherwise }]));
}

/** By name, in three parts: those that shape what proxies are sent, those of the server, and those of commands. */
export const VARIABLES: Readonly<Record<'translation' | 'server' | 'commands', ReadonlyMap<string, Variable>>> = {
  translation: variables({ ...TRANSLATION, ...LISTENERS }),
  server: variables(SERVER),
  commands: variables(COMMANDS),
};

/** Variables of which another word than true and false may be written, or another text than their default. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  PILOT_ENABLE_IP_AUTOALLOCATE: ['status'],
  PILOT_JWT_ENABLE_REMOTE_JWKS: ['istiod', 'envoy', 'hybrid', 'true', 'false'],
};

const BOOLEAN = /^(?:0|f|false|1|t|true)$/i;

/** Why a value has no effect, so that the default holds; undefined when it has one, and for what only its reader can tell. */
export function variableProblem(name: string, value: string): string | undefined {
  const { default: otherwise } = VARIABLES.translation.get(name) ?? VARIABLES.server.get(name) ?? {};
  const words = WORDS[name] ?? [];
  if (otherwise === undefined || value === '' || words.includes(value)) return undefined;
  const wrong = (needed: string) => `"${value}" is ${needed}; the default, ${otherwise}, holds`;
  if (/^(?:true|false)$/.test(otherwise)) {
    const others = words.map((word) => ` nor ${word}`).join('');
    return BOOLEAN.test(value) || words.includes(value.toLowerCase())
      ? undefined
      : wrong(`neither true nor false${others}`);
  }
  if (words.length > 0) return wrong(`not one of ${words.slice(0, 3).join(', ')}`);
  if (/^\d+[smh]$/.test(otherwise)) return parseDuration(value) === undefined ? wrong('no duration as 24h') : undefined;
  return /^\d+$/.test(otherwise) && !/^\d+(?:\.\d+)?$/.test(value) ? wrong('no number') : undefined;
}
