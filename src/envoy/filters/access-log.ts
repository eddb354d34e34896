import type { envoy } from '#generated/proto/types.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { packed } from '../../proto/message.ts';

type AccessLog = envoy.config.accesslog.v3.AccessLog;
type SubstitutionFormatString = envoy.config.core.v3.SubstitutionFormatString;
type TypedExtensionConfig = envoy.config.core.v3.TypedExtensionConfig;

/** The loggers of one class of traffic, by where they stand. */
export interface AccessLogs {
  /** Of HTTP connection managers: a line a request. */
  readonly http: readonly AccessLog[];
  /** Of TCP proxies: a line a connection. */
  readonly tcp: readonly AccessLog[];
  /** Of listeners: connections that no filter chain took, of which nobody else knows. */
  readonly listener: readonly AccessLog[];
}

export const NO_ACCESS_LOGS: AccessLogs = { http: [], tcp: [], listener: [] };

/** What MeshConfig says of access logs, defaults applied. */
export interface MeshAccessLog {
  /** Empty: none. */
  readonly file: string;
  readonly encoding: 'TEXT' | 'JSON';
  /** Empty: the default format of the encoding. */
  readonly format: string;
  /** Whether they are sent to the `envoy_accesslog_service` of the bootstrap too. */
  readonly service: boolean;
  readonly listener: boolean;
}

const TEXT_FORMAT: string = [
  '[%START_TIME%] "%REQ(:METHOD)% %REQ(X-ENVOY-ORIGINAL-PATH?:PATH)% %PROTOCOL%"',
  '%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %CONNECTION_TERMINATION_DETAILS%',
  '"%UPSTREAM_TRANSPORT_FAILURE_REASON%" %BYTES_RECEIVED% %BYTES_SENT% %DURATION%',
  '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)% "%REQ(X-FORWARDED-FOR)%" "%REQ(USER-AGENT)%"',
  '"%REQ(X-REQUEST-ID)%" "%REQ(:AUTHORITY)%" "%UPSTREAM_HOST%" %UPSTREAM_CLUSTER_RAW%',
  '%UPSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_LOCAL_ADDRESS% %DOWNSTREAM_REMOTE_ADDRESS%',
  '%REQUESTED_SERVER_NAME% %ROUTE_NAME%\n',
].join(' ');

const JSON_FORMAT: JsonObject = {
  start_time: '%START_TIME%',
  route_name: '%ROUTE_NAME%',
  method: '%REQ(:METHOD)%',
  path: '%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%',
  protocol: '%PROTOCOL%',
  response_code: '%RESPONSE_CODE%',
  response_flags: '%RESPONSE_FLAGS%',
  response_code_details: '%RESPONSE_CODE_DETAILS%',
  connection_termination_details: '%CONNECTION_TERMINATION_DETAILS%',
  bytes_received: '%BYTES_RECEIVED%',
  bytes_sent: '%BYTES_SENT%',
  duration: '%DURATION%',
  upstream_service_time: '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%',
  x_forwarded_for: '%REQ(X-FORWARDED-FOR)%',
  user_agent: '%REQ(USER-AGENT)%',
  request_id: '%REQ(X-REQUEST-ID)%',
  authority: '%REQ(:AUTHORITY)%',
  upstream_host: '%UPSTREAM_HOST%',
  upstream_cluster: '%UPSTREAM_CLUSTER_RAW%',
  upstream_local_address: '%UPSTREAM_LOCAL_ADDRESS%',
  downstream_local_address: '%DOWNSTREAM_LOCAL_ADDRESS%',
  downstream_remote_address: '%DOWNSTREAM_REMOTE_ADDRESS%',
  requested_server_name: '%REQUESTED_SERVER_NAME%',
  upstream_transport_failure_reason: '%UPSTREAM_TRANSPORT_FAILURE_REASON%',
};

/** What Istio's metadata exchange knows of the peers, kept for a log service; an Envoy without it leaves it out. */
const PEER_STATE: readonly string[] = [
  'upstream_peer',
  'downstream_peer',
  'wasm.upstream_peer',
  'wasm.upstream_peer_id',
  'wasm.downstream_peer',
  'wasm.downstream_peer_id',
];

const LOG_SERVICE_CLUSTER = 'envoy_accesslog_service';

/** A connection is logged by the listener only when no filter chain took it. */
const NO_FILTER_CHAIN: AccessLog['filter'] = { responseFlagFilter: { flags: ['NR'] } };

/** Envoy has this operator in an extension, which is named only where it is used. */
function formatters(texts: readonly unknown[]): readonly TypedExtensionConfig[] {
  if (!texts.some((text) => typeof text === 'string' && text.includes('%REQ_WITHOUT_QUERY'))) return [];
  const config = packed('envoy.extensions.formatter.req_without_query.v3.ReqWithoutQuery', {});
  return [{ name: 'envoy.formatter.req_without_query', typedConfig: config }];
}

function textFormat(format: string): SubstitutionFormatString {
  const inlineString = format === '' ? TEXT_FORMAT : format.endsWith('\n') ? format : `${format}\n`;
  const extensions = formatters([inlineString]);
  return { textFormatSource: { inlineString }, ...(extensions.length > 0 ? { formatters: extensions } : {}) };
}

function jsonFormat(format: string): SubstitutionFormatString {
  const fields = format === '' ? JSON_FORMAT : (parsedFields(format) ?? JSON_FORMAT);
  const extensions = formatters(Object.values(fields));
  return {
    jsonFormat: fields,
    jsonFormatOptions: { sortProperties: false },
    ...(extensions.length > 0 ? { formatters: extensions } : {}),
  };
}

function parsedFields(text: string): JsonObject | undefined {
  try {
    const fields: unknown = JSON.parse(text);
    return isJsonObject(fields) ? fields : undefined;
  } catch {
    return undefined;
  }
}

function fileLog({ file, encoding, format }: MeshAccessLog): AccessLog {
  return {
    name: 'envoy.access_loggers.file',
    typedConfig: packed('envoy.extensions.access_loggers.file.v3.FileAccessLog', {
      path: file,
      logFormat: encoding === 'JSON' ? jsonFormat(format) : textFormat(format),
    }),
  };
}

function serviceLog(kind: 'http' | 'tcp', logName: string): AccessLog {
  const commonConfig = {
    logName,
    grpcService: { envoyGrpc: { clusterName: LOG_SERVICE_CLUSTER } },
    transportApiVersion: 'V3',
    filterStateObjectsToLog: PEER_STATE,
  } as const;
  return kind === 'http'
    ? {
        name: 'envoy.access_loggers.http_grpc',
        typedConfig: packed('envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig', { commonConfig }),
      }
    : {
        name: 'envoy.tcp_grpc_access_log',
        typedConfig: packed('envoy.extensions.access_loggers.grpc.v3.TcpGrpcAccessLogConfig', { commonConfig }),
      };
}

/**
 * The loggers of MeshConfig: `accessLogFile` and its fellows.
 * @see istio/istio pilot/pkg/networking/core/accesslog.go
 */
export function meshAccessLogs(mesh: MeshAccessLog): AccessLogs {
  const file = mesh.file === '' ? [] : [fileLog(mesh)];
  const service = (kind: 'http' | 'tcp', name: string) => (mesh.service ? [serviceLog(kind, name)] : []);
  const ofListener = mesh.listener ? [...file, ...service('tcp', 'listener_envoy_accesslog')] : [];
  return {
    http: [...file, ...service('http', 'http_envoy_accesslog')],
    tcp: [...file, ...service('tcp', 'tcp_envoy_accesslog')],
    listener: ofListener.map((log) => ({ ...log, filter: NO_FILTER_CHAIN })),
  };
}
