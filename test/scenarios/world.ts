import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DnsStub } from '../support/dns-stub.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { IstioAgentProcess } from '../support/istio-agent-process.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { McpServer } from '../support/mcp-server.ts';
import { TextServer } from '../support/text-server.ts';
import { keySet, TokenKey } from '../support/tokens.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';
import { giveTokens } from './checks/certificates.ts';
import { HeldConnections } from './checks/tls.ts';
import type { Scenario, ScenarioNode, Step } from './scenario.ts';
import { agentEnvironment } from './scenario-agent.ts';
import { RunningNode, type Snapshot } from './scenario-node.ts';
import { ScriptedStream } from './scripted-stream.ts';
import { TYPE_URLS } from './types.ts';

/** Where a node's log stood when a step began. */
interface Mark {
  readonly responses: number;
}

const MCP_PORT = 26010;

/** A scenario while it runs: the work directory, the control plane, the nodes, and what is remembered of earlier steps. */
export class World {
  readonly scenario: Scenario;
  readonly dir: WorkDir;
  readonly nodes: Map<string, RunningNode> = new Map();
  /** Raw streams of scripts, by node and variant; they stay open over steps. */
  readonly scripted: Map<string, ScriptedStream> = new Map();
  /** TLS connections that stay open over steps. */
  readonly connections: HeldConnections = new HeldConnections();
  /** What checks recorded, by the name that they gave it. */
  readonly records: Map<string, string> = new Map();
  /** When the script of the current step had ended, or the start; monotonic milliseconds. */
  stepEnded = 0;
  /** The name server of the machines that agents run on. */
  readonly nameServer: DnsStub = new DnsStub();
  #istiod: IstiodProcess | undefined;
  #keyServer: TextServer | undefined;
  readonly #keys = new Map<string, TokenKey>();
  readonly #agents = new Map<string, IstioAgentProcess>();
  readonly #backends: HttpBackend[] = [];
  #mcp: McpServer | undefined;
  readonly #marks = new Map<string, Mark>();
  readonly #marksAtStart = new Map<string, Mark>();
  readonly #snapshots = new Map<string, Snapshot>();

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.dir = WorkDir.copyOf(scenario.directory, scenario.id);
    mkdirSync(this.dir.at('.tmp'), { recursive: true });
  }

  get #socket(): string {
    return this.dir.at('xds.sock');
  }

  /** @throws Error when the control plane is not running */
  get istiod(): IstiodProcess {
    if (this.#istiod === undefined) throw new Error('the control plane was not started');
    return this.#istiod;
  }

  /** @throws Error when it was not started */
  node(name: string | undefined): RunningNode {
    const node = this.nodes.get(name ?? '');
    if (node === undefined) throw new Error(`the node "${name}" does not run`);
    return node;
  }

  /** @throws Error when it was not started */
  agent(name: string): IstioAgentProcess {
    const agent = this.#agents.get(name);
    if (agent === undefined) throw new Error(`the agent of "${name}" does not run`);
    return agent;
  }

  /** A key that tokens are signed with, which is made when it is first named. */
  key(name: string): TokenKey {
    const key = this.#keys.get(name) ?? new TokenKey(name);
    this.#keys.set(name, key);
    return key;
  }

  /** Everything before the control plane is started. */
  async prepare(): Promise<void> {
    await this.nameServer.start();
    for (const step of this.scenario.steps.filter(({ at }) => at === '00')) await this.#perform(step);
    this.stepEnded = performance.now();
  }

  /** Everything up to the checks `at: start`. A control plane that a step starts first is not started here, and nodes with it. */
  async start(): Promise<void> {
    for (const { name, port } of this.scenario.backends) {
      // The ports are fixed: another run on this machine has them for a while.
      const start = () => HttpBackend.start(name, port);
      this.#backends.push(await waitFor(start, { what: `free port ${port}`, withinMs: 120_000, everyMs: 200 }));
    }
    if (this.scenario.mcp !== '') await this.#startMcp('v1');
    if (!isStartedByStep(this.scenario)) await this.#startAll();
    this.stepEnded = performance.now();
  }

  /** Begins to count what nodes are sent: from now on it is because of steps. */
  countFromHere(): void {
    for (const [name, { client }] of this.nodes) this.#marksAtStart.set(name, { responses: client.log.length });
  }

  /** Runs the script of a step, and does what it asks the harness to do. */
  async step(step: Step): Promise<void> {
    for (const [name, { client }] of this.nodes) this.#marks.set(name, { responses: client.log.length });
    for (const stream of this.scripted.values()) stream.mark();
    await this.#perform(step);
    this.stepEnded = performance.now();
  }

  /** Keeps what every node holds, to be compared with later. */
  remember(at: string): void {
    const types = Object.values(TYPE_URLS);
    for (const [name, node] of this.nodes) this.#snapshots.set(`${at} ${name}`, node.snapshot(types));
  }

  remembered(at: string, node: string, typeUrl: string, resource: string): Uint8Array | undefined {
    return this.#snapshots.get(`${at} ${node}`)?.get(typeUrl)?.get(resource);
  }

  /** Responses that a node was sent since the current step began, or since the start. */
  responsesSince(name: string, since: 'step' | 'start'): RunningNode['client']['log'] {
    const mark = (since === 'step' ? this.#marks : this.#marksAtStart).get(name);
    return this.node(name).client.log.slice(mark?.responses ?? 0);
  }

  /** A raw stream of a node, which is opened by the first who asks for it. */
  stream(name: string, variant: 'sotw' | 'delta'): ScriptedStream {
    const key = `${name} ${variant}`;
    const known = this.scripted.get(key);
    if (known !== undefined) return known;
    const stream = new ScriptedStream(this.istiod.addresses.grpc, variant, this.node(name).json);
    this.scripted.set(key, stream);
    return stream;
  }

  async stop(): Promise<void> {
    for (const stream of this.scripted.values()) stream.close();
    this.connections.close();
    await Promise.all([...this.nodes.values(), ...this.#agents.values()].map((one) => one.stop()));
    await this.#istiod?.stop();
    await this.#keyServer?.[Symbol.asyncDispose]();
    await this.nameServer.stop();
    await Promise.all(this.#backends.map((backend) => backend.stop()));
    this.#stopMcp();
    this.dir[Symbol.dispose]();
  }

  async #perform(step: Step): Promise<void> {
    this.#script(step);
    for (const order of this.#orders()) await this.#follow(order);
  }

  /** The control plane, and all that no step starts. */
  async #startAll(): Promise<void> {
    giveTokens(this.dir, this.scenario.checks);
    const listen = { grpcUnix: this.#socket, grpcTls: '127.0.0.1:0' };
    this.#istiod = await IstiodProcess.start({ root: this.dir.path, listen });
    const { nodes, checks } = this.scenario;
    const automatic = Object.entries(nodes).filter(([, { start }]) => start !== 'manual');
    const agents = new Set(checks.flatMap(({ agent }) => (typeof agent === 'string' ? [agent] : [])));
    await Promise.all([
      ...automatic.map(([name, about]) => this.#startNode(name, about)),
      ...[...agents].filter((name) => !this.#agents.has(name)).map((name) => this.#startAgent(name)),
    ]);
  }

  #script({ script }: Step): void {
    const env = { PATH: process.env['PATH'] ?? '', W: this.dir.path };
    execFileSync('sh', [this.dir.at(script)], { env, stdio: ['ignore', 'ignore', 'inherit'], timeout: 60_000 });
  }

  #orders(): readonly string[] {
    const file = this.dir.at('.harness');
    if (!existsSync(file)) return [];
    const orders = readFileSync(file, 'utf8').split('\n');
    rmSync(file);
    return orders.map((order) => order.trim()).filter((order) => order !== '');
  }

  async #follow(order: string): Promise<void> {
    const [verb, argument = '', key = ''] = order.split(/\s+/);
    if (verb === 'restart-control-plane') await this.istiod.restart();
    else if (verb === 'stop-control-plane') await this.istiod.stop();
    else if (verb === 'start-control-plane')
      await (this.#istiod === undefined ? this.#startAll() : this.istiod.start());
    else if (verb === 'start-agent') await this.#startAgent(argument);
    else if (verb === 'restart-agent') await this.agent(argument).restart();
    else if (verb === 'jwks-start') {
      const body = keySet(this.key(key));
      this.#keyServer = await TextServer.start(() => ({ body }), { port: Number(argument) });
    } else if (verb === 'jwks-stop') await this.#keyServer?.[Symbol.asyncDispose]();
    else if (verb === 'mcp-stop') this.#stopMcp();
    else if (verb === 'mcp-start') await this.#startMcp(argument);
    else if (verb === 'mcp-serve') this.#mcp?.serve(this.#mcpSet(argument));
    else if (verb === 'start-node') {
      const about = this.scenario.nodes[argument];
      if (about === undefined) throw new Error(`${order}: there is no such node`);
      await this.#startNode(argument, about);
    } else throw new Error(`${order}: nobody here can follow it`);
  }

  /** The objects of a set; `empty` has none. */
  #mcpSet(name: string): string {
    const files = globSync(`mcp/${name}/*.yaml`, { cwd: this.dir.path }).sort();
    return files.map((file) => this.dir.read(file)).join('---\n');
  }

  async #startMcp(set: string): Promise<void> {
    this.#mcp = await McpServer.start(this.#mcpSet(set), MCP_PORT);
  }

  #stopMcp(): void {
    this.#mcp?.[Symbol.dispose]();
    this.#mcp = undefined;
  }

  async #startAgent(name: string): Promise<void> {
    const about = this.scenario.nodes[name];
    if (about === undefined) throw new Error(`there is no node ${name} for an agent`);
    const env = agentEnvironment(about, { socket: this.#socket, upstream: this.nameServer.address });
    // Each on a machine of its own.
    this.#agents.set(name, await IstioAgentProcess.start({ root: this.dir.at(`machines/${name}`), env }));
  }

  async #startNode(name: string, about: ScenarioNode): Promise<void> {
    const node = new RunningNode(about, this.#socket);
    this.nodes.set(name, node);
    await node.start(name, this.#socket, this.dir);
  }
}

/** Whether the first thing that steps do to the control plane is to start it. */
function isStartedByStep({ directory, steps }: Scenario): boolean {
  const texts = steps.map(({ script }) => readFileSync(join(directory, script), 'utf8'));
  const orders = texts.map((text) => /\b(start|stop|restart)-control-plane\b/.exec(text)?.[1]);
  return orders.find((verb) => verb !== undefined) === 'start';
}
