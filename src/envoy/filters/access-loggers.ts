import type {
  EnvoyFileAccessLogProvider,
  EnvoyOpenTelemetryLogProvider,
  ExtensionProvider,
} from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { type JsonObject, parsedObject } from '../../base/json.ts';
import { compareStrings } from '../../base/order.ts';
import { packed } from '../../proto/message.ts';
import { formatters, jsonFormat, TEXT_FORMAT, textFormat } from './access-log-format.ts';
import type { FindService } from './provider-service.ts';

export type AccessLog = envoy.config.accesslog.v3.AccessLog;
type EnvoyGrpc = envoy.config.core.v3.GrpcService.EnvoyGrpc;
type CommonGrpcConfig = envoy.extensions.access_loggers.grpc.v3.CommonGrpcAccessLogConfig;
type SubstitutionFormatString = envoy.config.core.v3.SubstitutionFormatString;

/** How MeshConfig has lines of a file written. */
export interface MeshLogFormat {
  readonly encoding: 'TEXT' | 'JSON';
  /** Empty: the default format of the encoding. */
  readonly format: string;
}

/** What Istio's metadata exchange knows of the peers; an Envoy without it leaves it out. */
const PEERS: readonly string[] = ['upstream_peer', 'downstream_peer'];

/** The same, with the names that it had before. */
export const PEERS_OF_OLD: readonly string[] = [
  ...PEERS,
  'wasm.upstream_peer',
  'wasm.upstream_peer_id',
  'wasm.downstream_peer',
  'wasm.downstream_peer_id',
];

const STDOUT = '/dev/stdout';

/** The provider that is there without being written, for the format that MeshConfig has. */
const BUILTIN = 'envoy';

function fileLog(path: string, logFormat: SubstitutionFormatString | undefined): AccessLog {
  return {
    name: 'envoy.access_loggers.file',
    typedConfig: packed('envoy.extensions.access_loggers.file.v3.FileAccessLog', {
      path,
      ...(logFormat === undefined ? {} : { logFormat }),
    }),
  };
}

/** A file in MeshConfig's format. */
export function meshFileLog(path: string, { encoding, format }: MeshLogFormat): AccessLog {
  return fileLog(path, encoding === 'JSON' ? jsonFormat(parsedObject(format)) : textFormat(format));
}

/** A format without text and labels is none: Envoy has one of its own. */
function providerFormat({
  logFormat,
  omitEmptyValues,
}: EnvoyFileAccessLogProvider): SubstitutionFormatString | undefined {
  const omit = omitEmptyValues ? { omitEmptyValues } : {};
  if (logFormat === undefined) return { ...textFormat(''), ...omit };
  const { text, labels } = logFormat;
  if (text !== undefined) return { ...textFormat(text), ...omit };
  if (labels === undefined) return undefined;
  return { ...jsonFormat(Object.keys(labels).length === 0 ? undefined : (labels as JsonObject)), ...omit };
}

function commonConfig(logName: string, envoyGrpc: EnvoyGrpc, filterState: readonly string[]): CommonGrpcConfig {
  return { logName, grpcService: { envoyGrpc }, transportApiVersion: 'V3', filterStateObjectsToLog: filterState };
}

/** Envoy's own protocol for logs. */
export interface GrpcLog {
  readonly logName: string;
  readonly service: EnvoyGrpc;
  readonly filterState: readonly string[];
}

export function tcpGrpcLog({ logName, service, filterState }: GrpcLog): AccessLog {
  return {
    name: 'envoy.tcp_grpc_access_log',
    typedConfig: packed('envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig', {
      commonConfig: commonConfig(logName, service, filterState),
    }),
  };
}

/** Headers that go along with a request's record. */
interface LoggedHeaders {
  readonly additionalRequestHeadersToLog?: readonly string[];
  readonly additionalResponseHeadersToLog?: readonly string[];
  readonly additionalResponseTrailersToLog?: readonly string[];
}

export function httpGrpcLog({ logName, service, filterState }: GrpcLog, headers: LoggedHeaders): AccessLog {
  return {
    name: 'envoy.access_loggers.http_grpc',
    typedConfig: packed('envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig', {
      commonConfig: commonConfig(logName, service, filterState),
      ...headers,
    }),
  };
}

function openTelemetryLog({ logName, logFormat = {} }: EnvoyOpenTelemetryLogProvider, envoyGrpc: EnvoyGrpc): AccessLog {
  const text = logFormat.text || TEXT_FORMAT;
  const labels = Object.entries(logFormat.labels ?? {}).sort(([a], [b]) => compareStrings(a, b));
  const values = labels.map(([key, value]) => ({
    key,
    value: { stringValue: typeof value === 'string' ? value : '' },
  }));
  return {
    name: 'envoy.access_loggers.open_telemetry',
    typedConfig: packed('envoy.extensions.access_loggers.open_telemetry.v3.OpenTelemetryAccessLogConfig', {
      commonConfig: commonConfig(logName || 'otel_envoy_accesslog', envoyGrpc, PEERS_OF_OLD),
      body: { stringValue: text },
      ...(values.length > 0 ? { attributes: { values } } : {}),
      disableBuiltinLabels: true,
      ...formatters([text, ...labels.map(([, value]) => value)]),
    }),
  };
}

/**
 * The logger of a provider of mesh.yaml.
 *
 * @returns undefined for one that logs nothing, or whose service there is not
 * @see istio/istio pilot/pkg/model/telemetry_logging.go `telemetryAccessLog`
 */
export function providerLog(
  provider: ExtensionProvider,
  find: FindService,
  mesh: MeshLogFormat,
): AccessLog | undefined {
  const { envoyFileAccessLog: file, envoyHttpAls: http, envoyTcpAls: tcp, envoyOtelAls: otel } = provider;
  if (file !== undefined) {
    const asMesh = provider.name === BUILTIN && file.logFormat === undefined && !file.omitEmptyValues;
    return asMesh ? meshFileLog(file.path ?? '', mesh) : fileLog(file.path || STDOUT, providerFormat(file));
  }
  const remote = http ?? tcp ?? otel;
  const found = remote && find(remote.service ?? '', remote.port ?? 0);
  if (found === undefined) return undefined;
  const service = { clusterName: found.cluster, authority: found.hostname };
  const filterState = (named: readonly string[] = []) => (named.length > 0 ? named : PEERS);
  if (http !== undefined) {
    const { logName, filterStateObjectsToLog, service: _service, port: _port, ...headers } = http;
    const log = {
      logName: logName || 'http_envoy_accesslog',
      service,
      filterState: filterState(filterStateObjectsToLog),
    };
    return httpGrpcLog(log, headers);
  }
  if (tcp !== undefined) {
    const { logName, filterStateObjectsToLog } = tcp;
    return tcpGrpcLog({
      logName: logName || 'tcp_envoy_accesslog',
      service,
      filterState: filterState(filterStateObjectsToLog),
    });
  }
  return otel && openTelemetryLog(otel, service);
}
