import { isJsonObject, type JsonObject } from '../base/json.ts';
import { StateFile, type StateFileOptions } from '../process/state-file.ts';

const FORMAT = 1;

/**
 * The table of names that came last, in one file, `{"format": 1, "namespace": "shop", "table": {…}}`, so that an agent that is
 * started again knows the mesh while the control plane is away.
 */
export class NameTableFile {
  readonly #file: StateFile;
  readonly #namespace: string;

  /** @param namespace of this workload: what another one may see says nothing of it */
  constructor(options: Pick<StateFileOptions, 'directory' | 'log'>, namespace: string) {
    this.#file = new StateFile({ ...options, name: 'name-table.json', what: 'names of the mesh' });
    this.#namespace = namespace;
  }

  /** `istio.networking.nds.v1.NameTable` in proto JSON; undefined when there is none that can be used. */
  load(): JsonObject | undefined {
    const kept = this.#file.load((object) => {
      const { format, namespace, table } = object;
      if (typeof format !== 'number' || !isJsonObject(table ?? null)) throw new Error('it holds no table');
      return { format, namespace, table: table as JsonObject };
    });
    return kept?.format === FORMAT && kept.namespace === this.#namespace ? kept.table : undefined;
  }

  save(table: JsonObject): void {
    this.#file.save(() => ({ format: FORMAT, namespace: this.#namespace, table }));
  }

  /** Resolves when what was saved is on disk, or has failed. Never rejects. */
  async flush(): Promise<void> {
    await this.#file.flush();
  }
}
