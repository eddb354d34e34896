import { credentials } from '@grpc/grpc-js';
import { contentVersion } from '../base/hash.ts';
import type { JsonObject } from '../base/json.ts';
import { MCP_KINDS, mcpKindOf, objectOfResource } from '../config/mcp.ts';
import { parseFile } from '../config/parse.ts';
import type { ParsedFile } from '../config/parsed.ts';
import type { ConfigSink } from '../config/sink.ts';
import type { DiscoveryResponse } from '../proto/discovery.ts';
import { ClientStream } from '../xds/client-stream.ts';
import type { Source, SourceLog, SourceState } from './source.ts';

export interface McpSourceOptions {
  /** `host:port`, plaintext. */
  readonly address: string;
  /** Who asks: a node in proto JSON. */
  readonly node: JsonObject;
  readonly strict: boolean;
  readonly log: SourceLog;
  /** How long a start waits for a first state, in milliseconds; default 2,000. */
  readonly patienceMs?: number;
}

/** An object as it was received, under the name that it has in findings. */
interface Received {
  readonly version: string;
  readonly file: string;
}

/**
 * The objects of another control plane or an adapter, over MCP. What was received stays in force while the source is away, and
 * a source that is away when the process starts holds up nobody.
 */
export function mcpSource(options: McpSourceOptions): Source {
  const name = `xds://${options.address}`;
  let state: SourceState = 'disconnected';
  return {
    name,
    state: () => state,
    start: (sink, signal) =>
      new Promise((resolve) => {
        const objects = new McpObjects(name, sink, options);
        const begin = (): void => {
          clearTimeout(timer);
          objects.begin();
          resolve();
        };
        const timer = setTimeout(begin, options.patienceMs ?? 2_000);
        const stream = new ClientStream({
          ...options,
          credentials: () => credentials.createInsecure(),
          typeUrls: MCP_KINDS.map(({ typeUrl }) => typeUrl),
          onResponse: (response) => {
            const refused = objects.take(response);
            if (objects.isComplete) begin();
            return refused;
          },
          onState: (reason) => {
            const before = state;
            state = reason === undefined ? 'connected' : 'disconnected';
            if (reason !== undefined) begin();
            if (state === before && objects.isSaid) return;
            objects.isSaid = true;
            if (reason === undefined) options.log.info(`${name} is connected`);
            else options.log.warn(`${name} is away, and what it gave stays in force: ${reason}`);
          },
        });
        signal.addEventListener('abort', () => stream.stop(), { once: true });
      }),
  };
}

/** What the source has given, type by type. */
class McpObjects {
  isSaid = false;
  readonly #name: string;
  readonly #sink: ConfigSink;
  readonly #strict: boolean;
  readonly #ofType = new Map<string, ReadonlyMap<string, Received>>();
  /** Until the first state is handed over. */
  #first: Map<string, ParsedFile> | undefined = new Map();

  constructor(name: string, sink: ConfigSink, { strict }: Pick<McpSourceOptions, 'strict'>) {
    this.#name = name;
    this.#sink = sink;
    this.#strict = strict;
  }

  /** Whether every type was answered. */
  get isComplete(): boolean {
    return this.#ofType.size === MCP_KINDS.length;
  }

  /** Hands over what there is as the first state; what comes later are changes. */
  begin(): void {
    if (this.#first === undefined) return;
    const files = [...this.#first.values()];
    this.#first = undefined;
    this.#sink.replace(files);
  }

  /** All objects of one type. @returns what is wrong with the response */
  take({ typeUrl, resources }: DiscoveryResponse): string | undefined {
    const kind = mcpKindOf(typeUrl);
    if (kind === undefined) return `nobody asked for ${typeUrl}`;
    const before = this.#ofType.get(kind.typeUrl) ?? new Map<string, Received>();
    const now = new Map<string, Received>();
    const changed = new Map<string, ParsedFile | undefined>();
    let wrong: string | undefined;
    for (const { value } of resources) {
      const version = contentVersion(value);
      try {
        const { namespace, name, object } = objectOfResource(kind, value);
        const key = `${namespace}/${name}`;
        const file = `${this.#name}/${kind.typeUrl}/${key}`;
        now.set(key, { version, file });
        if (before.get(key)?.version === version) continue;
        const options = { source: this.#name, namespace: this.#sink.rootNamespace, strict: this.#strict };
        changed.set(file, parseFile(file, JSON.stringify(object), options));
      } catch (error) {
        wrong ??= error instanceof Error ? error.message : String(error);
      }
    }
    // Of what can not be read nobody knows whether it is an object that was there before.
    if (wrong !== undefined) return wrong;
    for (const [key, { file }] of before) if (!now.has(key)) changed.set(file, undefined);
    this.#ofType.set(kind.typeUrl, now);
    this.#apply(changed);
    return undefined;
  }

  #apply(changed: ReadonlyMap<string, ParsedFile | undefined>): void {
    const first = this.#first;
    if (first !== undefined) {
      for (const [file, parsed] of changed) {
        if (parsed === undefined) first.delete(file);
        else first.set(file, parsed);
      }
      return;
    }
    if (changed.size === 0) return;
    this.#sink.batch(() => {
      for (const [file, parsed] of changed) this.#sink.apply(file, parsed);
    });
  }
}
