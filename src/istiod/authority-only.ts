import { join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import type { MeshFile } from '#generated/config/specs.ts';
import { diagnosticsRoute } from '../admin/debug.ts';
import { healthRoutes, type Phase } from '../admin/health.ts';
import { authorityMetrics, metricsRoute } from '../admin/metrics.ts';
import { type Diagnostic, formatDiagnostic } from '../base/diagnostic.ts';
import { LIMITS } from '../config/limits.ts';
import { MESH } from '../config/mesh-files.ts';
import { parseFile } from '../config/parse.ts';
import { EXIT, StartError } from '../process/failure.ts';
import { VERSION } from '../process/version.ts';
import type { TrustDomains } from '../security/authenticator.ts';
import { fileText } from '../sources/read-file.ts';
import type { SourceLog } from '../sources/source.ts';
import { WatchedFiles } from '../sources/watched-files.ts';
import { SYSTEM_CLOCK } from '../xds/limits.ts';
import { effectiveEnvironment } from './environment.ts';
import { logDiagnostic } from './events.ts';
import type { Held, Istiod, IstiodOptions } from './istiod.ts';
import { Security } from './security.ts';
import { finding } from './security-files.ts';
import { Servers } from './servers.ts';
import { MESH_FILE } from './sources.ts';
import { openToOthers } from './warnings.ts';

/**
 * Starts a certificate authority and nothing else: of the configuration it reads the trust domain, and it serves no proxies.
 * @throws StartError when an address is in use
 */
export async function startAuthority({ root, settings, env, log }: IstiodOptions, held: Held): Promise<Istiod> {
  const { state } = held;
  const metrics = authorityMetrics(VERSION, () => security.times());
  let told: readonly Diagnostic[] = [];
  let ofFiles: readonly Diagnostic[] = [];
  const tell = (): void => {
    const known = new Set(told.map(formatDiagnostic));
    told = [...mesh.findings, ...ofFiles];
    for (const one of told) if (!known.has(formatDiagnostic(one))) logDiagnostic(log, one);
  };
  const mesh = new FollowedMesh(root, log, tell);
  let phase: Phase = 'starting';
  const security = new Security({
    root,
    settings,
    env: effectiveEnvironment(env, mesh.env).env,
    log,
    clock: SYSTEM_CLOCK,
    isKept: state.unwritable === undefined,
    trustDomains: () => mesh.trustDomains(),
    verifiesClients: () => servers.certificate?.verifiesClients === true,
    events: metrics.certificates,
  });
  const servers = new Servers({
    root,
    // Nothing is there for callers who prove nothing.
    settings: { ...settings, listen: { ...settings.listen, grpc: '' } },
    log,
    http: [...healthRoutes(VERSION, () => phase), diagnosticsRoute(() => told)],
    monitoring: [metricsRoute(metrics)],
    register: (server: Server) => security.register(server),
    authority: security.own,
    changed: () => void state.writeListening(servers.addresses),
  });
  held.servers = servers;
  await servers.openForPeople();
  security.start({
    roots: () => undefined,
    findings(all) {
      ofFiles = all;
      tell();
    },
  });
  await servers.openForProxies();
  phase = 'ready';
  const listening = servers.addresses;
  for (const warning of openToOthers(listening)) log.warn(warning);
  state.writeListening(listening);
  log.info(listening, 'istiod gives certificates, and serves no proxies');
  return {
    listening,
    async stop() {
      phase = 'stopping';
      mesh.close();
      security.close();
      await servers.closeForProxies();
    },
  };
}

/** What is taken of mesh.yaml. */
class FollowedMesh {
  readonly #root: string;
  readonly #watched: WatchedFiles;
  #known: MeshFile = {};
  #findings: readonly Diagnostic[] = [];

  /**
   * @param changed told when findings have changed
   * @throws StartError when it can not be taken: certificates of another trust domain are worse than none
   */
  constructor(root: string, log: SourceLog, changed: () => void) {
    this.#root = root;
    this.#watched = new WatchedFiles({
      base: root,
      log,
      clock: SYSTEM_CLOCK,
      changed: () => {
        this.#read();
        changed();
      },
    });
    this.#watched.watch(new Set([MESH_FILE]));
    if (this.#read()) return;
    this.#watched.close();
    throw new StartError(EXIT.config, this.#findings.map(formatDiagnostic).join('\n'));
  }

  get findings(): readonly Diagnostic[] {
    return this.#findings;
  }

  get env(): Readonly<Record<string, string>> {
    return this.#known.env ?? {};
  }

  trustDomains(): TrustDomains {
    const { trustDomain = 'cluster.local', trustDomainAliases = [] } = this.#known;
    return { own: trustDomain, aliases: trustDomainAliases };
  }

  close(): void {
    this.#watched.close();
  }

  /** One that can not be taken changes nothing. @returns whether it was taken */
  #read(): boolean {
    const options = { source: '', namespace: '', strict: false, whole: MESH };
    let text: string | undefined;
    try {
      text = fileText(join(this.#root, MESH_FILE), LIMITS.fileBytes);
    } catch (error) {
      this.#findings = [finding('error', 'VM0101', MESH_FILE, (error as Error).message)];
      return false;
    }
    if (text === undefined) {
      this.#findings = [];
      this.#known = {};
      return true;
    }
    const { configs, diagnostics } = parseFile(MESH_FILE, text, options);
    this.#findings = diagnostics;
    if (diagnostics.some(({ severity }) => severity === 'error')) return false;
    this.#known = (configs[0]?.spec ?? {}) as MeshFile;
    return true;
  }
}
