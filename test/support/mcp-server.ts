import { Server, ServerCredentials } from '@grpc/grpc-js';
import { compareStrings } from '../../src/base/order.ts';
import type { Config } from '../../src/config/config.ts';
import { MCP_KINDS, RESOURCE_TYPE, resourceOfConfig } from '../../src/config/mcp.ts';
import { parseFile } from '../../src/config/parse.ts';
import type { EncodedResource, ResourceSet } from '../../src/proto/resource-set.ts';
import { serverOptions } from '../../src/xds/limits.ts';
import { DiscoveryServer } from '../../src/xds/server.ts';

/** A set that is given as a whole. */
class WholeSet implements ResourceSet {
  revision = 1;
  #resources: readonly EncodedResource[] = [];

  get size(): number {
    return this.#resources.length;
  }

  get(name: string): EncodedResource | undefined {
    return this.#resources.find((resource) => resource.name === name);
  }

  values(): Iterable<EncodedResource> {
    return this.#resources;
  }

  changesSince(): undefined {
    return undefined;
  }

  set(resources: readonly EncodedResource[]): void {
    this.#resources = [...resources].sort((a, b) => compareStrings(a.name, b.name));
    this.revision++;
  }
}

/** An adapter: it serves objects over MCP, and knows nothing else of a mesh. */
export class McpServer {
  readonly address: string;
  readonly #server: Server;
  readonly #sets: ReadonlyMap<string, WholeSet>;
  readonly #listeners: Set<() => void>;

  private constructor(
    address: string,
    server: Server,
    sets: ReadonlyMap<string, WholeSet>,
    listeners: Set<() => void>,
  ) {
    this.address = address;
    this.#server = server;
    this.#sets = sets;
    this.#listeners = listeners;
  }

  /** @param port 0: a free one */
  static async start(yaml: string, port = 0): Promise<McpServer> {
    const sets = new Map(MCP_KINDS.map(({ typeUrl }) => [typeUrl, new WholeSet()]));
    const listeners = new Set<() => void>();
    const discovery = new DiscoveryServer({
      provider: {
        connect: (node) => {
          let told: () => void = () => {};
          return {
            id: node.id,
            resources: (typeUrl) => sets.get(typeUrl),
            onChange: (listener) => {
              told = listener;
              listeners.add(listener);
            },
            close: () => void listeners.delete(told),
          };
        },
      },
    });
    const server = new Server(serverOptions());
    discovery.register(server);
    const bound = await new Promise<number>((resolve, reject) => {
      server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, free) =>
        error === null ? resolve(free) : reject(error),
      );
    });
    const started = new McpServer(`127.0.0.1:${bound}`, server, sets, listeners);
    started.serve(yaml);
    return started;
  }

  /** From now on it serves the objects of these documents, and no others. @param spec puts another in place of one */
  serve(yaml: string, spec: (config: Config) => unknown = (config) => config.spec): void {
    const { configs, refused } = parseFile('mcp.yaml', yaml, { source: 'mcp', namespace: 'default', strict: false });
    if (refused.length > 0) throw new Error('a document is wrong');
    for (const kind of MCP_KINDS) {
      const own = configs.filter((config) => config.group === kind.kind.group && config.kind === kind.kind.kind);
      this.#sets.get(kind.typeUrl)?.set(
        own.map((config) => ({
          name: `${config.namespace}/${config.name}`,
          version: config.hash,
          bytes: resourceOfConfig(kind, { ...config, spec: spec(config) }),
          typeUrl: RESOURCE_TYPE,
        })),
      );
    }
    for (const told of this.#listeners) told();
  }

  /** Ends all at once, as when the machine loses power. */
  [Symbol.dispose](): void {
    this.#server.forceShutdown();
  }
}
