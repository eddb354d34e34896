import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { LineProcess } from '../../support/line-process.ts';
import type { WorkDir } from '../../support/work-dir.ts';

const HERE = import.meta.dirname;

/** A gRPC library that reads xDS, as a program of its own: see `go/main.go`. */
export interface GrpcLibrary {
  readonly name: string;
  /** Whether it can be a server that xDS configures. */
  readonly serves: boolean;
  /** Makes it, where it is not there; the command that its arguments are added to. @throws Error without its tools */
  command(): readonly string[];
}

const run = (file: string, ...args: readonly string[]): string =>
  execFileSync(file, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

const NODE: GrpcLibrary = {
  name: '@grpc/grpc-js-xds',
  serves: false,
  command: () => [process.execPath, join(HERE, 'node/greeter.ts')],
};

const PYTHON: GrpcLibrary = {
  name: "Python's grpcio",
  serves: true,
  command: () => [run('scripts/grpcio', '--path'), join(HERE, 'python/greeter.py')],
};

const GO: GrpcLibrary = {
  name: "Go's grpc",
  serves: true,
  command: () => {
    const binary = resolve('.cache/grpc-greeter');
    execFileSync('go', ['build', '-o', binary, '.'], { cwd: join(HERE, 'go'), stdio: ['ignore', 'ignore', 'pipe'] });
    return [binary];
  },
};

export const LIBRARIES: readonly GrpcLibrary[] = [NODE, PYTHON, GO];

/** Whether a test can not run for want of a tool: `skip` of its options. @throws Error in CI, where nothing is left out */
export function without(tool: string): string | false {
  try {
    run(tool, tool === 'go' ? 'version' : '--version');
    return false;
  } catch {
    const missing = `there is no ${tool}`;
    if (process.env['CI']) throw new Error(`tests with gRPC's libraries can not run: ${missing}`);
    return missing;
  }
}

export interface GrpcNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** `host:port` of the control plane. */
  readonly xds: string;
  /** Files of its identity; absent: none. */
  readonly identity?: { readonly chain: string; readonly key: string; readonly root: string };
}

/** Starts the program as a node of the namespace shop. Its bootstrap and its certificates are put into the directory. */
export function startGrpc(dir: WorkDir, command: readonly string[], node: GrpcNode): LineProcess {
  const { name, labels, xds, identity } = node;
  const file = (kind: string): string => dir.at(`${name}.${kind}`);
  if (identity) {
    dir.write(`${name}.chain`, identity.chain);
    dir.write(`${name}.key`, identity.key);
    dir.write(`${name}.root`, identity.root);
  }
  const bootstrap = {
    xds_servers: [{ server_uri: xds, channel_creds: [{ type: 'insecure' }], server_features: ['xds_v3'] }],
    node: {
      id: `sidecar~127.0.0.1~${name}.shop~shop.svc.cluster.local`,
      // grpc-js takes no node without one.
      locality: {},
      metadata: { GENERATOR: 'grpc', NAMESPACE: 'shop', CLUSTER_ID: 'Kubernetes', LABELS: labels },
    },
    ...(identity && {
      certificate_providers: {
        default: {
          plugin_name: 'file_watcher',
          config: {
            certificate_file: file('chain'),
            private_key_file: file('key'),
            ca_certificate_file: file('root'),
            refresh_interval: '600s',
          },
        },
      },
    }),
    server_listener_resource_name_template: 'xds.istio.io/grpc/lds/inbound/%s',
  };
  dir.write(`${name}.json`, JSON.stringify(bootstrap));
  return new LineProcess(command, { GRPC_XDS_BOOTSTRAP: file('json') });
}

/** Calls by a client, and what it is answered: names of servers, `!Code` for what fails. */
export async function calls(
  client: LineProcess,
  count: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  return (await client.ask<{ readonly replies: readonly string[] }>({ calls: count, headers })).replies;
}
