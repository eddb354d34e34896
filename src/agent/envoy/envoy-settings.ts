import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import type { ProxyConfig } from '#generated/config/specs.ts';
import { parseDuration } from '../../base/duration.ts';
import type { Environment } from '../../process/environment.ts';
import { EXIT, StartError } from '../../process/failure.ts';
import { under } from '../read-file.ts';
import { isTrue } from '../settings.ts';
import { valueOf } from '../variables.ts';
import type { EnvoyPorts } from './bootstrap.ts';

/** Settings of an agent's Envoy, defaults filled in. */
export interface EnvoySettings {
  readonly path: string;
  /** Relative to the working directory, or absolute: for its configuration and the agent's sockets. */
  readonly directory: string;
  /** A bootstrap that somebody has written; undefined: the agent makes one. */
  readonly customBootstrap: string | undefined;
  readonly ports: EnvoyPorts;
  /** Worker threads; undefined: as Envoy likes. */
  readonly concurrency: number | undefined;
  readonly logLevel: string;
  /** Milliseconds; of listeners that change. */
  readonly drainMs: number;
  readonly terminationDrainMs: number;
  /** Undefined: the whole time is waited. */
  readonly leastDrainMs: number | undefined;
}

const DEFAULT_PATH = '/usr/local/bin/envoy';
const FALLBACK_PATH = '/usr/bin/envoy';

/** Undefined: the agent goes without an Envoy. @throws StartError when there is none where it should be */
export function envoySettings(root: string, env: Environment, proxyConfig: ProxyConfig): EnvoySettings | undefined {
  if (isTrue(env['DISABLE_ENVOY'])) return undefined;
  const { configPath = './etc/istio/proxy', customConfigFile, concurrency = 0 } = proxyConfig;
  const named = env['ENVOY_PATH'] || proxyConfig.binaryPath;
  const candidates = (named ? [named] : [DEFAULT_PATH, FALLBACK_PATH]).map((file) => under(root, file));
  const path = candidates.find(isExecutable);
  if (path === undefined) {
    const message = `there is no Envoy at ${candidates.join(' or ')}: install it, write its path into ENVOY_PATH, or DISABLE_ENVOY=true to go without`;
    throw new StartError(EXIT.config, message);
  }
  return {
    path,
    directory: configPath,
    customBootstrap: customConfigFile || undefined,
    ports: {
      admin: proxyConfig.proxyAdminPort ?? 15_000,
      agent: statusPort(proxyConfig),
      ready: Number(valueOf(env, 'ENVOY_STATUS_PORT')),
      metrics: Number(valueOf(env, 'ENVOY_PROMETHEUS_PORT')),
    },
    concurrency: concurrency > 0 ? concurrency : undefined,
    logLevel: valueOf(env, 'ENVOY_LOG_LEVEL'),
    drainMs: milliseconds(proxyConfig.drainDuration, 45_000),
    terminationDrainMs: milliseconds(proxyConfig.terminationDrainDuration, 5000),
    leastDrainMs: isTrue(env['EXIT_ON_ZERO_ACTIVE_CONNECTIONS'])
      ? milliseconds(env['MINIMUM_DRAIN_DURATION'], 5000)
      : undefined,
  };
}

/** Of the agent's own HTTP. */
export function statusPort({ statusPort: port = 15_020 }: ProxyConfig): number {
  return port;
}

function milliseconds(text: string | undefined, otherwise: number): number {
  return (text ? parseDuration(text) : undefined) ?? otherwise;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** What Envoy is started with. @param config path of its bootstrap, as it opens it */
export function envoyArguments({ concurrency, logLevel, drainMs }: EnvoySettings, config: string): readonly string[] {
  return [
    ...['-c', config],
    '--disable-hot-restart',
    '--allow-unknown-static-fields',
    ...['--drain-time-s', String(Math.max(1, Math.round(drainMs / 1000)))],
    ...['--drain-strategy', 'immediate'],
    ...['--local-address-ip-version', 'v4'],
    ...['--file-flush-interval-msec', '1000'],
    ...['--log-level', logLevel],
    ...(concurrency === undefined ? [] : ['--concurrency', String(concurrency)]),
  ];
}

/** Its bootstrap, in the directory of its configuration. */
export function bootstrapPath({ directory }: EnvoySettings): string {
  return join(directory, 'envoy-rev.json');
}
