import { chmodSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import type { JsonObject } from '../../src/base/json.ts';
import type { Variant } from '../../src/xds/events.ts';
import type { CaseProxy } from '../parity/case-files.ts';
import type { TestAuthority } from '../support/certificates.ts';
import { envoyBootstrap, grpcCluster } from '../support/envoy-bootstrap.ts';
import { EnvoyProcess } from '../support/envoy-process.ts';
import { type Namespace, PROXY_UID } from '../support/network.ts';
import { SdsServer } from '../support/sds-server.ts';
import { WorkDir } from '../support/work-dir.ts';

export interface MachineEnvoyOptions {
  readonly machine: Namespace;
  readonly proxy: CaseProxy;
  /** Path of the control plane's socket. */
  readonly xds: string;
  /** With one the Envoy has an SDS server and says so. */
  readonly authority?: TestAuthority;
  /** Names of files that the SDS server knows beside `default` and `ROOTCA`. */
  readonly fileSecrets?: Iterable<string>;
  /** Files under `/etc` of the machine, by path from there. */
  readonly etc?: Readonly<Record<string, string>>;
  /** Files under `/opt` of the machine, by path from there. */
  readonly opt?: Readonly<Record<string, Uint8Array>>;
  /** Default delta. */
  readonly variant?: Variant;
}

/** An upstream Envoy as the sidecar of a machine. It lists what it was built with by itself. */
export class MachineEnvoy {
  readonly envoy: EnvoyProcess;
  readonly #dir: WorkDir;
  readonly #sds: SdsServer | undefined;

  private constructor(envoy: EnvoyProcess, dir: WorkDir, sds: SdsServer | undefined) {
    this.envoy = envoy;
    this.#dir = dir;
    this.#sds = sds;
  }

  static async start(options: MachineEnvoyOptions): Promise<MachineEnvoy> {
    const { machine, proxy, xds, authority, fileSecrets = [], etc = {}, opt = {}, variant } = options;
    const dir = new WorkDir('envoy');
    mkdirSync(dir.at('etc'));
    mkdirSync(dir.at('opt'));
    for (const [path, text] of Object.entries(etc)) dir.write(`etc/${path}`, text);
    for (const [path, bytes] of Object.entries(opt)) writeFileSync(dir.at(`opt/${path}`), bytes);
    // Its user opens its log by name, and puts files beside it.
    writeFileSync(dir.at('.envoy.log'), '');
    chownSync(dir.at('.envoy.log'), PROXY_UID, PROXY_UID);
    chownSync(dir.path, PROXY_UID, PROXY_UID);
    const sds =
      authority &&
      (await SdsServer.start({
        path: dir.at('sds.sock'),
        certificate: authority.issue(identity(proxy)),
        root: authority.root,
        files: fileSecrets,
      }));
    try {
      const envoy = await EnvoyProcess.start({
        bootstrap: bootstrap(proxy, xds, sds, variant ?? 'delta'),
        dir,
        prefix: machine.proxyPrefix(dir.at('etc'), dir.at('opt')),
        admin: dir.at('admin.sock'),
      });
      return new MachineEnvoy(envoy, dir, sds);
    } catch (error) {
      sds?.[Symbol.dispose]();
      dir[Symbol.dispose]();
      throw error;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.envoy.stop('SIGKILL');
    this.#sds?.[Symbol.dispose]();
    this.#dir[Symbol.dispose]();
  }
}

function identity({ namespace, metadata }: CaseProxy): string {
  return `URI:spiffe://cluster.local/ns/${namespace}/sa/${metadata['SERVICE_ACCOUNT'] ?? 'default'}`;
}

function bootstrap(proxy: CaseProxy, xds: string, sds: SdsServer | undefined, variant: Variant): JsonObject {
  const { type, ips, id, dnsDomain, metadata, locality } = proxy;
  const node = {
    id: `${type}~${ips[0]}~${id}~${dnsDomain}`,
    cluster: id,
    metadata: { INSTANCE_IPS: ips.join(), ...metadata, ...(sds ? { SDS: 'true' } : {}) },
    ...(locality === undefined ? {} : { locality }),
  };
  const clusters = sds ? [grpcCluster('sds-grpc', sds.path)] : [];
  return envoyBootstrap({ xds, node, variant, clusters });
}

/** Lets the user of proxies come to a directory that only root may enter. */
export function openToProxies(dir: WorkDir): void {
  chmodSync(dir.path, 0o755);
}
