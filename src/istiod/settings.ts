import { join } from 'node:path';
import type { Diagnostic, SourceLocation } from '../base/diagnostic.ts';
import { parseDuration } from '../base/duration.ts';
import { addressProblem, parseAddress } from '../base/host-port.ts';
import { type Finding, placeOf } from '../config/finding.ts';
import { LIMITS } from '../config/limits.ts';
import type { LogSettings } from '../process/log.ts';
import { fileText } from '../sources/read-file.ts';
import { readOptions } from './options-file.ts';
import { DEFAULT_LISTEN, IstiodOptionsSchema, type ListenOption } from './options-schema.ts';

export const OPTIONS_FILE = 'etc/istio/istiod.yaml';

/** `host:port`, or empty for off; of `grpcUnix` the path of a socket. */
export type ListenAddresses = Readonly<Record<ListenOption, string>>;

/** The server's own options, defaults filled in. */
export interface Settings {
  readonly listen: ListenAddresses;
  /** Where the file says an address; absent for defaults. */
  readonly listenPlaces: Readonly<Partial<Record<ListenOption, SourceLocation>>>;
  readonly namespace: string;
  readonly revision: string;
  readonly watchNamespaces: readonly string[];
  readonly mode: 'full' | 'minion' | 'ca';
  readonly secretsOverPlaintext: boolean;
  readonly settleMs: number;
  readonly log: LogSettings;
}

type Written = Partial<Omit<Settings, 'listen' | 'listenPlaces' | 'settleMs' | 'log'>> & {
  readonly listen?: Partial<ListenAddresses>;
  readonly registry?: { readonly store?: string };
  readonly settle?: string;
  readonly log?: Partial<LogSettings>;
};

export interface ReadSettings {
  /** Absent when the file can not be taken. */
  readonly settings?: Settings;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Reads `etc/istio/istiod.yaml` under `root`. A missing file means the defaults; an option that is unknown, of the wrong type, no
 * address, or not in this version is an error with its place.
 */
export function readSettings(root: string): ReadSettings {
  try {
    return parseSettings(fileText(join(root, OPTIONS_FILE), LIMITS.fileBytes) ?? '');
  } catch (error) {
    const location = { file: OPTIONS_FILE, line: 1, column: 1 };
    return { diagnostics: [{ severity: 'error', code: 'VM0101', message: (error as Error).message, location }] };
  }
}

/** @param text of `istiod.yaml`; empty for all defaults */
export function parseSettings(text: string): ReadSettings {
  const listenOf = (written: Written): ListenAddresses => ({ ...DEFAULT_LISTEN, ...written.listen });
  const { value, diagnostics, place } = readOptions<Written>(OPTIONS_FILE, text, IstiodOptionsSchema, (written) => [
    ...optionFindings(written),
    ...addressFindings(written.listen ?? {}, listenOf(written)),
  ]);
  if (value === undefined || diagnostics.some(({ severity }) => severity === 'error')) return { diagnostics };
  const places = Object.keys(value.listen ?? {}).map((option) => [option, place(['listen', option])]);
  return { settings: withDefaults(value, listenOf(value), Object.fromEntries(places)), diagnostics };
}

/** Options that the schema allows, and this version does not have: a server that does less than it is asked must not start. */
function* optionFindings({ mode = 'full', registry, secretsOverPlaintext }: Written): Generator<Finding> {
  const at = placeOf([]);
  if (mode === 'minion') yield at.at('mode').error(`${mode} is not in this version: write full or ca`, 'VM0401');
  if (registry?.store === 'etcd')
    yield at.at('registry', 'store').error('etcd is not in this version: write embedded', 'VM0401');
  if (secretsOverPlaintext === true)
    yield at.at('secretsOverPlaintext').warning('private keys go over plaintext: for tests only, remove it elsewhere');
}

function* addressFindings(written: Partial<ListenAddresses>, listen: ListenAddresses): Generator<Finding> {
  const at = placeOf(['listen']);
  const taken = new Map<string, string>();
  if (written.envoyTls) yield at.at('envoyTls').error('is not in this version: write "", or use grpcTls', 'VM0401');
  for (const [option, text] of Object.entries(listen)) {
    if (text === '' || option === 'grpcUnix') continue;
    const address = parseAddress(text);
    const other = taken.get(text);
    if (address === undefined) yield at.at(option).error(addressProblem(text) ?? '');
    else if (address.port !== 0 && other !== undefined)
      yield at.at(option).error(`${text} is the address of listen.${other}, too: write another port`);
    else taken.set(text, option);
  }
}

function withDefaults(written: Written, listen: ListenAddresses, listenPlaces: Settings['listenPlaces']): Settings {
  return {
    listen,
    listenPlaces,
    namespace: written.namespace ?? 'istio-system',
    revision: written.revision ?? 'default',
    watchNamespaces: written.watchNamespaces ?? [],
    mode: written.mode ?? 'full',
    secretsOverPlaintext: written.secretsOverPlaintext ?? false,
    settleMs: parseDuration(written.settle ?? '250ms') ?? 250,
    log: { level: written.log?.level ?? 'info', ...(written.log?.format ? { format: written.log.format } : {}) },
  };
}
