import type { ConnectionSettings, HeadersWithUnderscoresAction } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { protoDuration } from '../../base/proto-duration.ts';

type ConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;
type UnderscoresAction = envoy.config.core.v3.HttpProtocolOptions.HeadersWithUnderscoresAction;

const UNDERSCORES: Readonly<Record<HeadersWithUnderscoresAction, UnderscoresAction | undefined>> = {
  HEADERS_WITH_UNDERSCORES_UNSPECIFIED: undefined,
  HEADERS_WITH_UNDERSCORES_ALLOW: 'ALLOW',
  HEADERS_WITH_UNDERSCORES_REJECT_REQUEST: 'REJECT_REQUEST',
  HEADERS_WITH_UNDERSCORES_DROP_HEADER: 'DROP_HEADER',
};

/** The fields whose values are there; undefined, so that the message stays absent, when none is. */
function present<T extends object>(fields: T): Partial<T> | undefined {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as Partial<T>);
}

function duration(text: string | undefined): string | undefined {
  return text === undefined ? undefined : protoDuration(text);
}

function count(value: number | undefined): number | undefined {
  return value === undefined || value < 0 ? undefined : value;
}

/** What is best for a proxy that takes strangers' connections, as Envoy's documentation has it. */
const EDGE_DEFAULTS: ConnectionSettings = {
  listenerPerConnectionBufferLimitBytes: 32 * 1024,
  httpIdleTimeout: '1h',
  httpStreamIdleTimeout: '5m',
  httpRequestTimeout: '5m',
  httpRequestHeadersTimeout: '1m',
  httpMaxConcurrentStreams: 100,
  http2InitialStreamWindowSize: 64 * 1024,
  http2InitialConnectionWindowSize: 1024 * 1024,
  httpHeadersWithUnderscoresAction: 'HEADERS_WITH_UNDERSCORES_REJECT_REQUEST',
  httpMergeSlashes: true,
  httpPathWithEscapedSlashesAction: 'UNESCAPE_AND_REDIRECT',
};

/** The settings of a gateway: the profile `EDGE` fills in what they leave open. */
export function gatewayConnectionSettings(settings: ConnectionSettings = {}): ConnectionSettings {
  if (settings.profile !== 'EDGE') return settings;
  const written = Object.entries(settings).filter(([, value]) => value !== undefined && !isUnspecified(value));
  return { ...EDGE_DEFAULTS, ...Object.fromEntries(written) };
}

function isUnspecified(value: unknown): boolean {
  return typeof value === 'string' && value.endsWith('_UNSPECIFIED');
}

/** @returns undefined where nothing is said of it */
export function connectionBufferLimit({
  listenerPerConnectionBufferLimitBytes: limit,
}: ConnectionSettings): number | undefined {
  return count(limit);
}

/**
 * Limits and timeouts of connections (`connectionSettings` of a ProxyConfig); what they set wins over the mesh's.
 * @see istio/istio pilot/pkg/networking/core/connection_settings.go
 */
export function connectionSettings(settings: ConnectionSettings = {}): Partial<ConnectionManager> {
  const escapedSlashes = settings.httpPathWithEscapedSlashesAction ?? 'PATH_WITH_ESCAPED_SLASHES_UNSPECIFIED';
  const commonHttpProtocolOptions = present({
    idleTimeout: duration(settings.httpIdleTimeout),
    maxConnectionDuration: duration(settings.httpMaxConnectionDuration),
    maxStreamDuration: duration(settings.httpMaxStreamDuration),
    headersWithUnderscoresAction:
      UNDERSCORES[settings.httpHeadersWithUnderscoresAction ?? 'HEADERS_WITH_UNDERSCORES_UNSPECIFIED'],
  });
  const http2ProtocolOptions = present({
    maxConcurrentStreams: count(settings.httpMaxConcurrentStreams),
    initialStreamWindowSize: count(settings.http2InitialStreamWindowSize),
    initialConnectionWindowSize: count(settings.http2InitialConnectionWindowSize),
  });
  const fields = present({
    commonHttpProtocolOptions,
    http2ProtocolOptions,
    streamIdleTimeout: duration(settings.httpStreamIdleTimeout),
    requestTimeout: duration(settings.httpRequestTimeout),
    requestHeadersTimeout: duration(settings.httpRequestHeadersTimeout),
    drainTimeout: duration(settings.httpDrainTimeout),
    mergeSlashes: settings.httpMergeSlashes,
    pathWithEscapedSlashesAction:
      escapedSlashes === 'PATH_WITH_ESCAPED_SLASHES_UNSPECIFIED' ? undefined : escapedSlashes,
  });
  return fields ?? {};
}
