import type { MeshNetworks, ProxyConfig, ProxyPathNormalization, Topology } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { cidrBlock, compareBlocks } from '../../base/cidr.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import { packed } from '../../proto/message.ts';
import type { HttpTracing } from '../filters/tracing.ts';
import { altStatName } from '../names.ts';
import { connectionSettings } from './connection-settings.ts';
import { clientCertificateHeaders, type Direction, edgeHeaders, proxyHeaders } from './proxy-headers.ts';

type ConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;
type NetworkFilter = envoy.config.listener.v3.Filter;

export interface ConnectionManagerInput {
  readonly direction: Direction;
  /** Without the `;` that ends it in Envoy. */
  readonly statPrefix: string;
  /** A prefix that somebody wrote, taken as it stands in the place of the other. */
  readonly ownStatPrefix?: string;
  /** The name of a route configuration that is asked for, or one that is inside. */
  readonly route: string | RouteConfiguration;
  readonly httpFilters: ConnectionManager['httpFilters'];
  readonly accessLog: ConnectionManager['accessLog'];
  readonly tracing: HttpTracing;
  /** The ProxyConfig that holds for the proxy. */
  readonly proxy: ProxyConfig;
  readonly pathNormalization: ProxyPathNormalization['normalization'];
  /** Of connections, in Go's notation; from the node's metadata. */
  readonly idleTimeout?: string;
  readonly http10: boolean;
  /** Requests to a proxy name the whole URL. */
  readonly absoluteUrls?: boolean;
  /** The port is declared to be HTTP/2. */
  readonly http2?: boolean;
  /** Of a gateway: what stands before it. */
  readonly topology?: Topology;
  readonly switches: ConnectionManagerSwitches;
  /** Networks whose callers count as internal; they are named only where `switches` ask for it. */
  readonly networks: MeshNetworks;
}

export interface ConnectionManagerSwitches {
  readonly proxy100Continue: boolean;
  /** Outbound requests keep the headers of their caller because it counts as internal. */
  readonly useRemoteAddress: boolean;
  readonly internalNetworks: boolean;
}

/** @see istio/istio pilot/pkg/networking/core/listener_builder.go `buildHTTPConnectionManager` */
function normalization(kind: ConnectionManagerInput['pathNormalization']): Partial<ConnectionManager> {
  const keep = { pathWithEscapedSlashesAction: 'KEEP_UNCHANGED' } as const;
  switch (kind ?? 'DEFAULT') {
    case 'NONE':
      return { ...keep, normalizePath: false };
    case 'DEFAULT':
    case 'BASE':
      return { ...keep, normalizePath: true };
    case 'MERGE_SLASHES':
      return { ...keep, normalizePath: true, mergeSlashes: true };
    case 'DECODE_AND_MERGE_SLASHES':
      return { normalizePath: true, mergeSlashes: true, pathWithEscapedSlashesAction: 'UNESCAPE_AND_FORWARD' };
  }
}

const PRESERVED_CASE = {
  statefulFormatter: {
    name: 'preserve_case',
    typedConfig: packed('envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig', {}),
  },
};

function http1Options({ direction, proxy, http10, absoluteUrls }: ConnectionManagerInput): Partial<ConnectionManager> {
  const preserveCase = proxy.proxyHeaders?.preserveHttp1HeaderCase === true;
  if (!preserveCase && !http10 && !absoluteUrls && direction !== 'gateway') return {};
  return {
    httpProtocolOptions: {
      ...(absoluteUrls ? { allowAbsoluteUrl: true } : {}),
      ...(http10 ? { acceptHttp10: true } : {}),
      ...(preserveCase ? { headerKeyFormat: PRESERVED_CASE } : {}),
    },
  };
}

/** The route configuration is asked for over the stream that the listener came by, and waited for. */
function routeSpecifier(route: string | RouteConfiguration): Partial<ConnectionManager> {
  if (typeof route !== 'string') return { routeConfig: route };
  return {
    rds: {
      routeConfigName: route,
      configSource: { ads: {}, initialFetchTimeout: '0s', resourceApiVersion: 'V3' },
    },
  };
}

/** Blocks of the mesh's networks, in order of addresses. */
function internalAddresses({ networks = {} }: MeshNetworks): Partial<ConnectionManager> {
  const blocks = Object.values(networks)
    .flatMap(({ endpoints }) => endpoints ?? [])
    .flatMap(({ fromCidr }) => (fromCidr === undefined ? [] : (cidrBlock(fromCidr) ?? [])))
    .sort(compareBlocks);
  if (blocks.length === 0) return {};
  const cidrRanges = blocks.map(({ address, prefixLength }) => ({ addressPrefix: address, prefixLen: prefixLength }));
  return { internalAddressConfig: { cidrRanges } };
}

/**
 * The network filter that speaks HTTP.
 * @see istio/istio pilot/pkg/networking/core/listener_builder.go `buildHTTPConnectionManager`
 */
export function connectionManager(input: ConnectionManagerInput): NetworkFilter {
  const { direction, proxy, switches, accessLog = [] } = input;
  const { tracing, useRequestId } = input.tracing;
  const settings = connectionSettings(proxy.connectionSettings);
  const commonOptions = {
    ...(input.idleTimeout === undefined ? {} : { idleTimeout: protoDuration(input.idleTimeout) }),
    ...settings.commonHttpProtocolOptions,
  };
  const useRemoteAddress =
    direction === 'gateway' || (direction === 'outbound' && !input.absoluteUrls && switches.useRemoteAddress);
  const manager: ConnectionManager = {
    statPrefix: input.ownStatPrefix || altStatName(input.statPrefix),
    ...routeSpecifier(input.route),
    httpFilters: input.httpFilters,
    ...(accessLog.length > 0 ? { accessLog } : {}),
    ...(tracing === undefined ? {} : { tracing }),
    upgradeConfigs: [{ upgradeType: 'websocket' }],
    useRemoteAddress,
    streamIdleTimeout: '0s',
    requestIdExtension: {
      typedConfig: packed('envoy.extensions.request_id.uuid.v3.UuidRequestIdConfig', {
        useRequestIdForTraceSampling: useRequestId,
      }),
    },
    ...(switches.proxy100Continue ? { proxy100Continue: true } : {}),
    ...proxyHeaders(proxy, direction),
    ...(direction === 'inbound' ? clientCertificateHeaders(proxy) : {}),
    ...(direction === 'gateway' ? edgeHeaders(input.topology ?? {}) : {}),
    ...normalization(input.pathNormalization),
    ...http1Options(input),
    ...(switches.internalNetworks || useRemoteAddress ? internalAddresses(input.networks) : {}),
    ...settings,
    ...(Object.keys(commonOptions).length > 0 ? { commonHttpProtocolOptions: commonOptions } : {}),
    ...(input.http2 || settings.http2ProtocolOptions
      ? { http2ProtocolOptions: settings.http2ProtocolOptions ?? {} }
      : {}),
  };
  return {
    name: 'envoy.filters.network.http_connection_manager',
    typedConfig: packed('envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager', manager),
  };
}
