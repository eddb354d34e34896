import { mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Child, type Exit } from './child.ts';
import { freePorts } from './free-port.ts';
import { istiodCommand } from './istiod-process.ts';
import { waitFor } from './wait.ts';

export interface IstioAgentOptions {
  /** The working directory. */
  readonly root: string;
  readonly env: Readonly<Record<string, string>>;
}

const LISTENING = 'var/lib/istio/agent/run/listen.json';

/** The agent beside the executable of the control plane; of a TypeScript file, that file under another name. */
function agentCommand(): { readonly command: readonly string[]; readonly argv0?: string } {
  const command = istiodCommand();
  if (command.length > 1) return { command, argv0: 'istio-agent' };
  return { command: [join(dirname(command[0] ?? ''), 'istio-agent')] };
}

/** An agent in a process of its own, whose DNS is on a port of 127.0.0.1 that stays the same over restarts. */
export class IstioAgentProcess {
  readonly #options: IstioAgentOptions;
  #child: Child;
  #before = '';

  private constructor(options: IstioAgentOptions) {
    this.#options = options;
    this.#child = this.#spawn();
  }

  /** Resolves when it listens. */
  static async start({ root, env }: IstioAgentOptions): Promise<IstioAgentProcess> {
    const [port] = await freePorts(1);
    mkdirSync(root, { recursive: true });
    const agent = new IstioAgentProcess({ root, env: { DNS_PROXY_ADDR: `127.0.0.1:${port}`, ...env } });
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

  /** What it wrote since the first start. */
  get log(): string {
    return this.#before + this.#child.output;
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    return this.#child.stop(signal);
  }

  async restart(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.stop(signal);
    this.#before += this.#child.output;
    this.#child = this.#spawn();
    await this.#ready();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #spawn(): Child {
    const { root, env } = this.#options;
    const { command, argv0 } = agentCommand();
    return new Child(command, { cwd: root, env, ...(argv0 === undefined ? {} : { argv0 }) });
  }

  async #ready(): Promise<void> {
    // Its file may be that of an agent that was killed, or of another one.
    const has = () => this.#child.exit !== undefined || this.#child.output.includes('istio-agent serves');
    await waitFor(has, { what: `agent in ${this.#options.root}`, withinMs: 30_000, everyMs: 10 });
    this.#child.assertRunning();
  }
}
