import { setImmediate as turn } from 'node:timers/promises';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { pino } from 'pino';
import { Refusals } from '../../src/admin/refusals.ts';
import type { Key } from '../../src/derive/graph.ts';
import { bothEvents, logEvents } from '../../src/istiod/events.ts';
import { resourceProvider } from '../../src/istiod/provider.ts';
import { refusedFrom } from '../../src/istiod/refused-from.ts';
import type { MeshOptions } from '../../src/pipeline/options.ts';
import { ProxySessions } from '../../src/pipeline/session.ts';
import { serverOptions } from '../../src/xds/limits.ts';
import { DiscoveryServer } from '../../src/xds/server.ts';
import { AdsClient, type AdsClientOptions } from './ads-client.ts';
import { type FileMesh, fileMesh, type MeshFiles } from './mesh-files.ts';

/** A line of the log. */
export type LogLine = Readonly<Record<string, unknown>>;

/** A run of a derivation. */
export interface Run {
  readonly derivation: string;
  readonly key: Key;
}

/** A control plane in this process, whose files a test writes, behind a real gRPC server. */
export interface ServedMesh extends FileMesh {
  readonly address: string;
  readonly sessions: ProxySessions;
  readonly discovery: DiscoveryServer;
  readonly refusals: Refusals;
  readonly log: readonly LogLine[];
  /** A client that has all that it asked for. */
  connect(options: Omit<AdsClientOptions, 'address'>): Promise<AdsClient>;
  /** Resolves when clients have answered all that they were sent. */
  answered(): Promise<void>;
  /** Resolves when clients have answered all that they were sent, and were sent all that they asked for. */
  settled(): Promise<void>;
  /** Runs of derivations since the last call. */
  runs(): readonly Run[];
  stop(): void;
}

export async function servedMesh(files: MeshFiles, options: Partial<MeshOptions> = {}): Promise<ServedMesh> {
  let runs: Run[] = [];
  const mesh = fileMesh(files, options, { onCompute: (derivation, key) => void runs.push({ derivation, key }) });
  const { pipeline, store } = mesh;
  const sessions = new ProxySessions(pipeline);
  const log: LogLine[] = [];
  const logger = pino({ level: 'debug', base: null }, { write: (line: string) => void log.push(JSON.parse(line)) });
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const check of [...waiting]) check();
  };
  const refusals = new Refusals(sessions, () => 0);
  const discovery = new DiscoveryServer({
    provider: resourceProvider(sessions, {
      revision: 'default',
      mayReadConfiguration: () => true,
      secretsOverPlaintext: false,
      checksIdentities: true,
      log: logger,
    }),
    events: bothEvents(
      refusals.events,
      logEvents(logger, { onAck: look, onNack: look, onStreamClose: look }, refusedFrom(pipeline, sessions, store)),
    ),
    controlPlane: 'test',
  });
  const server = new Server(serverOptions());
  discovery.register(server);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const clients = new Set<AdsClient>();
  const isAnswered = (): boolean =>
    discovery.streams().every(({ types }) => types.every(({ state }) => state === 'synced' || state === 'nacked'));
  const answered = (): Promise<void> =>
    new Promise((resolve) => {
      const check = () => {
        if (!isAnswered()) return;
        waiting.delete(check);
        resolve();
      };
      waiting.add(check);
      check();
    });
  const settled = async (): Promise<void> => {
    do {
      await turn();
      await answered();
      for (const client of clients) if (client.status === undefined) await client.settled();
    } while (!isAnswered());
  };
  return {
    ...mesh,
    address: `127.0.0.1:${port}`,
    sessions,
    discovery,
    refusals,
    log,
    async connect(wanted) {
      const client = new AdsClient({ ...wanted, address: `127.0.0.1:${port}` });
      clients.add(client);
      await client.settled();
      await settled();
      return client;
    },
    answered,
    settled,
    runs: () => {
      const told = runs;
      runs = [];
      return told;
    },
    stop: () => {
      for (const client of clients) client.close();
      discovery.close('the test is over');
      server.forceShutdown();
    },
  };
}
