import type { ServiceEntry } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import type { Hostname } from '../base/host.ts';
import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { VipStorage } from '../config/vip-storage.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import type { AutoAddress } from '../model/service.ts';
import { type AddressAllocation, hostsToAllocate, ownVipNumbers, statusAddresses } from '../model/vip.ts';
import { type VipNumber, vipV4, vipV6 } from '../model/vip-address.ts';
import { allocatedVips, NO_VIPS, restoredVips, storedVips, type VipTable } from '../model/vip-table.ts';
import type { Configuration } from './configuration.ts';
import { type NamespacedHost, ONE } from './mesh.ts';

export interface Vips {
  /** The address that is allocated automatically to a host of a ServiceEntry; undefined where it needs none. */
  autoAddress(config: Config<ServiceEntry>, hostname: Hostname): AutoAddress | undefined;
  /** Who has which address now. */
  readonly table: Derived<'', VipTable>;
  /**
   * Takes up the addresses that an earlier process gave, and from then on holds and keeps those that are given. To be called
   * when all configuration is read: hosts that are not there count as gone.
   *
   * @returns ends it
   */
  hold(storage: VipStorage): () => void;
}

/**
 * Addresses for hosts without any. Those that were given before are an input, so that who has one keeps it whatever else comes
 * and goes; the table with what is new is derived from it and takes its place after each change.
 */
export function deriveVips(graph: Graph, configuration: Configuration, allocation: AddressAllocation): Vips {
  const { configs } = configuration;
  const given = graph.input<'', VipTable>('givenVips');
  /** The same by host, so that who has an address does not look at the table, which changes whenever a host comes or goes. */
  const givenTo = graph.input<NamespacedHost, VipNumber>('givenVip');
  const entryOf = (config: Config): Config<ServiceEntry> | undefined =>
    config.kind === 'ServiceEntry' ? (config as Config<ServiceEntry>) : undefined;
  const allocating = configs.index<''>('allocatesVips', (config) => {
    const entry = entryOf(config);
    return entry !== undefined && hostsToAllocate(entry, allocation).length > 0 ? [ONE] : [];
  });
  const using = configs.index<''>('usesVips', (config) => {
    const entry = entryOf(config);
    return entry !== undefined && ownVipNumbers(entry).length > 0 ? [ONE] : [];
  });
  const hostsOf = graph.derived<ConfigKey, readonly NamespacedHost[]>(
    'vipHosts',
    (key) => {
      const entry = configuration.config<ServiceEntry>(key);
      return entry === undefined ? [] : hostsToAllocate(entry, allocation).map((host) => `${entry.namespace}/${host}`);
    },
    { equals: sameItems },
  );
  const wanted = graph.derived<'', readonly NamespacedHost[]>(
    'wantedVips',
    () => [...new Set(allocating.get(ONE).flatMap((key) => hostsOf.get(key)))].sort(compareStrings),
    { equals: sameItems },
  );
  const taken = graph.derived<'', readonly VipNumber[]>(
    'takenVips',
    () => using.get(ONE).flatMap((key) => ownVipNumbers(configs.get(key) as Config<ServiceEntry>)),
    { equals: sameItems },
  );
  const table = graph.derived<'', VipTable>('vips', () =>
    allocatedVips(given.get(ONE) ?? NO_VIPS, wanted.get(ONE), new Set(taken.get(ONE))),
  );
  const allocated = graph.derived<NamespacedHost, AutoAddress | undefined>(
    'vip',
    (host) => {
      const number = givenTo.get(host) ?? table.get(ONE).numbers.get(host);
      return number === undefined ? undefined : { v4: vipV4(number), v6: vipV6(number) };
    },
    { equals: deepEqual },
  );
  return {
    table,
    autoAddress: (config, hostname) => {
      const fromStatus = allocation === 'table-only' ? undefined : statusAddresses(config).get(hostname);
      if (fromStatus !== undefined) return fromStatus;
      if (!hostsToAllocate(config, allocation).includes(hostname)) return undefined;
      return allocated.get(`${config.namespace}/${hostname}`);
    },
    hold: (storage) => {
      // What is kept is not to be given up by a process that gives nothing.
      if (allocation === 'status-only') return () => undefined;
      let before = NO_VIPS;
      const give = (now: VipTable): void =>
        graph.batch(() => {
          given.set(ONE, now);
          for (const host of before.numbers.keys()) if (!now.numbers.has(host)) givenTo.set(host, undefined);
          for (const [host, number] of now.numbers) {
            if (before.numbers.get(host) !== number) givenTo.set(host, number);
          }
          before = now;
        });
      const keep = (now: VipTable): void => {
        give(now);
        storage.save(() => storedVips(now));
      };
      const restored = restoredVips(storage.load());
      give(restored);
      const watch = graph.watch(table, ONE, keep);
      if (watch.value !== restored) keep(watch.value);
      return () => watch.stop();
    },
  };
}
