import { join } from 'node:path';
import type { Server } from '@grpc/grpc-js';
import { accessOf, visibleTo } from '../admin/access.ts';
import { connectionsRoute } from '../admin/connections.ts';
import { debugRoutes } from '../admin/debug.ts';
import { gatewaysRoute } from '../admin/gateways.ts';
import { healthRoutes, type Phase, whenReady } from '../admin/health.ts';
import { inspectRoutes } from '../admin/inspect.ts';
import { createMetrics, metricsRoute } from '../admin/metrics.ts';
import { debugQuestions } from '../admin/questions.ts';
import { Refusals } from '../admin/refusals.ts';
import { sourcesRoute } from '../admin/sources.ts';
import { statusRoute } from '../admin/status.ts';
import type { ConfigSink } from '../config/sink.ts';
import { ConfigStore } from '../config/store.ts';
import { Graph } from '../derive/graph.ts';
import { type Mesh, ONE } from '../pipeline/mesh.ts';
import { createPipeline } from '../pipeline/pipeline.ts';
import { ProxySessions } from '../pipeline/session.ts';
import type { Environment } from '../process/environment.ts';
import type { Logger } from '../process/log.ts';
import { VERSION } from '../process/version.ts';
import { CERTIFICATE_SOURCE } from '../sources/certificate-files.ts';
import { Certificates } from '../sources/certificates.ts';
import { KeySetFile } from '../sources/key-set-file.ts';
import { LastGoodFiles } from '../sources/last-good-files.ts';
import type { Source } from '../sources/source.ts';
import { StatusFiles } from '../sources/status-files.ts';
import { VipFile } from '../sources/vip-file.ts';
import { registerClientStatus } from '../xds/client-status-service.ts';
import type { StreamStatus } from '../xds/events.ts';
import { SYSTEM_CLOCK } from '../xds/limits.ts';
import type { Peer } from '../xds/provider.ts';
import { DiscoveryServer } from '../xds/server.ts';
import { startAuthority } from './authority-only.ts';
import { Convergence } from './convergence.ts';
import {
  checksIdentities,
  effectiveEnvironment,
  listedSources,
  meshOptions,
  readEnvironment,
  strictChecks,
} from './environment.ts';
import { bothEvents, logEvents, logFindings } from './events.ts';
import { findingFiles } from './finding-files.ts';
import { Findings } from './findings.ts';
import { tellHours } from './hours.ts';
import { hasVanished, isIncomplete, tokenPolicies } from './incomplete.ts';
import { jwksSource } from './jwks.ts';
import { metricSources } from './metric-sources.ts';
import { patientSink } from './patient-sink.ts';
import { resourceProvider } from './provider.ts';
import { refusedFrom } from './refused-from.ts';
import { Security } from './security.ts';
import { authorityKeys } from './security-files.ts';
import { Servers, type ServerTransport } from './servers.ts';
import type { Settings } from './settings.ts';
import { CONFIG_DIRECTORY, configSources, startSource } from './sources.ts';
import { openState, STATE_DIRECTORY, type State } from './state.ts';
import { writeStatuses } from './status-writer.ts';
import { openToOthers } from './warnings.ts';

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

/** What is given back when the control plane stops, or can not start. */
export interface Held {
  readonly abort: AbortController;
  readonly state: State;
  servers: Servers | undefined;
}

/**
 * Starts the control plane: addresses for people, sources, derivations, then addresses for proxies; it resolves when it serves.
 * @throws StartError when an address or the state is in use, or a source can not be read
 */
export async function startIstiod(options: IstiodOptions): Promise<Istiod> {
  const held: Held = { abort: new AbortController(), state: await openState(options.root), servers: undefined };
  const onExit = (): void => held.state.release();
  const giveBack = async (): Promise<void> => {
    held.abort.abort();
    await held.servers?.close();
    process.off('exit', onExit);
    held.state.release();
  };
  process.once('exit', onExit);
  try {
    const onlySigns = options.settings.mode === 'ca';
    const { listening, stop } = await (onlySigns ? startAuthority(options, held) : start(options, held));
    return { listening, stop: () => stop().then(giveBack) };
  } catch (error) {
    await giveBack();
    throw error;
  }
}

async function start({ root, settings, env, log }: IstiodOptions, held: Held): Promise<Istiod> {
  const { abort, state } = held;
  const quiet = state.unwritable === undefined ? log : { info: () => undefined, warn: () => undefined };
  if (state.unwritable !== undefined) {
    log.warn(
      `${STATE_DIRECTORY} can not be written, ${state.unwritable}: istiod serves, but after a restart it does not know what was good last`,
    );
  }
  const graph = new Graph({ onCompute: (derivation) => metrics.translated(derivation) });
  const lastGood = new LastGoodFiles({ directory: join(root, STATE_DIRECTORY, 'last-good'), log: quiet });
  const store = new ConfigStore(graph, {
    rootNamespace: settings.namespace,
    watchNamespaces: settings.watchNamespaces,
    revision: settings.revision,
    lastGood,
  });
  const { settleMs } = settings;
  const effective = layOver(env, readEnvironment(root, lastGood), log);
  const pipeline = createPipeline(graph, store.configs, meshOptions(effective, settings.namespace));
  const sessions = new ProxySessions(pipeline);
  let findings: Findings | undefined;
  const metrics = createMetrics(
    VERSION,
    metricSources({ pipeline, sessions, store, findings: () => findings, authority: () => security.times() }),
  );
  const convergence = new Convergence({
    revision: () => store.revision,
    converged: metrics.converged,
    unaffected: metrics.unaffected,
  });
  const refusals = new Refusals(sessions);
  const counted = bothEvents(metrics.events, convergence.events);
  const sources = configSources(
    { root, strict: strictChecks(effective), settleMs, log },
    listedSources(root, lastGood),
  );

  let phase: Phase = 'starting';
  const inspected = {
    pipeline,
    sessions,
    store,
    streams: (): readonly StreamStatus[] => discovery.streams(),
    diagnostics: () => findings?.all() ?? store.allDiagnostics(),
    refusals: () => refusals.current(),
    rootNamespace: () => pipeline.mesh.rootNamespace(),
  };
  const health = healthRoutes(VERSION, () => phase);
  const routes = [
    ...debugRoutes(inspected),
    ...inspectRoutes(inspected),
    connectionsRoute(inspected.streams),
    statusRoute(inspected),
    gatewaysRoute(pipeline),
    sourcesRoute(sources, store),
  ];
  const debug = whenReady(routes, () => phase);
  const seenBy = (peer: Peer) => accessOf(peer, inspected.rootNamespace());
  const security = new Security({
    root,
    settings,
    env: effective,
    log,
    clock: SYSTEM_CLOCK,
    isKept: state.unwritable === undefined,
    trustDomains: () => ({
      own: pipeline.mesh.trustDomain(),
      aliases: pipeline.mesh.facet('trustDomainAliases') ?? [],
    }),
    verifiesClients: () => servers.certificate?.verifiesClients === true,
    events: metrics.certificates,
  });
  const authenticate = security.callers.discovery;
  const discovery: DiscoveryServer = new DiscoveryServer({
    provider: resourceProvider(sessions, {
      revision: settings.revision,
      mayReadConfiguration: (peer) => seenBy(peer) === undefined,
      secretsOverPlaintext: settings.secretsOverPlaintext,
      checksIdentities: checksIdentities(effective),
      log,
    }),
    questions: debugQuestions({ ...inspected, routes: debug }),
    events: bothEvents(refusals.events, logEvents(log, counted, refusedFrom(pipeline, sessions, store))),
    authenticate,
    controlPlane: JSON.stringify({ Component: 'istiod', ID: 'istiod-vm', Info: { version: VERSION } }),
  });
  const register = (server: Server, transport: ServerTransport): void => {
    discovery.register(server, transport === 'local');
    if (transport !== 'plaintext') security.register(server);
    registerClientStatus(server, {
      clients: () => discovery.clients(),
      authenticate,
      seenBy: (peer) => visibleTo(seenBy(peer), sessions),
      onError: (error) => log.error({ err: error }, 'the state of clients could not be told'),
    });
  };
  const tellListening = (): void => {
    const problem = state.writeListening(servers.addresses);
    if (problem !== undefined) log.warn(`${STATE_DIRECTORY}/run/listen.json can not be written: ${problem}`);
  };
  const servers = new Servers({
    root,
    settings,
    log,
    http: [...health, ...debug],
    monitoring: [metricsRoute(metrics)],
    register,
    authority: security.own,
    changed: tellListening,
  });
  held.servers = servers;
  await servers.openForPeople();

  const sinkOf = (name: string) => patient(convergence.sink(store.source(name)), pipeline.mesh, settleMs);
  await readSources(sources, sinkOf, abort.signal);
  const stopHours = tellHours(graph, pipeline.mesh, SYSTEM_CLOCK);
  const named = graph.watch(pipeline.mesh.fileSecrets.named, ONE, (now) =>
    queueMicrotask(() => certificates.follow(now)),
  );
  const certificates = new Certificates(convergence.sink(store.source(CERTIFICATE_SOURCE)), named.value, {
    root,
    log,
    own: authorityKeys(effective),
  });
  const vips = new VipFile({ directory: join(root, STATE_DIRECTORY, 'vips'), log: quiet });
  const releaseVips = pipeline.mesh.vips.hold(vips);
  const keyFile = new KeySetFile({ directory: join(root, STATE_DIRECTORY, 'jwks'), log: quiet });
  const keySets = jwksSource(effective, keyFile, log);
  const releaseKeySets = pipeline.mesh.keySets.follow(keySets);
  // A control plane that is started again does not refuse for a moment what it accepted before.
  await keySets.tried(FIRST_KEYS_MS);
  const statusFiles = new StatusFiles({ directory: join(root, STATE_DIRECTORY, 'status'), log: quiet });
  const stopStatuses = writeStatuses(graph, pipeline.statuses, statusFiles);
  findings = new Findings(graph, store, pipeline.analysis, (changes) => logFindings(log, changes));

  security.start({
    roots: (pem) => graph.batch(() => pipeline.mesh.roots.own.set(ONE, pem)),
    findings: findingFiles(convergence.sink(store.source('file:authority'))),
  });
  await servers.openForProxies();
  phase = 'ready';
  const listening = servers.addresses;
  for (const warning of openToOthers(listening)) log.warn(warning);
  tellListening();
  logStart(log, root, { ...listening, ...summary(store, findings) });
  return {
    listening,
    async stop() {
      phase = 'stopping';
      findings?.stop();
      named.stop();
      stopHours();
      certificates.close();
      security.close();
      releaseVips();
      releaseKeySets();
      stopStatuses();
      discovery.close('the control plane stops; connect again');
      await servers.closeForProxies();
      await Promise.all([lastGood.flush(), vips.flush(), statusFiles.flush(), keyFile.flush()]);
    },
  };
}

function summary(store: ConfigStore, findings: Findings) {
  const { objects, files, lastGood } = store.counts();
  const { error: errors, warning: warnings } = findings.counts();
  return { objects, files, errors, warnings, ...(lastGood > 0 ? { lastGood } : {}) };
}

function logStart(log: Logger, root: string, started: ReturnType<typeof summary>): void {
  log.info(started, 'istiod serves');
  if (started.objects > 0 || started.files > 0) return;
  const directory = join(root, CONFIG_DIRECTORY);
  log.info(`nothing is configured yet: put Istio's YAML into ${directory}/<namespace>/, it is served a moment later`);
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
    // So that tokens are not refused until the keys of a new policy have come.
    ask: (changes) => mesh.keySets.ask(tokenPolicies(changes)),
  });
}

/** @throws StartError when a source can not be read at all */
async function readSources(
  sources: readonly Source[],
  sinkOf: (name: string) => ConfigSink,
  signal: AbortSignal,
): Promise<void> {
  const sinks = sources.map((source) => [source, sinkOf(source.name)] as const);
  for (const [source, sink] of sinks) await startSource(source, sink, signal);
}

/** The environment under mesh.yaml's `env`; where both say something different, one line names the variable. */
function layOver(real: Environment, written: Readonly<Record<string, string>>, log: Logger): Environment {
  const { env, conflicts } = effectiveEnvironment(real, written);
  for (const name of conflicts)
    log.warn(`${name} in mesh.yaml's env wins over the environment that istiod was started with`);
  return env;
}
