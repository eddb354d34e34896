import { isJsonObject, type JsonValue } from '../base/json.ts';
import type { StoredVip, VipStorage } from '../config/vip-storage.ts';
import { StateFile, type StateFileOptions } from '../process/state-file.ts';

/**
 * Allocated addresses in one file, `{"hosts": {"namespace/host": "240.240.1.2"}, "gone": {}}`. Without the file, addresses come
 * from the hosts' names, and most are the same.
 */
export class VipFile implements VipStorage {
  readonly #file: StateFile;

  constructor(options: Pick<StateFileOptions, 'directory' | 'log'>) {
    this.#file = new StateFile({ ...options, name: 'vips.json', what: 'allocated addresses' });
  }

  load(): readonly StoredVip[] {
    return this.#file.load(({ hosts, gone }) => [...vipsIn(hosts, false), ...vipsIn(gone, true)]) ?? [];
  }

  save(vips: () => readonly StoredVip[]): void {
    this.#file.save(() => partsOf(vips()));
  }

  /** Resolves when all that was saved is on disk, or has failed. Never rejects. */
  async flush(): Promise<void> {
    await this.#file.flush();
  }
}

function vipsIn(part: JsonValue | undefined, reserved: boolean): readonly StoredVip[] {
  return Object.entries(isJsonObject(part ?? null) ? (part as object) : {}).flatMap(([host, address]) =>
    typeof address === 'string' ? [{ host, address, reserved }] : [],
  );
}

function partsOf(vips: readonly StoredVip[]): object {
  const part = (reserved: boolean) =>
    Object.fromEntries(vips.filter((vip) => vip.reserved === reserved).map(({ host, address }) => [host, address]));
  return { hosts: part(false), gone: part(true) };
}
