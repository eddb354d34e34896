import { parseDuration } from '../base/duration.ts';
import type { Environment } from '../process/environment.ts';
import type { Logger } from '../process/log.ts';
import { isFalse } from './environment.ts';

/** What Istio's variables say about the certificate authority. Times in milliseconds. */
export interface AuthoritySettings {
  /** `ENABLE_CA_SERVER`. */
  readonly isOn: boolean;
  /** Where an authority may be plugged in, relative to the working directory. `ROOT_CA_DIR`. */
  readonly directory: string;
  readonly defaultTtlMs: number;
  readonly maxTtlMs: number;
  readonly rootTtlMs: number;
  readonly checkMs: number;
  readonly gracePercent: number;
  /** Undefined: an elliptic key. */
  readonly rsaBits: number | undefined;
}

const HOUR = 3_600_000;
const RSA_BITS = { least: 2048, most: 8192 };

/**
 * @see istio/istio pilot/pkg/bootstrap/istio_ca.go and security/pkg/cmd/constants.go
 * @param log told of variables that can not be taken, whose defaults hold
 */
export function authoritySettings(env: Environment, log: Pick<Logger, 'warn'>): AuthoritySettings {
  const wrong = (name: string, needed: string): undefined =>
    void log.warn(`${name}: "${env[name]}" is ${needed}; the default holds`);
  const duration = (name: string, byDefault: number, least: number = 1000): number => {
    const text = env[name] ?? '';
    if (text === '') return byDefault;
    const value = parseDuration(text);
    return value !== undefined && value >= least ? value : (wrong(name, 'no duration as 24h') ?? byDefault);
  };
  const number = (name: string, { least, most }: { least: number; most: number }): number | undefined => {
    const text = env[name] ?? '';
    if (text === '') return undefined;
    const value = /^\d{1,6}$/.test(text) ? Number(text) : Number.NaN;
    return value >= least && value <= most ? value : wrong(name, `no number from ${least} to ${most}`);
  };
  return {
    isOn: !isFalse(env['ENABLE_CA_SERVER']),
    directory: (env['ROOT_CA_DIR'] || 'etc/cacerts').replace(/^\.\//, '').replace(/\/+$/, ''),
    defaultTtlMs: duration('DEFAULT_WORKLOAD_CERT_TTL', 24 * HOUR),
    maxTtlMs: duration('MAX_WORKLOAD_CERT_TTL', 90 * 24 * HOUR),
    rootTtlMs: duration('CITADEL_SELF_SIGNED_CA_CERT_TTL', 3650 * 24 * HOUR),
    checkMs: duration('CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL', HOUR, Number.NEGATIVE_INFINITY),
    gracePercent: number('CITADEL_SELF_SIGNED_ROOT_CERT_GRACE_PERIOD_PERCENTILE', { least: 0, most: 100 }) ?? 20,
    rsaBits: number('CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE', RSA_BITS),
  };
}
