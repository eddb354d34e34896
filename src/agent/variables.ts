import { isIP } from 'node:net';
import { cidrBlock } from '../base/cidr.ts';
import { parseDuration } from '../base/duration.ts';
import { addressProblem, parseAddress } from '../base/host-port.ts';
import { parsedObject } from '../base/json.ts';
import type { Environment } from '../process/environment.ts';
import { controlPlaneAddress } from './control-plane-address.ts';

/** A variable of istio-agent, in its files or its environment. */
export interface AgentVariable {
  /** What it does, for the reference. */
  readonly doc: string;
  /** What holds where it is unset; empty for nothing. */
  readonly default: string;
  /** What is wrong with a value that is not empty, and what to write. */
  problem?(value: string): string | undefined;
}

type Check = NonNullable<AgentVariable['problem']>;

const bool: Check = (value) => (/^(1|t|true|0|f|false)$/i.test(value) ? undefined : 'write true or false');
const duration: Check = (value) =>
  parseDuration(value) === undefined ? 'write a duration, as 5s or 250ms' : undefined;
const ratio: Check = (value) => (Number(value) >= 0 && Number(value) <= 1 ? undefined : 'write a part of 1, as 0.5');
const port: Check = (value) => (/^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? undefined : 'write a port');
const portOrAll: Check = (value) => (value === '*' ? undefined : port(value));
const block: Check = (value) =>
  cidrBlock(value) === undefined ? 'write a block of addresses, as 10.0.0.0/8' : undefined;
const blockOrAll: Check = (value) => (value === '*' ? undefined : block(value));
const number: Check = (value) => (/^\d{1,9}$/.test(value) ? undefined : 'write a number');
const networkInterface: Check = (value) =>
  /^[\w.+-]{1,15}$/.test(value) ? undefined : 'write the name of an interface, as eth1';
const ENVOY_LEVELS = ['trace', 'debug', 'info', 'warning', 'error', 'critical', 'off'];
const ip: Check = (value) => (isIP(value) === 0 ? 'write an IP address' : undefined);
const object: Check = (value) =>
  parsedObject(value) === undefined ? 'write an object in JSON, as {"app":"ratings"}' : undefined;
const name: Check = (value) =>
  /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(value) ? undefined : 'write lower-case letters, digits, - and .';
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value) ? undefined : `write ${values.join(' or ')}`;
const listed =
  (check: Check): Check =>
  (value) =>
    value
      .split(',')
      .map((item) => check(item.trim()))
      .find((problem) => problem !== undefined);

function of(doc: string, problem?: Check, value = ''): AgentVariable {
  return { doc, default: value, ...(problem === undefined ? {} : { problem }) };
}

/** By name. */
export const AGENT_VARIABLES: Readonly<Record<string, AgentVariable>> = {
  ISTIO_ADDRESS: of(
    'Where istiod is: `host`, `host:port`, or `unix:` and the path of a socket. The port is 15012 unless it is named.',
    (value) => controlPlaneAddress(value).problem,
  ),
  PILOT_ADDRESS: of('As ISTIO_ADDRESS, which wins.', (value) => controlPlaneAddress(value).problem),
  ISTIO_SYSTEM_NAMESPACE: of(
    'Namespace in the name of istiod, `istiod.<namespace>.svc`, where no address is written.',
    name,
    'istio-system',
  ),
  ISTIO_PILOT_PORT: of('Port of istiod, where no address is written.', port, '15012'),
  ISTIO_CP_AUTH: of(
    'How istiod is connected to: MUTUAL_TLS, or NONE for plaintext, which only loopback addresses allow. Port 15010 is plaintext, a Unix socket, too.',
    oneOf('NONE', 'MUTUAL_TLS'),
    'MUTUAL_TLS',
  ),
  ISTIOD_SAN: of('The name that must stand in the certificate of istiod, where it is not that of its address.', name),
  XDS_ROOT_CA: of(
    "File with the roots of istiod's certificate; SYSTEM: those of the operating system, which port 443 has anyway. Else `etc/certs/root-cert.pem` or `var/run/secrets/istio/root-cert.pem`.",
  ),
  PROV_CERT: of(
    'Directory with `cert-chain.pem` and `key.pem`, by which the agent proves to istiod who it is.',
    undefined,
    'etc/certs',
  ),
  PROXY_CONFIG: of("Istio's ProxyConfig in YAML, laid over `defaultConfig` of mesh.yaml."),
  POD_NAME: of('Name of this workload; else the host name of the machine, up to its first dot.', name),
  ISTIO_NAMESPACE: of('Namespace of this workload.', name, 'default'),
  POD_NAMESPACE: of('As ISTIO_NAMESPACE, which wins.', name),
  ISTIO_SVC_IP: of('IP address of this workload; else the first of the machine that is not of loopback.', ip),
  INSTANCE_IP: of('As ISTIO_SVC_IP, which wins.', ip),
  ISTIO_SERVICE: of('Name of the service that this workload is of, for telemetry.'),
  PROXY_TYPE: of(
    'Whether it is a `sidecar` of a workload or a gateway, a `router`.',
    oneOf('sidecar', 'router'),
    'sidecar',
  ),
  SERVICE_ACCOUNT: of('Service account of this workload.', name, 'default'),
  ISTIO_METAJSON_LABELS: of('Labels of this workload, in JSON.', object),
  ISTIO_META_DNS_CAPTURE: of(
    'Whether the agent answers DNS, and istiod sends it the names of the mesh.',
    bool,
    'false',
  ),
  ISTIO_META_ENABLE_DNS_SERVER: of('Whether the agent of a gateway answers DNS.', bool, 'false'),
  DNS_PROXY_ADDR: of(
    'Where it answers: `host:port`, or several with commas; `localhost` is 127.0.0.1, and ::1 where the machine has it; port 0: any that is free.',
    listed((value) => addressProblem(value)),
    'localhost:15053',
  ),
  DNS_UPSTREAM: of(
    'Name servers that are asked for names outside of the mesh, `ip:port` with commas. Else those of `var/lib/istio/resolv.conf`, or of `etc/resolv.conf`.',
    listed((value) => addressProblem(value) ?? ip(parseAddress(value)?.host ?? '')),
  ),
  DNS_FORWARD_PARALLEL: of('Whether all name servers are asked at once.', bool, 'false'),
  DNS_FORWARD_TIMEOUT: of('How long they may take to answer.', duration, '5s'),
  CA_ADDR: of(
    'Where the authority is that gives certificates, as ISTIO_ADDRESS; else it is istiod.',
    (value) => controlPlaneAddress(value).problem,
  ),
  SECRET_TTL: of('For how long certificates are asked for.', duration, '24h'),
  SECRET_GRACE_PERIOD_RATIO: of('The part of its life that is left of a certificate when it is renewed.', ratio, '0.5'),
  SECRET_GRACE_PERIOD_RATIO_JITTER: of('By how much of its life machines differ in that.', ratio, '0.01'),
  ENVOY_PATH: of("Envoy's binary; else `binaryPath` of PROXY_CONFIG, `/usr/local/bin/envoy`, or `/usr/bin/envoy`."),
  ENVOY_LOG_LEVEL: of('Least severity that Envoy logs.', oneOf(...ENVOY_LEVELS), 'warning'),
  ENVOY_STATUS_PORT: of('Port on which Envoy says whether the workload is ready; 0: it does not.', port, '15021'),
  ENVOY_PROMETHEUS_PORT: of('Port on which Envoy tells its own metrics; 0: it does not.', port, '15090'),
  EXIT_ON_ZERO_ACTIVE_CONNECTIONS: of(
    'Whether Envoy ends as soon as no connection is open, before its time to drain is over.',
    bool,
    'false',
  ),
  MINIMUM_DRAIN_DURATION: of('How long it drains at least, then.', duration, '5s'),
  ISTIO_INBOUND_PORTS: of('Ports of the workload whose traffic is captured; `*`: all.', listed(portOrAll), '*'),
  ISTIO_LOCAL_EXCLUDE_PORTS: of(
    'Ports that are left out then, beside 22, 15020, 15021 and 15090, which always are.',
    listed(port),
  ),
  ISTIO_SERVICE_CIDR: of('Blocks of addresses to which traffic is captured; `*`: all.', listed(blockOrAll), '*'),
  ISTIO_SERVICE_EXCLUDE_CIDR: of('Blocks of addresses that are left out.', listed(block)),
  ISTIO_OUTBOUND_PORTS: of('Ports to which traffic is captured, whatever its address.', listed(port)),
  ISTIO_LOCAL_OUTBOUND_PORTS_EXCLUDE: of('Ports to which traffic is not captured.', listed(port)),
  ISTIO_EXCLUDE_INTERFACES: of('Interfaces whose traffic is not captured.', listed(networkInterface)),
  ISTIO_META_INTERCEPTION_MODE: of(
    'Whether traffic is captured: REDIRECT, or NONE, where programs call ports of the proxy.',
    oneOf('REDIRECT', 'TPROXY', 'NONE'),
    'REDIRECT',
  ),
  ISTIO_INBOUND_INTERCEPTION_MODE: of(
    'How traffic comes to the proxy; TPROXY is not in this version.',
    (value) =>
      value === 'REDIRECT'
        ? undefined
        : value === 'TPROXY'
          ? 'it is not in this version: write REDIRECT'
          : 'write REDIRECT',
    'REDIRECT',
  ),
  ISTIO_CUSTOM_IP_TABLES: of(
    'Whether somebody else sees to the capture, so that `istio-agent iptables` changes nothing.',
    bool,
    'false',
  ),
  ENVOY_PORT: of('Port on which the proxy takes what the workload sends.', port, '15001'),
  INBOUND_CAPTURE_PORT: of('Port on which it takes what is sent to the workload.', port, '15006'),
  PROXY_UID: of(
    'Numbers of the users whose traffic is not captured: that of Envoy and the agent. Else that of istio-proxy, or 1337.',
    listed(number),
  ),
  PROXY_GID: of(
    'Numbers of the groups whose traffic is not captured. Else that of istio-proxy, or 1337.',
    listed(number),
  ),
  DISABLE_ENVOY: of('Whether the agent goes without an Envoy.', bool, 'false'),
  LOG_LEVEL: of('Least severity that is logged.', oneOf('debug', 'info', 'warn', 'error'), 'info'),
  LOG_FORMAT: of(
    'How it is logged; on a terminal readable, elsewhere JSON, unless it is said.',
    oneOf('json', 'pretty'),
  ),
};

/** Names that begin so: the rest is a field of the node's metadata, or a header of the stream to istiod. */
export const AGENT_PREFIXES: Readonly<Record<string, AgentVariable>> = {
  ISTIO_META_: of('A field of the metadata that istiod reads, as `ISTIO_META_NETWORK`.'),
  ISTIO_METAJSON_: of('Fields of the metadata, in JSON.', object),
  XDS_HEADER_: of('A header of the stream to istiod.'),
};

/** What Istio's own agent or its scripts know, and this one goes without; a warning says so. */
export const UNUSED_VARIABLES: ReadonlySet<string> = new Set([
  'CANONICAL_REVISION',
  'CANONICAL_SERVICE',
  'CA_PROVIDER',
  'CA_ROOT_CA',
  'CREDENTIAL_FETCHER_TYPE',
  'CREDENTIAL_IDENTITY_PROVIDER',
  'ECC_CURVE',
  'ECC_SIGNATURE_ALGORITHM',
  'ENVOY_USER',
  'EXEC_USER',
  'FILE_DEBOUNCE_DURATION',
  'FILE_MOUNTED_CERTS',
  'GRPC_XDS_BOOTSTRAP',
  'ISTIO_AGENT_FLAGS',
  'ISTIO_BIN_BASE',
  'ISTIO_CFG',
  'ISTIO_INBOUND_EXCLUDE_PORTS',
  'ISTIO_INBOUND_TPROXY_MARK',
  'ISTIO_INBOUND_TPROXY_ROUTE_TABLE',
  'ISTIO_LOG_DIR',
  'JWT_POLICY',
  'OUTPUT_CERTS',
  'PEER_METADATA_DISCOVERY',
  'PKCS8_KEY',
  'PROXY_CONFIG_XDS_AGENT',
  'TRUST_DOMAIN',
  'WASM_HTTP_REQUEST_MAX_RETRIES',
  'WASM_HTTP_REQUEST_TIMEOUT',
  'WASM_INSECURE_REGISTRIES',
  'WASM_MODULE_EXPIRY',
  'WASM_PURGE_INTERVAL',
  'WORKLOAD_IDENTITY_SOCKET_FILE',
  'WORKLOAD_RSA_KEY_SIZE',
  'XDS_AUTH_PROVIDER',
]);

/** What a variable is set to, or else its default. */
export function valueOf(env: Environment, name: string): string {
  return env[name] || (AGENT_VARIABLES[name]?.default ?? '');
}

/** The variable that a name is, or begins as. */
export function agentVariable(name: string): AgentVariable | undefined {
  if (Object.hasOwn(AGENT_VARIABLES, name)) return AGENT_VARIABLES[name];
  return Object.entries(AGENT_PREFIXES).find(([prefix]) => name.startsWith(prefix) && name.length > prefix.length)?.[1];
}
