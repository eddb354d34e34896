import type { JsonObject } from '../base/json.ts';
import { decodeMessage } from '../proto/decode.ts';
import type { PackedMessage } from '../proto/discovery.ts';
import { messageName, NAME_TABLE_TYPE } from '../proto/type-urls.ts';
import type { ClientStream } from '../xds/client-stream.ts';
import { type ControlPlaneOptions, controlPlaneStream } from './control-plane.ts';
import type { DnsProxy } from './dns/dns-proxy.ts';
import type { NameTableFile } from './name-table-file.ts';

export interface NamesOptions extends Pick<ControlPlaneOptions, 'upstream' | 'node' | 'log'> {
  readonly dns: DnsProxy;
  readonly file: NameTableFile;
}

/** An Envoy's stream brings the names, too: so long it is waited for, before the agent asks by itself. Milliseconds. */
const ENVOY_WITHIN = 3000;

/** The names of the mesh, on their way from istiod to the DNS of the machine. */
export class MeshNames {
  readonly #options: NamesOptions;
  readonly #known = Promise.withResolvers<void>();
  #stream: ClientStream | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: NamesOptions) {
    this.#options = options;
    const { file, dns, log } = options;
    const kept = file.load();
    if (kept === undefined) return;
    dns.take(kept);
    this.#known.resolve();
    log.info(`${dns.size} names of the mesh are known from before, until istiod says more`);
  }

  /** Resolves when there are any. */
  get known(): Promise<void> {
    return this.#known.promise;
  }

  /** Asks istiod on a stream of its own. */
  ask(): void {
    clearTimeout(this.#timer);
    this.#stream ??= controlPlaneStream({
      ...this.#options,
      typeUrls: [NAME_TABLE_TYPE],
      onResponse: ({ typeUrl, resources }) =>
        typeUrl === NAME_TABLE_TYPE ? this.take(resources) : `nobody asked for ${typeUrl}`,
    });
  }

  /** Asks so unless somebody else does within a while. */
  askLater(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.ask(), ENVOY_WITHIN);
    this.#timer.unref();
  }

  /** Somebody else does. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#stream?.stop();
    this.#stream = undefined;
  }

  /** Resolves when what was saved is on disk, or has failed. */
  flush(): Promise<void> {
    return this.#options.file.flush();
  }

  /** @param resources of a response; none say nothing. @returns why it is refused; undefined: it is taken */
  take([first]: readonly PackedMessage[]): string | undefined {
    if (first === undefined) return undefined;
    const { dns, file } = this.#options;
    let table: JsonObject;
    try {
      table = decodeMessage(messageName(NAME_TABLE_TYPE), first.value);
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
    dns.take(table);
    file.save(table);
    this.#known.resolve();
    return undefined;
  }
}
