import type { JsonObject } from '../../../src/base/json.ts';
import { normalized } from '../../parity/normalize.ts';
import { object, objects } from '../../support/json-fields.ts';
import { text, texts, valueAt } from '../fields.ts';
import { typeUrlOf } from '../types.ts';
import { firstOf, type Look } from './check-kind.ts';
import { addressesOf } from './names.ts';

/** The route that a request for a host takes: the first one of its virtual host. */
export const rdsRoute: Look = ({ node, route_config, host, assert }, world) => {
  const routes = world.node(node).client.resources(typeUrlOf('RDS')).get(text(route_config));
  if (routes === undefined) return `there is no route configuration ${text(route_config)}`;
  const wanted = text(host);
  const virtualHost = objects(routes['virtualHosts']).find((one) => texts(one['domains']).includes(wanted));
  const route = objects(virtualHost?.['routes']).at(0);
  if (route === undefined) return `no virtual host has the domain ${wanted}`;
  return firstOf(
    Object.entries(assert).map(([name, value]) => {
      const found = valueAt(route, `route.${name}`);
      if (normalized(found) === normalized(value)) return undefined;
      return `${name} of ${wanted} is ${JSON.stringify(found)}, not ${JSON.stringify(value)}`;
    }),
  );
};

/** The cluster that a connection to an address, or to that of a name, and a port is sent to. */
export const ldsRoute: Look = ({ node, assert }, world) => {
  const listeners = [...world.node(node).client.resources(typeUrlOf('LDS')).values()];
  const [vip = ''] = addressesOf(world, node, text(assert['vip_of']));
  const found = tcpCluster(listeners, text(assert['dst'] ?? vip), Number(assert['port']));
  return found === assert['cluster']
    ? undefined
    : `it goes to ${found ?? 'no cluster'}, not ${text(assert['cluster'])}`;
};

function tcpCluster(listeners: readonly JsonObject[], destination: string, port: number): string | undefined {
  const at = (address: string) =>
    listeners.find((listener) => {
      const socket = object(valueAt(listener, 'address.socketAddress'));
      return socket['address'] === address && socket['portValue'] === port;
    });
  const listener = at(destination) ?? at('0.0.0.0');
  const chains = objects(listener?.['filterChains']).map((chain) => ({ chain, bits: matchedBits(chain, destination) }));
  const best = chains.filter(({ bits }) => bits >= 0).sort((a, b) => b.bits - a.bits)[0]?.chain;
  const chain = best ?? object(listener?.['defaultFilterChain']);
  const cluster = objects(chain['filters']).map((filter) => valueAt(filter, 'typedConfig.cluster'));
  return cluster.find((one) => typeof one === 'string') as string | undefined;
}

/** How many leading bits of the address a chain asks for; 0: none, -1: it asks for others. */
function matchedBits(chain: JsonObject, destination: string): number {
  const ranges = objects(valueAt(chain, 'filterChainMatch.prefixRanges'));
  if (ranges.length === 0) return 0;
  const bits = ranges.map(({ addressPrefix, prefixLen }) => {
    const length = Number(prefixLen ?? 0);
    const shift = 32 - length;
    const masked = (address: string) => (length === 0 ? 0 : number(address) >>> shift);
    return masked(text(addressPrefix)) === masked(destination) ? length : -1;
  });
  return Math.max(...bits);
}

function number(address: string): number {
  return address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
}
