import { spawnSync } from 'node:child_process';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';
import { isJsonObject } from '../../src/base/json.ts';
import { grpcCluster } from './envoy-bootstrap.ts';
import { envoyPath } from './envoy-process.ts';
import type { WorkDir } from './work-dir.ts';

/** What a proxy is sent, as proto JSON by name. */
export interface SentResources {
  readonly clusters: ReadonlyMap<string, JsonObject>;
  readonly listeners: ReadonlyMap<string, JsonObject>;
  readonly routes: ReadonlyMap<string, JsonObject>;
}

/**
 * Has an upstream Envoy look at what a proxy is sent, as a static bootstrap: route configurations stand inside the listeners, so
 * that they are looked at too. Nothing is listened on.
 *
 * @param options `agent`: the node has a cluster for the secrets of its agent
 * @returns the errors in Envoy's words; empty: all is accepted
 */
export function envoyRefusals(
  { clusters, listeners, routes }: SentResources,
  dir: WorkDir,
  { agent = true }: { readonly agent?: boolean } = {},
): readonly string[] {
  const bootstrap = {
    node: { id: 'router~10.0.0.1~validated.default~default.svc.cluster.local', cluster: 'validated' },
    admin: { address: { socketAddress: { address: '127.0.0.1', portValue: 0 } } },
    dynamicResources: {
      adsConfig: {
        apiType: 'DELTA_GRPC',
        transportApiVersion: 'V3',
        grpcServices: [{ envoyGrpc: { clusterName: 'xds-grpc' } }],
      },
    },
    staticResources: {
      clusters: [
        grpcCluster('xds-grpc', '127.0.0.1:1'),
        ...(agent ? [grpcCluster('sds-grpc', '127.0.0.1:1')] : []),
        ...[...clusters.values()].map(plain),
      ],
      listeners: [...listeners.values()].map((listener) => plain(withRoutes(listener, routes) as JsonObject)),
    },
  };
  dir.write('validated.json', JSON.stringify(bootstrap));
  const args = ['--mode', 'validate', '-c', dir.at('validated.json'), '-l', 'warning'];
  const { status, stderr } = spawnSync(envoyPath(), args, {
    encoding: 'utf8',
    // Logs go to a standard output that can be opened by name.
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  if (status === 0) return [];
  const lines = stderr.split('\n').filter((line) => /\[critical\]|\[error\]|error initializing/i.test(line));
  return lines.length > 0 ? [...new Set(lines)] : [stderr.slice(-2_000)];
}

function plain({ '@type': _type, ...message }: JsonObject): JsonObject {
  return message;
}

function withRoutes(value: JsonValue | undefined, routes: SentResources['routes']): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((item) => withRoutes(item, routes) as JsonValue);
  if (!isJsonObject(value)) return value;
  const { rds, ...rest } = value;
  const name = isJsonObject(rds) ? rds['routeConfigName'] : undefined;
  const found = typeof name === 'string' ? routes.get(name) : undefined;
  const inside = found === undefined ? {} : { routeConfig: plain(found) };
  const kept = found === undefined && rds !== undefined ? { rds } : {};
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, item]) => [key, withRoutes(item, routes) as JsonValue])),
    ...kept,
    ...inside,
  };
}
