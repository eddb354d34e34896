import type { AddressInfo, Server } from 'node:net';
import type { Labels } from '../../src/base/labels.ts';
import type { Variant } from '../../src/xds/events.ts';
import { type EchoOptions, echoServer } from '../support/echo-server.ts';
import { envoyBootstrap } from '../support/envoy-bootstrap.ts';
import { EnvoyProcess } from '../support/envoy-process.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { nodeJson } from '../support/node.ts';
import { WorkDir } from '../support/work-dir.ts';

/** A ServiceEntry `name`.shop.internal with one port, behind which a server on this machine stands. */
export function localService(name: string, port: number, backend: number, protocol: string = 'HTTP'): string {
  const portName = protocol.toLowerCase();
  return `---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: ${name}}
spec:
  hosts: [${name}.shop.internal]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: ${port}, name: ${portName}, protocol: ${protocol}}]
  endpoints: [{address: 127.0.0.1, ports: {${portName}: ${backend}}}]
`;
}

export interface LocalMeshOptions {
  /** Files under `etc/istio/conf`, by path. */
  readonly files: Readonly<Record<string, string>>;
  /** Text of mesh.yaml. */
  readonly mesh?: string;
  /** Default sidecar. */
  readonly type?: 'sidecar' | 'router';
  /** What the Envoy says that its address is; default 127.0.0.1. Endpoints there are taken to be its own. */
  readonly ip?: string;
  /** Of Envoy, beside those of every test. */
  readonly args?: readonly string[];
  /** Of Envoy; default 1.40.0. */
  readonly version?: string;
  /** Default delta. */
  readonly variant?: Variant;
  /** The Envoy's namespace; default `shop`. */
  readonly namespace?: string;
  /** The Envoy's labels; default `app: client`. */
  readonly labels?: Labels;
  /** The Envoy connects over a Unix socket, where it is given keys. */
  readonly socket?: boolean;
}

/** A control plane and one upstream Envoy on this machine, which nothing is captured on: interception NONE, no root. */
export class LocalMesh {
  readonly dir: WorkDir;
  readonly istiod: IstiodProcess;
  readonly envoy: EnvoyProcess;

  private constructor(dir: WorkDir, istiod: IstiodProcess, envoy: EnvoyProcess) {
    this.dir = dir;
    this.istiod = istiod;
    this.envoy = envoy;
  }

  /** Resolves when the Envoy's workers run and nothing warms. */
  static async start(options: LocalMeshOptions): Promise<LocalMesh> {
    const { files, mesh, type = 'sidecar', ip = '127.0.0.1', args = [], version, variant = 'delta' } = options;
    const { namespace = 'shop', labels = { app: 'client' }, socket } = options;
    await using started = new AsyncDisposableStack();
    const dir = started.use(new WorkDir());
    for (const [path, text] of Object.entries(files)) dir.write(`etc/istio/conf/${path}`, text);
    if (mesh !== undefined) dir.write('etc/istio/mesh.yaml', mesh);
    const listen = socket ? { grpcUnix: dir.at('xds.sock') } : {};
    const istiod = started.use(await IstiodProcess.start({ root: dir.path, listen }));
    const metadata = { INTERCEPTION_MODE: 'NONE', LABELS: labels };
    const node = nodeJson({ id: `client-1.${namespace}`, namespace, metadata, type, ips: [ip] });
    const bootstrap = envoyBootstrap({ xds: listen.grpcUnix ?? istiod.addresses.grpc, node, variant });
    const envoy = started.use(await EnvoyProcess.start({ bootstrap, dir, args, ...(version ? { version } : {}) }));
    await envoy.untilReady();
    started.move();
    return new LocalMesh(dir, istiod, envoy);
  }

  /** Writes a file of configuration. */
  write(path: string, text: string): void {
    this.dir.write(`etc/istio/conf/${path}`, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.envoy.stop('SIGKILL');
    await this.istiod.stop();
    this.dir[Symbol.dispose]();
  }
}

/** A server on a free port of loopback. See `echoServer`. */
export class LocalEcho {
  readonly port: number;
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
  }

  static async start(options: Omit<EchoOptions, 'at'>): Promise<LocalEcho> {
    return new LocalEcho(await echoServer({ at: '127.0.0.1:0', ...options }));
  }

  [Symbol.dispose](): void {
    this.#server.close();
  }
}
