import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServerCredentials } from '@grpc/grpc-js';
import { debugRoutes } from '../admin/debug.ts';
import { gatewaysRoute } from '../admin/gateways.ts';
import { json, type Route, requestListener, text } from '../admin/http.ts';
import { createMetrics } from '../admin/metrics.ts';
import { Refusals } from '../admin/refusals.ts';
import { statusRoute } from '../admin/status.ts';
import type { ConfigSink } from '../config/sink.ts';
import { ConfigStore } from '../config/store.ts';
import { Graph } from '../derive/graph.ts';
import type { Mesh } from '../pipeline/mesh.ts';
import { createPipeline } from '../pipeline/pipeline.ts';
import { ProxySessions } from '../pipeline/session.ts';
import { LastGoodFiles } from '../sources/last-good-files.ts';
import type { Source } from '../sources/source.ts';
import { StatusFiles } from '../sources/status-files.ts';
import { VipFile } from '../sources/vip-file.ts';

import { SYSTEM_CLOCK } from '../xds/limits.ts';
import { DiscoveryServer } from '../xds/server.ts';
import {
  type Environment,
  effectiveEnvironment,
  meshOptions,
  strictChecks,
  writtenEnvironment,
} from './environment.ts';
import { bothEvents, logEvents, logFindings } from './events.ts';
import { EXIT, StartError } from './failure.ts';
import { Findings } from './findings.ts';
import { hasVanished, isIncomplete } from './incomplete.ts';
import { jwksSource } from './jwks.ts';
import { type Bound, listenGrpc, listenGrpcUnix, listenHttp } from './listen.ts';
import type { Logger } from './log.ts';
import { patientSink } from './patient-sink.ts';
import { resourceProvider } from './provider.ts';
import { refusedFrom } from './refused-from.ts';
import { isLoopback, parseAddress, type Settings } from './settings.ts';
import { configSources } from './sources.ts';
import { writeStatuses } from './status-writer.ts';
import { VERSION } from './version.ts';

/** A control plane that serves. */
export interface Istiod {
  /** Addresses by option of `listen`. */
  readonly listening: Readonly<Record<string, string>>;
  /** Ends streams, so that proxies go to another server, then listeners; what was written stays. */
  stop(): Promise<void>;
}

export interface IstiodOptions {
  /** The working directory, `/` for the system's configuration. */
  readonly root: string;
  readonly settings: Settings;
  readonly env: Environment;
  readonly log: Logger;
}

/** How long the first keys are waited for. Milliseconds. */
const FIRST_KEYS_MS = 3000;

const SERVING_CERTIFICATE = 'etc/certs/cert-chain.pem';
const SERVING_KEY = 'etc/certs/key.pem';

/**
 * Starts the control plane: sources, derivations, servers, in this order; it resolves when it serves.
 * @throws StartError when an address can not be bound
 */
export async function startIstiod({ root, settings, env, log }: IstiodOptions): Promise<Istiod> {
  const abort = new AbortController();
  const counted = { translated: (_derivation: string): void => undefined };
  const graph = new Graph({ onCompute: (derivation) => counted.translated(derivation) });
  const lastGood = new LastGoodFiles({ directory: join(root, 'var/lib/istio/last-good'), log });
  const store = new ConfigStore(graph, {
    rootNamespace: settings.namespace,
    watchNamespaces: settings.watchNamespaces,
    lastGood,
  });
  const laidOver = layOver(root, env, log);
  const pipeline = createPipeline(graph, store.configs, meshOptions(laidOver, settings.namespace));
  const sessions = new ProxySessions(pipeline);
  const { settleMs } = settings;
  const sources = configSources({ root, strict: strictChecks(env), settleMs, log });
  await readSources(sources, (name) => patient(store.source(name), pipeline.mesh, settleMs), abort.signal);
  const vips = new VipFile({ directory: join(root, 'var/lib/istio/vips'), log });
  const releaseVips = pipeline.mesh.vips.hold(vips);
  const keySets = jwksSource(laidOver, log);
  const releaseKeySets = pipeline.mesh.keySets.follow(keySets);
  // A control plane that is started again does not refuse for a moment what it accepted before.
  await keySets.tried(FIRST_KEYS_MS);
  const statusFiles = new StatusFiles({ directory: join(root, 'var/lib/istio/status'), log });
  const stopStatuses = writeStatuses(graph, pipeline.statuses, statusFiles);
  const findings = new Findings(graph, store, pipeline.analysis, (changes) => logFindings(log, changes));

  const metrics = createMetrics(VERSION, {
    services: () => pipeline.mesh.byKind.get('ServiceEntry').length + pipeline.mesh.byKind.get('Service').length,
    virtualServices: () => pipeline.mesh.byKind.get('VirtualService').length,
    configs: () => store.counts().objects,
    diagnostics: () => {
      const { error, warning } = findings.counts();
      return { errors: error, warnings: warning };
    },
    cells: () => graph.cellCount,
  });
  counted.translated = metrics.translated;
  const refusals = new Refusals(sessions);
  const discovery = new DiscoveryServer({
    provider: resourceProvider(sessions),
    events: bothEvents(refusals.events, logEvents(log, metrics.events, refusedFrom(pipeline, sessions, store))),
    controlPlane: JSON.stringify({ Component: 'istiod', ID: 'istiod-vm', Info: { version: VERSION } }),
  });

  const bound = new Map<string, Bound>();
  const inspected = {
    pipeline,
    sessions,
    store,
    streams: () => discovery.streams(),
    diagnostics: () => findings.all(),
    refusals: () => refusals.current(),
  };
  const debug = [...debugRoutes(inspected), statusRoute(inspected), gatewaysRoute(pipeline)];
  const { listen } = settings;
  try {
    const plain = ServerCredentials.createInsecure();
    const register = discovery.register.bind(discovery);
    if (listen.grpc) bound.set('grpc', await listenGrpc('grpc', listen.grpc, plain, register));
    if (listen.grpcUnix) bound.set('grpcUnix', await listenGrpcUnix(root, listen.grpcUnix, register));
    const tls = listen.grpcTls ? servingCredentials(root, log) : undefined;
    if (tls) bound.set('grpcTls', await listenGrpc('grpcTls', listen.grpcTls, tls, register));
    const ready: Route = {
      path: '/ready',
      doc: '200 when all sources were read',
      answer: () => (store.isSynced ? text('ready') : text('sources are being read', 503)),
    };
    const version: Route = { path: '/version', doc: 'the version', answer: () => json({ version: VERSION }) };
    const measured: Route = {
      path: '/metrics',
      doc: 'metrics for Prometheus',
      answer: async () => ({ type: metrics.registry.contentType, body: await metrics.registry.metrics() }),
    };
    if (listen.http)
      bound.set('http', await listenHttp('http', listen.http, requestListener([ready, version, ...debug])));
    if (listen.monitoring) {
      const routes = [measured, version, ready, ...debug];
      bound.set('monitoring', await listenHttp('monitoring', listen.monitoring, requestListener(routes)));
    }
  } catch (error) {
    abort.abort();
    await Promise.all([...bound.values()].map((b) => b.close()));
    throw error;
  }
  warnOfPlaintext(listen.grpc, log);
  const listening = Object.fromEntries([...bound].map(([option, { address }]) => [option, address]));
  writeListening(root, listening, log);
  const { objects, files } = store.counts();
  log.info({ ...listening, objects, files }, 'istiod serves');
  return {
    listening,
    stop: async () => {
      abort.abort();
      findings.stop();
      releaseVips();
      releaseKeySets();
      stopStatuses();
      discovery.close('the control plane stops; connect again');
      await Promise.all([
        ...[...bound.values()].map((b) => b.close()),
        lastGood.flush(),
        vips.flush(),
        statusFiles.flush(),
      ]);
    },
  };
}

/** Longer than sources gather changes. Milliseconds. */
const MOVING = 150;

function patient(sink: ConfigSink, mesh: Mesh, settleMs: number): ConfigSink {
  return patientSink(sink, {
    clock: SYSTEM_CLOCK,
    wait(changes, before) {
      // As long as a file that is written in place may take to be still.
      if (isIncomplete(changes, mesh)) return 2 * settleMs + 100;
      return hasVanished(changes, before) ? MOVING : 0;
    },
  });
}

/** @throws StartError when a source can not be read at all */
async function readSources(
  sources: readonly Source[],
  sinkOf: (name: string) => ConfigSink,
  signal: AbortSignal,
): Promise<void> {
  const sinks = sources.map((source) => [source, sinkOf(source.name)] as const);
  for (const [source, sink] of sinks) {
    try {
      await source.start(sink, signal);
    } catch (error) {
      throw new StartError(EXIT.noInput, error instanceof Error ? error.message : String(error), { cause: error });
    }
  }
}

/** The environment under mesh.yaml's `env`; where both say something different, one line names the variable. */
function layOver(root: string, real: Environment, log: Logger): Environment {
  const file = join(root, 'etc/istio/mesh.yaml');
  const written = writtenEnvironment(existsSync(file) ? readFileSync(file, 'utf8') : undefined);
  const { env, conflicts } = effectiveEnvironment(real, written);
  for (const name of conflicts)
    log.warn(`${name} in mesh.yaml's env wins over the environment that istiod was started with`);
  return env;
}

/** TLS with the certificate of an outside CA; without one the option is off, and a line says so. */
function servingCredentials(root: string, log: Logger): ServerCredentials | undefined {
  try {
    const chain = readFileSync(join(root, SERVING_CERTIFICATE));
    const key = readFileSync(join(root, SERVING_KEY));
    return ServerCredentials.createSsl(null, [{ cert_chain: chain, private_key: key }], false);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ENOENT') throw error;
    log.info(`TLS is off: there is no ${SERVING_CERTIFICATE}`);
    return undefined;
  }
}

function warnOfPlaintext(address: string, log: Logger): void {
  const host = parseAddress(address)?.host;
  if (host === undefined || isLoopback(host)) return;
  log.warn(`listen.grpc is plaintext on ${address}: anyone who reaches it reads the whole configuration of the mesh`);
}

/** Where the server listens, for those who start it with port 0. A machine with a read-only disk is served without. */
function writeListening(root: string, listening: Readonly<Record<string, string>>, log: Logger): void {
  const directory = join(root, 'var/lib/istio/run');
  try {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'listen.json.new'), `${JSON.stringify(listening)}\n`);
    renameSync(join(directory, 'listen.json.new'), join(directory, 'listen.json'));
  } catch (error) {
    log.warn(`addresses are not written to ${directory}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
