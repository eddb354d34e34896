import type { JsonObject } from '../../src/base/json.ts';
import { AdsClient } from '../support/ads-client.ts';
import { envoyBootstrap } from '../support/envoy-bootstrap.ts';
import { EnvoyProcess } from '../support/envoy-process.ts';
import { nodeJson } from '../support/node.ts';
import type { WorkDir } from '../support/work-dir.ts';
import type { ScenarioNode } from './scenario.ts';

/** What a node holds of a type: name to bytes. */
export type Snapshot = ReadonlyMap<string, ReadonlyMap<string, Uint8Array>>;

/**
 * A node that runs: always a client that asks as its Envoy would, and a real Envoy beside it where the scenario wants one. That
 * has no agent, so it says that it has neither Istio's extensions nor certificates; the clients of nodes that need no Envoy say
 * that they have both.
 */
export class RunningNode {
  readonly about: ScenarioNode;
  readonly client: AdsClient;
  readonly json: JsonObject;
  #envoy: EnvoyProcess | undefined;
  /** Stats of the Envoy when its node was started and ready. */
  #statsAtStart: ReadonlyMap<string, number> = new Map();

  /** @param socket of the control plane: keys may go over it */
  constructor(about: ScenarioNode, socket: string) {
    this.about = about;
    this.json = scenarioNodeJson(about);
    this.client = new AdsClient({ address: `unix:${socket}`, node: this.json });
  }

  get envoy(): EnvoyProcess | undefined {
    return this.#envoy;
  }

  get statsAtStart(): ReadonlyMap<string, number> {
    return this.#statsAtStart;
  }

  /** Resolves when the client has all; the Envoy goes on by itself. */
  async start(name: string, socket: string, dir: WorkDir): Promise<void> {
    // What it lacks is for the checks to say.
    await this.client.settled(10_000).catch(() => {});
    if (!this.about.realEnvoy) return;
    const bootstrap = envoyBootstrap({ xds: socket, node: this.json });
    this.#envoy = await EnvoyProcess.start({ bootstrap, dir, name });
    await this.#envoy.untilReady(10_000).catch(() => {});
    this.#statsAtStart = await this.#envoy.stats();
  }

  snapshot(types: readonly string[]): Snapshot {
    return new Map(
      types.map((type) => {
        const held = this.client.type(type).held;
        return [type, new Map([...held].map(([name, { bytes }]) => [name, bytes]))];
      }),
    );
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.#envoy?.stop('SIGKILL');
  }
}

export function scenarioNodeJson(about: ScenarioNode): JsonObject {
  const { type, ip, name, namespace, labels = {}, serviceAccount = 'default', metadata = {} } = about;
  return nodeJson({
    type,
    ips: [ip],
    id: `${name}.${namespace}`,
    namespace,
    metadata: { LABELS: labels, SERVICE_ACCOUNT: serviceAccount, ...metadata },
    istio: about.realEnvoy !== true,
  });
}
