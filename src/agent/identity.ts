import { hostname } from 'node:os';
import { type JsonObject, parsedObject } from '../base/json.ts';
import type { Labels } from '../base/labels.ts';
import { interfaceAddresses } from '../process/interfaces.ts';
import { type AgentSettings, withPrefix } from './settings.ts';
import { valueOf } from './variables.ts';

/** Who this workload is to the control plane. */
export interface Identity {
  readonly namespace: string;
  /** Of the names of Kubernetes Services: `svc.cluster.local`. */
  readonly domain: string;
  /** `envoy.config.core.v3.Node` in proto JSON. */
  readonly node: JsonObject;
}

/** What is asked of the machine. */
export interface Machine {
  readonly hostname: string;
  /** Of its interfaces, without those of loopback. */
  readonly addresses: readonly string[];
}

export function thisMachine(): Machine {
  const outer = interfaceAddresses().filter(
    ({ internal, address }) => !internal && !/^(169\.254\.|fe80:)/i.test(address),
  );
  const ofFamily = (family: string) => outer.filter((one) => one.family === family).map(({ address }) => address);
  return { hostname: hostname(), addresses: [...ofFamily('IPv4'), ...ofFamily('IPv6')] };
}

const CLUSTER_DOMAIN = 'svc.cluster.local';
const DEFAULT_SERVICE_CLUSTER = 'istio-proxy';
/** Label that says where a workload is: `region/zone/subzone`, or with dots. */
const LOCALITY_LABEL = 'istio-locality';

/** @see istio/istio pkg/bootstrap/config.go `GetNodeMetaData`, pilot/cmd/pilot-agent/config */
export function identity({ env, proxyConfig }: Pick<AgentSettings, 'env' | 'proxyConfig'>, machine: Machine): Identity {
  const namespace = env['POD_NAMESPACE'] || valueOf(env, 'ISTIO_NAMESPACE');
  const name = env['POD_NAME'] || (machine.hostname.split('.')[0] ?? '');
  const own = env['INSTANCE_IP'] || env['ISTIO_SVC_IP'];
  const found = machine.addresses.length > 0 ? machine.addresses : ['127.0.0.1'];
  const ips = own ? [...new Set([own, ...machine.addresses])] : found;
  const labels = labelsIn(env['ISTIO_METAJSON_LABELS']);
  const metadata: JsonObject = {
    ...jsonMetadata(withPrefix(env, 'ISTIO_METAJSON_')),
    ...withPrefix(env, 'ISTIO_META_'),
    ...(env['DNS_PROXY_ADDR'] ? { DNS_PROXY_ADDR: env['DNS_PROXY_ADDR'] } : {}),
    NAME: name,
    NAMESPACE: namespace,
    SERVICE_ACCOUNT: valueOf(env, 'SERVICE_ACCOUNT'),
    INSTANCE_IPS: ips.join(),
    LABELS: labels,
    ...(Object.keys(proxyConfig).length === 0 ? {} : { PROXY_CONFIG: proxyConfig as JsonObject }),
  };
  const locality = (labels[LOCALITY_LABEL] ?? '').replaceAll('.', '/').split('/');
  const [region = '', zone = '', subZone = ''] = locality;
  return {
    namespace,
    domain: CLUSTER_DOMAIN,
    node: {
      id: `${valueOf(env, 'PROXY_TYPE')}~${ips[0]}~${name}.${namespace}~${namespace}.${CLUSTER_DOMAIN}`,
      cluster: serviceCluster(env['ISTIO_SERVICE'] || proxyConfig.serviceCluster, labels, metadata),
      metadata,
      ...(region === '' ? {} : { locality: { region, zone, subZone } }),
    },
  };
}

function labelsIn(text: string | undefined): Labels {
  const object = parsedObject(text ?? '') ?? {};
  return Object.fromEntries(
    Object.entries(object).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
  );
}

/** Each holds fields; what it is called says nothing, but that of the labels. */
function jsonMetadata(texts: Readonly<Record<string, string>>): JsonObject {
  const { LABELS: _labels, ...others } = texts;
  return Object.assign({}, ...Object.values(others).map((text) => parsedObject(text) ?? {}));
}

/** @see istio/istio pkg/bootstrap/config.go `serviceClusterOrDefault` */
function serviceCluster(named: string | undefined, labels: Labels, metadata: JsonObject): string {
  if (named && named !== DEFAULT_SERVICE_CLUSTER) return named;
  const { NAMESPACE, WORKLOAD_NAME } = metadata;
  const app = labels['app'] || labels['app.kubernetes.io/name'] || WORKLOAD_NAME || DEFAULT_SERVICE_CLUSTER;
  return `${app}.${NAMESPACE}`;
}
