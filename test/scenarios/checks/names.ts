import { cidrContains } from '../../../src/base/cidr.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { NAME_TABLE_TYPE } from '../../../src/proto/type-urls.ts';
import { object } from '../../support/json-fields.ts';
import { text, texts } from '../fields.ts';
import type { World } from '../world.ts';
import { firstOf, type Look } from './check-kind.ts';

/** The addresses that a node's table has for a name, sorted; none where it has not the name. */
export function addressesOf(world: World, node: string | undefined, host: string): readonly string[] {
  return tableOf(world, node).get(host) ?? [];
}

function tableOf(world: World, node: string | undefined): ReadonlyMap<string, readonly string[]> {
  const table = object(world.node(node).client.resources(NAME_TABLE_TYPE).get(NAME_TABLE_TYPE)?.['table']);
  return new Map(Object.entries(table).map(([host, info]) => [host, texts(object(info)['ips']).toSorted()]));
}

/** The name table as a node holds it. */
export const nds: Look = ({ node, assert, record }, world) => {
  const table = tableOf(world, node);
  if (record !== undefined && table.size > 0) world.records.set(record, JSON.stringify(Object.fromEntries(table)));
  const blocks = Object.entries(object(assert['hosts'])).map(([host, block]) => {
    const found = table.get(host) ?? [];
    const isIn = found.length > 0 && found.every((address) => cidrContains(text(block), address));
    return isIn ? undefined : `${host} has [${found}], not in ${text(block)}`;
  });
  const before = assert['same_as'] === undefined ? undefined : world.records.get(text(assert['same_as']));
  if (assert['same_as'] !== undefined && before === undefined)
    return `nothing was recorded as ${text(assert['same_as'])}`;
  const then = JSON.parse(before ?? '{}') as JsonObject;
  const moved = texts(assert['for']).map((host) => {
    const now = (table.get(host) ?? []).join();
    return now === texts(then[host]).join() ? undefined : `${host} has [${now}], and had [${texts(then[host])}]`;
  });
  return firstOf([...blocks, ...moved, assert['distinct'] === true ? shared(table) : undefined]);
};

function shared(table: ReadonlyMap<string, readonly string[]>): string | undefined {
  const owners = new Map<string, string>();
  for (const [host, addresses] of table) {
    for (const address of addresses) {
      const other = owners.get(address);
      if (other !== undefined) return `${host} and ${other} have the address ${address}`;
      owners.set(address, host);
    }
  }
  return undefined;
}
