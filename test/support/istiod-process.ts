import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Child, type Exit } from './child.ts';
import { freePorts } from './free-port.ts';
import { type HttpAnswer, httpRequest } from './http-client.ts';
import { waitFor } from './wait.ts';

export interface IstiodOptions {
  /** The working directory; `etc/istio/istiod.yaml` in it is written. */
  readonly root: string;
  readonly env?: Readonly<Record<string, string>>;
  /** More lines of `istiod.yaml`, beside `listen`. */
  readonly settings?: string;
  /** More addresses, by option of `listen`: `{grpcTls: '127.0.0.1:0'}`. */
  readonly listen?: Readonly<Record<string, string>>;
  /** Longest wait for the first start in milliseconds; default 30,000. */
  readonly withinMs?: number;
}

/** The executable. A TypeScript file in `ISTIOD_PATH` (src/bin/main.ts) is run as it stands, without a build. */
export function istiodCommand(): readonly string[] {
  const path = resolve(process.env['ISTIOD_PATH'] ?? 'dist/istiod');
  if (!existsSync(path)) throw new Error(`${path} is not there: npm run build makes it`);
  return /\.(ts|cjs)$/.test(path) ? [process.execPath, path] : [path];
}

/** A control plane in a process of its own, on free ports of 127.0.0.1 that stay the same over restarts. */
export class IstiodProcess {
  readonly root: string;
  readonly #options: IstiodOptions;
  readonly #listen: Readonly<Record<string, string>>;
  #child: Child;
  #before = '';

  private constructor(options: IstiodOptions, listen: Readonly<Record<string, string>>) {
    this.root = options.root;
    this.#options = options;
    this.#listen = listen;
    this.#child = this.#spawn();
  }

  /** Resolves when it is ready. A port that somebody else took meanwhile is no reason to fail: others are tried. */
  static async start(options: IstiodOptions): Promise<IstiodProcess> {
    for (let left = ATTEMPTS; ; left--) {
      const istiod = new IstiodProcess(options, await listenAddresses(options));
      try {
        await istiod.#ready();
        return istiod;
      } catch (error) {
        const { exit } = istiod;
        await istiod.stop();
        if (exit?.code !== PORT_IN_USE || left === 1) throw error;
      }
    }
  }

  /** Addresses by option of `listen`: `host:port`; those that are off are not there. */
  get addresses(): {
    readonly grpc: string;
    readonly grpcTls: string;
    readonly http: string;
    readonly monitoring: string;
  } {
    return JSON.parse(readFileSync(join(this.root, LISTENING), 'utf8'));
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Undefined while it runs. */
  get exit(): Exit | undefined {
    return this.#child.exit;
  }

  /** What it wrote since the first start. */
  get log(): string {
    return this.#before + this.#child.output;
  }

  /** One GET on the address for people and scripts. */
  get(path: string): Promise<HttpAnswer> {
    return httpRequest(`http://${this.addresses.http}${path}`);
  }

  /** @throws Error unless it is answered with 200 */
  async json<T>(path: string): Promise<T> {
    const { status, body } = await this.get(path);
    if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
    return JSON.parse(body) as T;
  }

  /** The text of /metrics. */
  async metrics(): Promise<string> {
    return (await httpRequest(`http://${this.addresses.monitoring}/metrics`)).body;
  }

  /** @param signal SIGKILL: as when the machine loses power */
  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    return this.#child.stop(signal);
  }

  /** Starts it after `stop`, on the same addresses. */
  async start(): Promise<void> {
    this.#before += this.#child.output;
    this.#child = this.#spawn();
    await this.#ready();
  }

  async restart(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.stop(signal);
    await this.start();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #spawn(): Child {
    const { env, settings = '' } = this.#options;
    mkdirSync(join(this.root, 'etc/istio'), { recursive: true });
    writeFileSync(join(this.root, 'etc/istio/istiod.yaml'), `listen: ${JSON.stringify(this.#listen)}\n${settings}`);
    rmSync(join(this.root, LISTENING), { force: true });
    return new Child(istiodCommand(), { cwd: this.root, ...(env === undefined ? {} : { env }) });
  }

  async #ready(): Promise<void> {
    await waitFor(
      async () => {
        if (this.exit !== undefined) return 'ended' as const;
        return existsSync(join(this.root, LISTENING)) && (await this.get('/ready')).status === 200;
      },
      { what: `istiod ready in ${this.root}`, withinMs: this.#options.withinMs ?? 30_000, everyMs: 10 },
    );
    this.#child.assertRunning();
  }
}

const LISTENING = 'var/lib/istio/run/listen.json';
const ATTEMPTS = 5;
/** Exit code of a server that can not listen. */
const PORT_IN_USE = 69;

async function listenAddresses({ listen = {} }: IstiodOptions): Promise<Readonly<Record<string, string>>> {
  const [grpc, http, monitoring, ...more] = await freePorts(3 + Object.keys(listen).length);
  const addresses: Record<string, string> = {
    grpc: `127.0.0.1:${grpc}`,
    grpcTls: '',
    http: `127.0.0.1:${http}`,
    monitoring: `127.0.0.1:${monitoring}`,
  };
  for (const [option, address] of Object.entries(listen)) {
    addresses[option] = address.endsWith(':0') ? `${address.slice(0, -1)}${more.pop()}` : address;
  }
  return addresses;
}
