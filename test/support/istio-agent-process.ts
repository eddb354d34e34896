import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject } from '../../src/base/json.ts';
import { Child, type Exit } from './child.ts';
import { freePorts } from './free-port.ts';
import { type HttpAnswer, httpRequest } from './http-client.ts';
import { istiodCommand } from './istiod-process.ts';
import { waitFor } from './wait.ts';

export interface IstioAgentOptions {
  /** The working directory. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
  /** Of PROXY_CONFIG, beside its ports. */
  readonly proxyConfig?: JsonObject;
  /** Put before the command: `['ip', 'netns', 'exec', 'mesh-1']`. */
  readonly prefix?: readonly string[];
}

const LISTENING = 'var/lib/istio/agent/run/listen.json';

/** The agent beside the executable of the control plane; of a TypeScript file, that file under another name. */
export function agentCommand(): { readonly command: readonly string[]; readonly argv0?: string } {
  const command = istiodCommand();
  if (command.length > 1) return { command, argv0: 'istio-agent' };
  return { command: [join(dirname(command[0] ?? ''), 'istio-agent')] };
}

/** An agent in a process of its own, with its Envoy if it has one, on ports of this machine that stay the same over restarts. */
export class IstioAgentProcess {
  readonly #options: IstioAgentOptions;
  #child: Child;
  #before = 0;

  private constructor(options: IstioAgentOptions) {
    this.#options = options;
    this.#child = this.#spawn();
  }

  /** Resolves when it listens. */
  static async start({ root, env, proxyConfig, prefix = [] }: IstioAgentOptions): Promise<IstioAgentProcess> {
    const [dns, status, admin, ready, metrics] = await freePorts(5);
    mkdirSync(root, { recursive: true });
    const ports = {
      DNS_PROXY_ADDR: `127.0.0.1:${dns}`,
      ENVOY_STATUS_PORT: `${ready}`,
      ENVOY_PROMETHEUS_PORT: `${metrics}`,
      PROXY_CONFIG: JSON.stringify({ statusPort: status, proxyAdminPort: admin, ...proxyConfig }),
    };
    const agent = new IstioAgentProcess({ root, prefix, env: { ...ports, ...env } });
    await agent.#ready();
    return agent;
  }

  /** Where it listens, by what is served. */
  get addresses(): Readonly<Record<string, string>> {
    return JSON.parse(readFileSync(join(this.#options.root, LISTENING), 'utf8'));
  }

  get dns(): string {
    return this.addresses['dns'] ?? '';
  }

  /** What its own HTTP answers, or that of its Envoy. */
  get(path: string, port: 'status' | 'admin' | 'ready' | 'metrics' = 'status'): Promise<HttpAnswer> {
    const { PROXY_CONFIG = '{}', ENVOY_STATUS_PORT, ENVOY_PROMETHEUS_PORT } = this.#options.env;
    const { statusPort, proxyAdminPort } = JSON.parse(PROXY_CONFIG) as { statusPort: number; proxyAdminPort: number };
    const ports = {
      status: statusPort,
      admin: proxyAdminPort,
      ready: ENVOY_STATUS_PORT,
      metrics: ENVOY_PROMETHEUS_PORT,
    };
    return httpRequest(`http://127.0.0.1:${ports[port]}${path}`);
  }

  /** Undefined while it runs. */
  get exit(): Exit | undefined {
    return this.#child.exit;
  }

  /** What it wrote since the first start. */
  get log(): string {
    return this.#child.output;
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    return this.#child.stop(signal, 15_000);
  }

  async restart(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.stop(signal);
    this.#child = this.#spawn();
    await this.#ready();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #spawn(): Child {
    const { root, env, prefix = [] } = this.#options;
    const { command, argv0 } = agentCommand();
    const outputFile = join(root, 'agent.log');
    this.#before = existsSync(outputFile) ? readFileSync(outputFile, 'utf8').length : 0;
    // A file, and no pipe: an Envoy that outlives its agent would keep that open.
    return new Child([...prefix, ...command], {
      cwd: root,
      env,
      outputFile,
      ...(argv0 === undefined ? {} : { argv0 }),
    });
  }

  async #ready(): Promise<void> {
    // Its file may be that of an agent that was killed, or of another one.
    const has = () =>
      this.#child.exit !== undefined || this.#child.output.slice(this.#before).includes('istio-agent serves');
    await waitFor(has, { what: `agent in ${this.#options.root}`, withinMs: 30_000, everyMs: 10 });
    this.#child.assertRunning();
  }
}
