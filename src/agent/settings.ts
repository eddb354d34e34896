import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MeshFile, ProxyConfig } from '#generated/config/specs.ts';
import { type Diagnostic, formatDiagnostic, type SourceLocation } from '../base/diagnostic.ts';
import { parseDuration } from '../base/duration.ts';
import { type Address, parseAddress } from '../base/host-port.ts';
import { nearestName } from '../base/nearest-name.ts';
import type { Code } from '../config/codes.ts';
import type { Config } from '../config/config.ts';
import { fieldPath } from '../config/finding.ts';
import { MESH } from '../config/mesh-files.ts';
import { normalized } from '../config/normalize.ts';
import { parseFile } from '../config/parse.ts';
import { ProxyConfig as ProxyConfigSchema } from '../config/schema/mesh-proxy-config.ts';
import { readYaml } from '../config/yaml.ts';
import type { Environment } from '../process/environment.ts';
import type { LogSettings } from '../process/log.ts';
import {
  type ControlPlaneAddress,
  controlPlaneAddress,
  grpcTarget,
  hasPublicCertificate,
  staysHere,
  wantsPlaintext,
} from './control-plane-address.ts';
import { parseEnvFile } from './env-file.ts';
import { type AGENT_PREFIXES, AGENT_VARIABLES, agentVariable, UNUSED_VARIABLES, valueOf } from './variables.ts';

/** Files with variables, of which the first that has one counts: what a person writes goes before what was generated. */
export const ENV_FILES: readonly string[] = ['var/lib/istio/envoy/sidecar.env', 'var/lib/istio/envoy/cluster.env'];
const MESH_FILE = 'etc/istio/mesh.yaml';

/** Settings of an agent, defaults filled in. */
export interface AgentSettings {
  /** All variables that are set, where ever. */
  readonly env: Environment;
  readonly proxyConfig: ProxyConfig;
  readonly controlPlane: ControlPlaneSettings;
  /** Undefined: the agent answers no DNS. */
  readonly dns: DnsSettings | undefined;
  readonly log: LogSettings;
}

export interface ControlPlaneSettings {
  readonly address: ControlPlaneAddress;
  readonly plaintext: boolean;
  /** Path of the socket of a control plane in the agent itself; undefined: it is elsewhere. */
  readonly standalone: string | undefined;
  /** The name that its certificate must have; undefined: that of the address. */
  readonly serverName: string | undefined;
  /** Files of roots, of which the first that is there counts; undefined: the roots of the operating system. */
  readonly rootFiles: readonly string[] | undefined;
  /** With `cert-chain.pem` and `key.pem`, if the agent has a certificate. */
  readonly certificateDirectory: string;
  readonly tokenFile: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface DnsSettings {
  readonly listen: readonly Address[];
  /** Empty: those of the machine. */
  readonly upstream: readonly Address[];
  readonly timeoutMs: number;
  readonly parallel: boolean;
}

export interface ReadAgentSettings {
  /** Absent when a setting can not be taken. */
  readonly settings?: AgentSettings;
  /** One line each: what is wrong, where, and what to write instead. */
  readonly errors: readonly string[];
  readonly warnings: readonly string[];
}

/** A variable, and where it is set; without a location in the environment. */
interface Setting {
  readonly value: string;
  readonly location?: SourceLocation;
}

const ROOT_FILES = ['etc/certs/root-cert.pem', 'var/run/secrets/istio/root-cert.pem'];

/**
 * Reads the settings of the agent of a working directory: its environment, then the files with variables, then `proxyMetadata`
 * and mesh.yaml.
 */
export function readAgentSettings(root: string, real: Environment): ReadAgentSettings {
  const reading = new Reading();
  const set = new Map(reading.files(root));
  for (const [name, value] of Object.entries(real)) {
    if (!value) continue;
    reading.check(name, { value });
    set.set(name, { value });
  }
  const proxyConfig = reading.proxyConfig(root, set.get('PROXY_CONFIG'));
  for (const [name, value] of Object.entries(proxyConfig.proxyMetadata ?? {})) {
    if (set.has(name) || value === '') continue;
    reading.check(name, { value });
    set.set(name, { value });
  }
  const env = Object.fromEntries([...set].map(([name, { value }]) => [name, value]));
  const controlPlane = reading.controlPlane(env, set, proxyConfig);
  const { errors, warnings } = reading;
  if (controlPlane === undefined || errors.length > 0) return { errors, warnings };
  return {
    settings: { env, proxyConfig, controlPlane, dns: dnsSettings(env), log: logSettings(env) },
    errors,
    warnings,
  };
}

class Reading {
  readonly errors: string[] = [];
  readonly warnings: string[] = [];
  /** Whether mesh.yaml says where configuration is. */
  #hasSources = false;

  /** What the files set. A name that stands in both is told of. */
  files(root: string): ReadonlyMap<string, Setting> {
    const set = new Map<string, Setting>();
    for (const file of ENV_FILES) {
      const text = this.#read(root, file);
      if (text === undefined) continue;
      const { assignments, problems } = parseEnvFile(file, text);
      for (const { message, location } of problems) this.#tell('error', 'VM0103', message, location);
      for (const { name, value, location } of assignments) {
        this.check(name, { value, location });
        const first = set.get(name);
        if (first === undefined || first.location?.file === file) set.set(name, { value, location });
        else if (first.value !== value)
          this.#tell(
            'warning',
            'VM0604',
            `${name} stands in ${first.location?.file}, too, which counts: remove one`,
            location,
          );
      }
    }
    return set;
  }

  /** Of a variable that nobody knows only a file is told: an environment is for many programs. */
  check(name: string, { value, location }: Setting): void {
    const variable = agentVariable(name);
    if (variable === undefined) {
      if (location === undefined) return;
      if (UNUSED_VARIABLES.has(name))
        this.#tell('warning', 'VM0603', `${name} has no effect in this version`, location);
      else this.#tell('error', 'VM0601', `${name} is no variable of istio-agent${advice(name)}`, location);
      return;
    }
    const problem = value === '' ? undefined : variable.problem?.(value);
    if (problem !== undefined)
      this.#tell('error', 'VM0602', `${name} can not be "${shortened(value)}": ${problem}`, location);
  }

  /** `PROXY_CONFIG` over `defaultConfig` of mesh.yaml. */
  proxyConfig(root: string, setting: Setting | undefined): ProxyConfig {
    const text = this.#read(root, MESH_FILE);
    let ofMesh: ProxyConfig = {};
    if (text !== undefined) {
      const options = { source: '', namespace: '', strict: false, whole: MESH };
      const { configs, diagnostics } = parseFile(MESH_FILE, text, options);
      // It may be that of an istiod on the same machine, which has more to say of it.
      for (const found of diagnostics) if (found.severity === 'error') this.warnings.push(formatDiagnostic(found));
      const mesh = (configs[0] as Config<MeshFile> | undefined)?.spec;
      ofMesh = mesh?.defaultConfig ?? {};
      this.#hasSources = mesh?.configSources?.some(({ address = '' }) => address !== '') ?? false;
    }
    if (setting === undefined) return ofMesh;
    const { value, problems } = readYaml(setting.value);
    for (const { severity, message } of problems)
      if (severity === 'error') this.#tell('error', 'VM0602', `PROXY_CONFIG is no YAML: ${message}`, setting.location);
    const read = normalized(ProxyConfigSchema, value ?? {}, {
      unknownField: 'error',
      deprecatedField: 'info',
      lastOfGroup: true,
    });
    for (const { severity, message, path } of read.findings)
      if (severity === 'error')
        this.#tell('error', 'VM0602', `PROXY_CONFIG: ${fieldPath(path)}: ${message}`, setting.location);
    const own = (read.value ?? {}) as ProxyConfig;
    return { ...ofMesh, ...own, proxyMetadata: { ...ofMesh.proxyMetadata, ...own.proxyMetadata } };
  }

  controlPlane(
    env: Environment,
    set: ReadonlyMap<string, Setting>,
    proxyConfig: ProxyConfig,
  ): ControlPlaneSettings | undefined {
    const name = ['ISTIO_ADDRESS', 'PILOT_ADDRESS'].find((variable) => env[variable]);
    const written = name === undefined ? (proxyConfig.discoveryAddress ?? addressOfParts(env)) : env[name];
    const socket = join(proxyConfig.configPath ?? './etc/istio/proxy', 'istiod');
    const standalone = written === undefined && this.#hasSources ? socket : undefined;
    const text = written ?? (standalone === undefined ? DEFAULT_ADDRESS : `unix:${standalone}`);
    const { address, problem } = controlPlaneAddress(text);
    if (address === undefined) {
      if (name === undefined) this.#tell('error', 'VM0602', `discoveryAddress can not be "${text}": ${problem}`);
      return undefined;
    }
    const asked = env['ISTIO_CP_AUTH'] || proxyConfig.controlPlaneAuthPolicy;
    const plaintext = wantsPlaintext(address, asked === 'NONE');
    if (plaintext && !staysHere(address)) {
      const where = name === undefined ? undefined : set.get(name)?.location;
      const message = `${grpcTarget(address)} would be connected to in plaintext, which only an address of loopback or a Unix socket allows: write its TLS port (15012), and ISTIO_CP_AUTH=MUTUAL_TLS if it is NONE`;
      this.#tell('error', 'VM0602', message, where);
      return undefined;
    }
    const roots = env['XDS_ROOT_CA'];
    const provisioned = valueOf(env, 'PROV_CERT');
    return {
      address,
      plaintext,
      standalone,
      serverName: env['ISTIOD_SAN'] || undefined,
      rootFiles: rootFiles(roots, hasPublicCertificate(address), join(provisioned, 'root-cert.pem')),
      certificateDirectory: provisioned,
      tokenFile: 'var/run/secrets/tokens/istio-token',
      headers: withPrefix(env, 'XDS_HEADER_'),
    };
  }

  #read(root: string, file: string): string | undefined {
    try {
      return readFileSync(join(root, file), 'utf8');
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code !== 'ENOENT' && code !== 'ENOTDIR')
        this.#tell('error', 'VM0101', `can not be read: ${code ?? message}`, { file, line: 1, column: 1 });
      return undefined;
    }
  }

  #tell(severity: Diagnostic['severity'], code: Code, message: string, location?: SourceLocation): void {
    const line =
      location === undefined
        ? `environment: ${severity} ${code}: ${message}`
        : formatDiagnostic({ severity, code, message, location });
    (severity === 'error' ? this.errors : this.warnings).push(line);
  }
}

const DEFAULT_ADDRESS = 'istiod.istio-system.svc:15012';

/** As Istio's script for machines puts it together; undefined when neither is set. */
function addressOfParts(env: Environment): string | undefined {
  if (!env['ISTIO_SYSTEM_NAMESPACE'] && !env['ISTIO_PILOT_PORT']) return undefined;
  return `istiod.${valueOf(env, 'ISTIO_SYSTEM_NAMESPACE')}.svc:${valueOf(env, 'ISTIO_PILOT_PORT')}`;
}

function advice(name: string): string {
  const near = nearestName(name, [...Object.keys(AGENT_VARIABLES), ...UNUSED_VARIABLES]);
  if (near !== undefined) return `: write ${near}, if that is meant`;
  return ': remove it, or set it in the environment if it is for another program';
}

function shortened(value: string): string {
  return value.length <= 60 ? value : `${value.slice(0, 60)}…`;
}

function rootFiles(roots: string | undefined, isPublic: boolean, provisioned: string): readonly string[] | undefined {
  if (roots === 'SYSTEM') return undefined;
  if (roots) return [roots];
  return isPublic ? undefined : [...new Set([provisioned, ...ROOT_FILES])];
}

/** Variables whose name begins so, by the rest of their names. */
export function withPrefix(env: Environment, prefix: keyof typeof AGENT_PREFIXES): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env)
      .filter(([name, value]) => name.startsWith(prefix) && name.length > prefix.length && value !== undefined)
      .map(([name, value]) => [name.slice(prefix.length), value ?? '']),
  );
}

/** @param value of a variable that has been checked */
export function isTrue(value: string | undefined): boolean {
  return /^(1|t|true)$/i.test(value ?? '');
}

function dnsSettings(env: Environment): DnsSettings | undefined {
  if (!isTrue(env['ISTIO_META_DNS_CAPTURE']) && !isTrue(env['ISTIO_META_ENABLE_DNS_SERVER'])) return undefined;
  return {
    listen: addresses(valueOf(env, 'DNS_PROXY_ADDR')).flatMap(localhost),
    upstream: addresses(valueOf(env, 'DNS_UPSTREAM')),
    timeoutMs: parseDuration(env['DNS_FORWARD_TIMEOUT'] ?? '') ?? 5000,
    parallel: isTrue(env['DNS_FORWARD_PARALLEL']),
  };
}

function addresses(list: string): readonly Address[] {
  return list.split(',').flatMap((text) => parseAddress(text.trim()) ?? []);
}

function localhost({ host, port }: Address): readonly Address[] {
  return host === 'localhost' ? ['127.0.0.1', '::1'].map((ip) => ({ host: ip, port })) : [{ host, port }];
}

function logSettings(env: Environment): LogSettings {
  const format = env['LOG_FORMAT'] as LogSettings['format'];
  return { level: valueOf(env, 'LOG_LEVEL') as LogSettings['level'], ...(format ? { format } : {}) };
}
