import type { ConnectionPoolSettings, OutlierDetection } from '#generated/config/specs.ts';
import type { envoy, google } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';
import { isHttp, isHttp2, type Protocol } from '../../model/protocol.ts';

export type HttpOptions = envoy.extensions.upstreams.http.v3.HttpProtocolOptions;
type Any = google.protobuf.Any;
type Http1 = envoy.config.core.v3.Http1ProtocolOptions;

const HTTP_OPTIONS = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';

/** Which HTTP the proxy speaks to a cluster: as it is told, as its own client does, or (`unset`) Envoy's HTTP/1.1. */
export type UpstreamProtocol = 'http1' | 'http2' | 'downstream' | 'unset';

export interface UpstreamProtocolInput {
  readonly protocol: Protocol;
  /** Gateways do not detect protocols, so they do not pass on the one that they were spoken to in either. */
  readonly detectsProtocols: boolean;
  readonly preserveHeaderCase: boolean;
}

/** @see istio/istio pilot/pkg/networking/core/cluster_builder.go `setUpstreamProtocol` */
export function upstreamProtocol({
  protocol,
  detectsProtocols,
  preserveHeaderCase,
}: UpstreamProtocolInput): UpstreamProtocol {
  if (isHttp2(protocol)) return 'http2';
  if (protocol === 'Unsupported' && detectsProtocols) return 'downstream';
  return preserveHeaderCase && (isHttp(protocol) || protocol === 'Unsupported') ? 'http1' : 'unset';
}

/**
 * Whether HTTP/1.1 is to become HTTP/2 on the way: the rule's word, else the mesh's for ports that are known to be HTTP.
 * @see istio/istio pilot/pkg/networking/core/cluster_traffic_policy.go `shouldH2Upgrade`
 */
export function isUpgraded(
  pool: ConnectionPoolSettings | undefined,
  protocol: Protocol,
  mesh: string | undefined,
): boolean {
  const { useClientProtocol, h2UpgradePolicy } = pool?.http ?? {};
  if (useClientProtocol || h2UpgradePolicy === 'DO_NOT_UPGRADE') return false;
  return h2UpgradePolicy === 'UPGRADE' || (isHttp(protocol) && mesh === 'UPGRADE');
}

export interface HttpOptionsInput {
  readonly protocol: UpstreamProtocol;
  readonly preserveHeaderCase: boolean;
  readonly pool: ConnectionPoolSettings | undefined;
  readonly outlierDetection?: OutlierDetection | undefined;
  /** SNI and the name to expect of the server are those of the request. */
  readonly autoSni?: boolean;
  readonly autoSanValidation?: boolean;
}

/** @returns undefined when Envoy's defaults do */
export function httpOptions(input: HttpOptionsInput): HttpOptions | undefined {
  const { pool, autoSni = false, autoSanValidation = false } = input;
  const clientProtocol = pool?.http?.useClientProtocol === true;
  const protocol = clientProtocol ? 'downstream' : input.protocol;
  const common = commonOptions(pool);
  const codes = input.outlierDetection?.outlierDetectionHttpErrorCodes ?? [];
  const auto = autoSni || autoSanValidation;
  if (protocol === 'unset' && common === undefined && codes.length === 0 && !auto) return undefined;
  // Letters keep their case in what is HTTP/1.1 by the port's word, and in nothing that was HTTP/2 before.
  const preserve =
    input.preserveHeaderCase && !(clientProtocol && input.protocol === 'http2') && input.protocol !== 'unset';
  return {
    ...(common === undefined ? {} : { commonHttpProtocolOptions: common }),
    ...(auto
      ? {
          upstreamHttpProtocolOptions: {
            ...(autoSni ? { autoSni } : {}),
            ...(autoSanValidation ? { autoSanValidation } : {}),
          },
        }
      : {}),
    ...protocolOptions(protocol, preserve, pool),
    ...(codes.length > 0 ? { outlierDetection: { errorMatcher: statusMatcher(codes) } } : {}),
  };
}

export function httpOptionsExtension(options: HttpOptions | undefined): {
  typedExtensionProtocolOptions?: Readonly<Record<string, Any>>;
} {
  if (options === undefined) return {};
  return {
    typedExtensionProtocolOptions: { [HTTP_OPTIONS]: { '@type': `type.googleapis.com/${HTTP_OPTIONS}`, ...options } },
  };
}

function protocolOptions(
  protocol: UpstreamProtocol,
  preserveHeaderCase: boolean,
  pool: ConnectionPoolSettings | undefined,
): HttpOptions {
  const http1 = preserveHeaderCase ? PRESERVE_CASE : {};
  switch (protocol) {
    case 'downstream':
      return { useDownstreamProtocolConfig: { httpProtocolOptions: http1, http2ProtocolOptions: {} } };
    case 'http2':
      return { explicitHttpConfig: { http2ProtocolOptions: http2Options(pool) } };
    case 'http1':
    case 'unset':
      return { explicitHttpConfig: { httpProtocolOptions: http1 } };
  }
}

const PRESERVE_CASE: Http1 = {
  headerKeyFormat: {
    statefulFormatter: {
      name: 'preserve_case',
      typedConfig: {
        '@type':
          'type.googleapis.com/envoy.extensions.http.header_formatters.preserve_case.v3.PreserveCaseFormatterConfig',
      },
    },
  },
};

function http2Options(pool: ConnectionPoolSettings | undefined): envoy.config.core.v3.Http2ProtocolOptions {
  const { maxConcurrentStreams = 0, http2KeepAlive: { interval, timeout } = {}, http2KeepAlive } = pool?.http ?? {};
  return {
    ...(maxConcurrentStreams > 0 ? { maxConcurrentStreams } : {}),
    ...(http2KeepAlive
      ? {
          connectionKeepalive: {
            ...(interval ? { interval: protoDuration(interval) } : {}),
            ...(timeout ? { timeout: protoDuration(timeout) } : {}),
          },
        }
      : {}),
  };
}

function commonOptions(pool: ConnectionPoolSettings | undefined): envoy.config.core.v3.HttpProtocolOptions | undefined {
  const { maxConnectionDuration, idleTimeout: tcpIdleTimeout } = pool?.tcp ?? {};
  const {
    idleTimeout = tcpIdleTimeout,
    maxRequestsPerConnection = 0,
    maxConcurrentStreams = 0,
    http2KeepAlive,
  } = pool?.http ?? {};
  const any =
    maxConnectionDuration || idleTimeout || maxRequestsPerConnection > 0 || maxConcurrentStreams > 0 || http2KeepAlive;
  if (!any) return undefined;
  return {
    ...(idleTimeout ? { idleTimeout: protoDuration(idleTimeout) } : {}),
    ...(maxRequestsPerConnection > 0 ? { maxRequestsPerConnection } : {}),
    ...(maxConnectionDuration ? { maxConnectionDuration: protoDuration(maxConnectionDuration) } : {}),
  };
}

function statusMatcher(codes: readonly number[]): envoy.config.common.matcher.v3.MatchPredicate {
  const rules = codes.map((code) => ({
    httpResponseHeadersMatch: { headers: [{ name: ':status', stringMatch: { exact: String(code) } }] },
  }));
  const [first, ...others] = rules;
  return first !== undefined && others.length === 0 ? first : { orMatch: { rules } };
}

/** Of clusters that pass traffic on as it came. */
export function passthroughHttpOptions(preserveHeaderCase: boolean): HttpOptions {
  return {
    commonHttpProtocolOptions: { idleTimeout: '300s' },
    useDownstreamProtocolConfig: {
      httpProtocolOptions: preserveHeaderCase ? PRESERVE_CASE : {},
      http2ProtocolOptions: {},
    },
  };
}
