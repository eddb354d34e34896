import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Diagnostic } from '../base/diagnostic.ts';
import { parseDuration } from '../base/duration.ts';
import { fieldPath } from '../config/finding.ts';
import { locationAt, offsetOf } from '../config/locate.ts';
import { normalized } from '../config/normalize.ts';
import { readYaml } from '../config/yaml.ts';
import { IstiodOptionsSchema } from './options-schema.ts';

export const OPTIONS_FILE = 'etc/istio/istiod.yaml';

/** Where the server listens: `host:port`, or empty for off. */
export interface ListenAddresses {
  readonly grpc: string;
  /** Path of a socket. */
  readonly grpcUnix: string;
  readonly grpcTls: string;
  readonly envoyTls: string;
  readonly http: string;
  readonly monitoring: string;
}

/** The server's own options, defaults filled in. */
export interface Settings {
  readonly listen: ListenAddresses;
  readonly namespace: string;
  readonly revision: string;
  readonly watchNamespaces: readonly string[];
  readonly mode: 'full' | 'minion' | 'ca';
  readonly secretsOverPlaintext: boolean;
  readonly settleMs: number;
  readonly log: { readonly level: 'debug' | 'info' | 'warn' | 'error'; readonly format?: 'json' | 'pretty' };
}

type Written = Partial<Omit<Settings, 'listen' | 'settleMs' | 'log'>> & {
  readonly listen?: Partial<ListenAddresses>;
  readonly settle?: string;
  readonly log?: Partial<Settings['log']>;
};

const DEFAULT_LISTEN: ListenAddresses = {
  grpc: '127.0.0.1:15010',
  grpcUnix: '',
  grpcTls: '0.0.0.0:15012',
  envoyTls: '',
  http: '127.0.0.1:8080',
  monitoring: '127.0.0.1:15014',
};

export interface ReadSettings {
  /** Absent when the file can not be taken. */
  readonly settings?: Settings;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads `etc/istio/istiod.yaml` under `root`. A missing file means the defaults; an option that is unknown, of the wrong type or
 * no address is an error with its place.
 */
export function readSettings(root: string): ReadSettings {
  let text = '';
  try {
    text = readFileSync(join(root, OPTIONS_FILE), 'utf8');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') return { diagnostics: [unreadable(`can not be read: ${message}`)] };
  }
  return parseSettings(text);
}

function unreadable(message: string): Diagnostic {
  return { severity: 'error', code: 'VM0101', message, location: { file: OPTIONS_FILE, line: 1, column: 1 } };
}

/** @param text of `istiod.yaml`; empty for all defaults */
export function parseSettings(text: string): ReadSettings {
  const raw = { file: OPTIONS_FILE, line: 1, text };
  const { value, problems, events } = readYaml(text);
  const syntax = problems.map(({ severity, code, offset, message }) => ({
    severity,
    code,
    message,
    location: locationAt(raw, offset),
  }));
  if (syntax.some(({ severity }) => severity === 'error')) return { diagnostics: syntax };
  const read = normalized(IstiodOptionsSchema, value ?? {}, {
    unknownField: 'error',
    deprecatedField: 'warning',
    lastOfGroup: false,
  });
  const written = (read.value ?? {}) as Written;
  const findings = [...read.findings, ...addressFindings(written.listen ?? {})];
  const diagnostics = [
    ...syntax,
    ...findings.map(({ severity, code, message, path }) => ({
      severity,
      code,
      message,
      path: fieldPath(path),
      location: locationAt(raw, offsetOf(text, events, path)),
    })),
  ];
  if (diagnostics.some(({ severity }) => severity === 'error')) return { diagnostics };
  return { settings: withDefaults(written), diagnostics };
}

function addressFindings(listen: Partial<ListenAddresses>) {
  return Object.entries(listen).flatMap(([name, address]) => {
    if (address === '' || name === 'grpcUnix' || parseAddress(address) !== undefined) return [];
    const message = `"${address}" is no address: write host:port, as 127.0.0.1:15010, or "" to switch it off`;
    return [{ severity: 'error' as const, code: 'IST0106', message, path: ['listen', name] }];
  });
}

/** `127.0.0.1:15010`, `[::1]:15010` or `:15010` (all addresses). */
export function parseAddress(text: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  if (match === null || Number(match[3]) > 65535) return undefined;
  return { host: match[1] ?? (match[2] || '0.0.0.0'), port: Number(match[3]) };
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}

function withDefaults(written: Written): Settings {
  return {
    listen: { ...DEFAULT_LISTEN, ...written.listen },
    namespace: written.namespace ?? 'istio-system',
    revision: written.revision ?? 'default',
    watchNamespaces: written.watchNamespaces ?? [],
    mode: written.mode ?? 'full',
    secretsOverPlaintext: written.secretsOverPlaintext ?? false,
    settleMs: parseDuration(written.settle ?? '250ms') ?? 250,
    log: { level: written.log?.level ?? 'info', ...(written.log?.format ? { format: written.log.format } : {}) },
  };
}
