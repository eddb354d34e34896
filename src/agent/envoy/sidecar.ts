import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProxyConfig } from '#generated/config/specs.ts';
import type { JsonObject } from '../../base/json.ts';
import type { PackedMessage } from '../../proto/discovery.ts';
import { PROXY_CONFIG_TYPE } from '../../proto/type-urls.ts';
import { DiscoveryServer } from '../../xds/server.ts';
import type { Certificates } from '../certificates/certificates.ts';
import type { TrustBundle } from '../certificates/trust-bundle.ts';
import { type LocalSocket, listenLocally } from '../local-socket.ts';
import { under } from '../read-file.ts';
import { Secrets } from '../sds/secrets.ts';
import { XdsCache } from '../xds/cache.ts';
import { CacheFile } from '../xds/cache-file.ts';
import type { OwnTypes, Upstream } from '../xds/live-stream.ts';
import { XdsProxy } from '../xds/xds-proxy.ts';
import { askEnvoy } from './admin.ts';
import { bootstrap } from './bootstrap.ts';
import { Envoy } from './envoy.ts';
import { bootstrapPath, type EnvoySettings, envoyArguments } from './envoy-settings.ts';
import { endLeftover, rememberEnvoy } from './leftover.ts';
import { envoyOutput, type Output } from './output.ts';

export interface SidecarOptions {
  readonly root: string;
  /** For what is kept, relative to the root. */
  readonly state: string;
  readonly settings: EnvoySettings;
  readonly proxyConfig: ProxyConfig;
  readonly node: JsonObject;
  readonly certificates: Certificates;
  readonly upstream: Upstream;
  readonly trust: TrustBundle;
  /** What the agent asks istiod for beside Envoy. */
  readonly own: OwnTypes;
  onLive(isLive: boolean): void;
  readonly log: { info(message: string): void; warn(message: string): void };
}

/** The Envoy of a machine with all that it is served by: secrets, configuration, its bootstrap. */
export class Sidecar {
  readonly #options: SidecarOptions;
  readonly #secrets: Secrets;
  readonly #cache: XdsCache;
  readonly #proxy: XdsProxy;
  readonly #sockets: LocalSocket[] = [];
  #output: Output | undefined;
  #envoy: Envoy | undefined;
  #isStopped = false;

  constructor(options: SidecarOptions) {
    this.#options = options;
    const { root, state, node, upstream, trust, log, certificates } = options;
    this.#secrets = new Secrets({ root, log });
    const { id = '' } = node as { readonly id?: string };
    // Its address may change from one start to the next.
    const [type, , ...name] = id.split('~');
    const file = new CacheFile({ directory: join(root, state), owner: [type, ...name].join('~'), log });
    this.#cache = new XdsCache(file);
    const onLive = (isLive: boolean): void => options.onLive(isLive);
    const own: OwnTypes = new Map([
      ...options.own,
      [PROXY_CONFIG_TYPE, (resources: readonly PackedMessage[]) => trust.take(resources)],
    ]);
    this.#proxy = new XdsProxy({ upstream, cache: this.#cache, own, onLive, log });
    const give = (): void => {
      if (certificates.current !== undefined) this.#secrets.take(certificates.current, trust.roots);
    };
    give();
    certificates.onChange(give);
    trust.onChange(give);
  }

  get restarts(): number {
    return this.#envoy?.restarts ?? 0;
  }

  /** Opens the sockets, and starts Envoy. @throws StartError when a socket can not be opened */
  async start(): Promise<void> {
    const { root, state, settings, proxyConfig, node, log } = this.#options;
    const socket = (name: string): string => join(settings.directory, name);
    const secrets = new DiscoveryServer({ provider: this.#secrets });
    this.#sockets.push(
      await listenLocally(under(root, socket('SDS')), (server) => secrets.register(server, true)),
      await listenLocally(under(root, socket('XDS')), (server) => this.#proxy.register(server)),
    );
    const config = settings.customBootstrap ?? bootstrapPath(settings);
    if (settings.customBootstrap === undefined) {
      const made = bootstrap({
        node,
        proxyConfig,
        ports: settings.ports,
        xdsSocket: inPlace(socket('XDS')),
        sdsSocket: inPlace(socket('SDS')),
      });
      write(under(root, config), JSON.stringify(made));
    }
    const pidFile = join(root, state, 'run/envoy.pid');
    const leftover = await endLeftover(pidFile, config);
    if (leftover !== undefined) log.warn(`an Envoy of an agent that was killed, process ${leftover}, was ended`);
    if (this.#isStopped) return;
    this.#output = envoyOutput(join(root, state, 'run/envoy.out'));
    this.#envoy = new Envoy({
      path: settings.path,
      args: envoyArguments(settings, config),
      root,
      output: this.#output.descriptor,
      adminPort: settings.ports.admin,
      drainsInboundOnly: String(node['id']).startsWith('sidecar~'),
      drainMs: settings.terminationDrainMs,
      leastDrainMs: settings.leastDrainMs,
      onStart: (pid) => rememberEnvoy(pidFile, pid),
      log,
    });
    this.#envoy.start();
  }

  /** Why it does not serve; undefined: it does. */
  async notReady(): Promise<string | undefined> {
    if (this.#envoy === undefined) return 'Envoy is not started yet';
    if (this.#envoy.isDraining) return 'Envoy drains its connections';
    try {
      const { status, body } = await askEnvoy(this.#options.settings.ports.admin, 'GET', '/ready');
      return status === 200 ? undefined : `Envoy is ${body.trim()}`;
    } catch (error) {
      return `Envoy does not answer: ${(error as Error).message}`;
    }
  }

  /** Envoy's own, empty while it does not answer. */
  async metrics(): Promise<string> {
    try {
      return (await askEnvoy(this.#options.settings.ports.admin, 'GET', '/stats/prometheus')).body;
    } catch {
      return '';
    }
  }

  /** Drains and ends Envoy, then closes what it is served by. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const { root, state } = this.#options;
    await this.#envoy?.stop();
    rememberEnvoy(join(root, state, 'run/envoy.pid'), undefined);
    this.#output?.close();
    this.#secrets.close();
    this.#proxy.stop();
    await Promise.all(this.#sockets.map((socket) => socket.close()));
    await this.#cache.flush();
  }
}

/** As Envoy opens it, whose working directory is the agent's. */
function inPlace(path: string): string {
  return path.startsWith('/') ? path : `./${path}`;
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}
