import { isIpAddress } from '../base/address.ts';
import { isJsonObject, type JsonObject } from '../base/json.ts';
import type { Labels } from '../base/labels.ts';
import type { Locality } from './endpoint.ts';
import { lackedExtensions } from './envoy-extensions.ts';
import { istioMinorVersion } from './istio-version.ts';
import type { Capabilities, InterceptionMode, Proxy, ProxyType } from './proxy.ts';
import type { IpFamilies } from './scope.ts';

/** What a node says of itself in its first request. */
export interface NodeDescription {
  readonly id: string;
  /** Of which service it says to be a part. */
  readonly cluster?: string;
  readonly metadata: JsonObject;
  readonly locality?: { readonly region?: string; readonly zone?: string; readonly subZone?: string };
  /** Minor version of Envoy that it says to be. */
  readonly envoyMinor?: number;
  /** Names of the extensions that it was built with. */
  readonly extensions: readonly string[];
  /** Full names of the messages that these are configured with; a list that others share. */
  readonly extensionTypes?: readonly string[];
  /** Private keys of its namespace may go to it; absent: they may not. Not what it says, but what its connection is. */
  readonly keys?: boolean;
}

/** Why a node can't be served; `message` says what to write instead. */
export interface NodeRefusal {
  readonly refused: string;
}

const TYPES: readonly string[] = ['sidecar', 'router', 'waypoint'] satisfies ProxyType[];
const ISTIO_EXTENSIONS: ReadonlySet<string> = new Set(['istio.metadata_exchange', 'istio.stats', 'istio.alpn']);

const NO_TYPES: readonly string[] = [];
/** The namespace that a node says it is of: in its metadata, or else in its id. */
export function namespaceOfNode({ id, metadata }: NodeDescription): string {
  const [first = '', ...rest] = (id.split('~')[3] ?? '').split('.');
  return text(metadata, 'NAMESPACE') || (rest.length > 0 ? first : '');
}

/** @see istio/istio pilot/pkg/model/context.go `ParseServiceNodeWithMetadata` */
export function proxyOfNode(node: NodeDescription): Proxy | NodeRefusal {
  const { id: nodeId, metadata } = node;
  const parts = nodeId.split('~');
  const [type = '', address = '', id = '', dnsDomain = ''] = parts;
  if (parts.length !== 4) {
    return {
      refused: `node id "${nodeId}" is not of the form <type>~<ip>~<name>.<namespace>~<namespace>.svc.<domain>`,
    };
  }
  if (!TYPES.includes(type)) {
    return { refused: `node id "${nodeId}" begins with "${type}"; write sidecar or router` };
  }
  const named = addressesOf(metadata['INSTANCE_IPS']);
  const ips = named.length > 0 ? named : addressesOf(address);
  if (ips.length === 0) {
    return {
      refused: `node id "${nodeId}" has no IP address; write one after the first ~ or in metadata INSTANCE_IPS`,
    };
  }
  const { locality } = node;
  return {
    nodeId,
    type: type as ProxyType,
    ips,
    id,
    dnsDomain,
    namespace: namespaceOfNode(node),
    labels: labelsOf(metadata['LABELS']),
    metadata,
    ...(locality ? { locality: localityOf(locality) } : {}),
    network: text(metadata, 'NETWORK'),
    clusterId: text(metadata, 'CLUSTER_ID'),
    serviceAccount: text(metadata, 'SERVICE_ACCOUNT'),
    serviceCluster: node.cluster ?? '',
    istioMinor: istioMinorVersion(text(metadata, 'ISTIO_VERSION'), node.envoyMinor),
    interceptionMode: interceptionMode(text(metadata, 'INTERCEPTION_MODE')),
    revision: text(metadata, 'ISTIO_REVISION') || labelsOf(metadata['LABELS'])['istio.io/rev'] || '',
    capabilities: capabilitiesOf(node),
    extensionTypes: node.extensionTypes ?? NO_TYPES,
  };
}

function localityOf({ region = '', zone = '', subZone = '' }: NonNullable<NodeDescription['locality']>): Locality {
  return { region, zone, subZone };
}

function addressesOf(value: unknown): readonly string[] {
  const items = Array.isArray(value) ? value : typeof value === 'string' ? value.split(',') : [];
  return items.map((item) => String(item).trim()).filter(isIpAddress);
}

function text(metadata: JsonObject, name: string): string {
  const value = metadata[name];
  return typeof value === 'string' ? value : '';
}

function labelsOf(value: unknown): Labels {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).flatMap(([k, v]) => (typeof v === 'string' ? [[k, v]] : [])));
}

function interceptionMode(mode: string): InterceptionMode {
  return mode === 'NONE' || mode === 'TPROXY' ? mode : 'REDIRECT';
}

/** `AGENT` is set by istio-agent in the bootstraps that it writes. */
function capabilitiesOf({ metadata, extensions, keys = false }: NodeDescription): Capabilities {
  const istioExtensions = extensions.some((name) => ISTIO_EXTENSIONS.has(name));
  const said = (name: string) => metadata[name] === true || text(metadata, name).toLowerCase() === 'true';
  return {
    istioExtensions,
    lacks: lackedExtensions(extensions),
    istioStats: extensions.includes('istio.stats'),
    sds: istioExtensions || said('SDS') || said('AGENT'),
    keys,
    grpc: text(metadata, 'GENERATOR') === 'grpc',
  };
}

/** @see istio/istio pkg/model/proxy.go `DiscoverIPMode` */
export function ipFamiliesOf(ips: readonly string[]): IpFamilies {
  const v6 = ips.map((ip) => ip.includes(':'));
  if (v6.every((is) => !is)) return 'IPv4';
  if (v6.every((is) => is)) return 'IPv6';
  return v6[0] ? 'dual-IPv6' : 'dual-IPv4';
}
