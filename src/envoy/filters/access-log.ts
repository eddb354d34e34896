import type { ExtensionProvider } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { isEvaluable } from '../../config/kinds/cel.ts';
import type { LoggedBy } from '../../model/telemetry/access-logging.ts';
import { packed } from '../../proto/message.ts';
import {
  type AccessLog,
  httpGrpcLog,
  type MeshLogFormat,
  meshFileLog,
  PEERS_OF_OLD,
  providerLog,
  tcpGrpcLog,
} from './access-loggers.ts';
import { namesExtension } from './extension-names.ts';
import type { FindService } from './provider-service.ts';

type AccessLogFilter = envoy.config.accesslog.v3.AccessLogFilter;

/** The loggers of one class of traffic, by where they stand. */
export interface AccessLogs {
  /** Of HTTP connection managers: a line a request. */
  readonly http: readonly AccessLog[];
  /** Of TCP proxies: a line a connection. */
  readonly tcp: readonly AccessLog[];
  /** Of listeners: connections that no filter chain took, of which nobody else knows. */
  readonly listener: readonly AccessLog[];
}

/** Those of the loggers that an Envoy without these extensions takes. */
export function logsWithout(lacks: readonly string[], logs: AccessLogs): AccessLogs {
  const taken = (list: readonly AccessLog[]) => list.filter((log) => !namesExtension(log, lacks));
  return lacks.length === 0 ? logs : { http: taken(logs.http), tcp: taken(logs.tcp), listener: taken(logs.listener) };
}

export const NO_ACCESS_LOGS: AccessLogs = { http: [], tcp: [], listener: [] };

/** What MeshConfig says of access logs, defaults applied. */
export interface MeshAccessLog extends MeshLogFormat {
  /** Empty: none. */
  readonly file: string;
  /** Whether they are sent to the `envoy_accesslog_service` of the bootstrap too. */
  readonly service: boolean;
  readonly listener: boolean;
}

const LOG_SERVICE = { clusterName: 'envoy_accesslog_service' };

/** A connection is logged by the listener only when no filter chain took it. */
const NO_FILTER_CHAIN: AccessLogFilter = { responseFlagFilter: { flags: ['NR'] } };

/**
 * The loggers of MeshConfig: `accessLogFile` and its fellows.
 * @see istio/istio pilot/pkg/networking/core/accesslog.go
 */
export function meshAccessLogs(mesh: MeshAccessLog): AccessLogs {
  const file = mesh.file === '' ? [] : [meshFileLog(mesh.file, mesh)];
  const toService = (logName: string) => ({ logName, service: LOG_SERVICE, filterState: PEERS_OF_OLD });
  const ofListener = [...file, ...(mesh.service ? [tcpGrpcLog(toService('listener_envoy_accesslog'))] : [])];
  return {
    http: [...file, ...(mesh.service ? [httpGrpcLog(toService('http_envoy_accesslog'), {})] : [])],
    tcp: [...file, ...(mesh.service ? [tcpGrpcLog(toService('tcp_envoy_accesslog'))] : [])],
    listener: mesh.listener ? ofListener.map((log) => ({ ...log, filter: NO_FILTER_CHAIN })) : [],
  };
}

function celFilter(expression: string): AccessLogFilter {
  return {
    extensionFilter: {
      name: 'envoy.access_loggers.extension_filters.cel',
      typedConfig: packed('envoy.extensions.access_loggers.filters.cel.v3.ExpressionFilter', { expression }),
    },
  };
}

function filtered(log: AccessLog, filters: readonly AccessLogFilter[]): AccessLog {
  const [first, ...more] = filters;
  if (first === undefined) return log;
  return { ...log, filter: more.length === 0 ? first : { andFilter: { filters } } };
}

export interface TelemetryAccessLogInput {
  /** In the order in which loggers shall stand. */
  readonly loggedBy: readonly LoggedBy[];
  readonly provider: (name: string) => ExtensionProvider | undefined;
  readonly find: FindService;
  readonly mesh: MeshAccessLog;
}

/**
 * The loggers that Telemetries and default providers ask for. Where none of these can log, those of MeshConfig do; a logger that
 * is switched off can.
 *
 * @see istio/istio pilot/pkg/model/telemetry.go `AccessLogging`
 * @see istio/istio pilot/pkg/networking/core/accesslog.go `buildAccessLogFromTelemetry`
 */
export function telemetryAccessLogs({ loggedBy, provider, find, mesh }: TelemetryAccessLogInput): AccessLogs {
  const loggers = loggedBy.flatMap(({ provider: name, disabled, filter }) => {
    const known = provider(name);
    const log = known && providerLog(known, find, mesh);
    if (log === undefined) return [];
    // All that the listener is for would be refused with an expression that can not be evaluated.
    const isOff = disabled || (filter !== undefined && !isEvaluable(filter));
    return [{ log, isOff, filters: filter === undefined ? [] : [celFilter(filter)] }];
  });
  if (loggers.length === 0) return meshAccessLogs(mesh);
  const active = loggers.filter(({ isOff }) => !isOff);
  const logs = active.map(({ log, filters }) => filtered(log, filters));
  const ofListener = active.map(({ log, filters }) => filtered(log, [NO_FILTER_CHAIN, ...filters]));
  return { http: logs, tcp: logs, listener: mesh.listener ? ofListener : [] };
}
