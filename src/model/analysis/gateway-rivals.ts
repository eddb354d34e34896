import type { Server } from '#generated/config/specs.ts';
import type { Hostname } from '../../base/host.ts';
import { append } from '../../base/multimap.ts';
import type { ConfigKey } from '../../config/config.ts';
import { type GatewayOfProxy, mergeGateways } from '../merged-gateway.ts';
import { hostOfServer } from '../merged-gateway-server.ts';
import { isHttp, parseProtocol } from '../protocol.ts';
import type { GatewayRival, ObjectName } from './facts.ts';
import { objectName } from './names.ts';

/** An HTTP server that has a host in common with others. */
interface Sharer {
  readonly key: ConfigKey;
  readonly name: ObjectName;
  readonly server: number;
  readonly host: Hostname;
}

/**
 * What Gateways that are for the same proxies have in common, by Gateway: hosts of plaintext HTTP servers, for which the rules
 * of all of them hold, and what only the first of them can have.
 *
 * @param gateways in order of precedence; ports stand for themselves
 */
export function gatewayRivals(gateways: readonly GatewayOfProxy[]): ReadonlyMap<ConfigKey, readonly GatewayRival[]> {
  const found = new Map<ConfigKey, GatewayRival[]>();
  const byKey = new Map(gateways.map(({ gateway }) => [gateway.key, gateway]));
  const byName = new Map(gateways.map(({ gateway }) => [objectName(gateway), gateway]));
  for (const { gateway: key, server, hosts, by } of mergeGateways(gateways, 'widest').conflicts) {
    const [later, first] = [byKey.get(key), byName.get(by)];
    const wanted = later?.spec.servers?.[server];
    if (later === undefined || first === undefined || wanted === undefined) continue;
    const common = serversWith(hosts ?? wanted.hosts, wanted, first);
    const all = hosts ?? [...new Set(common.flatMap((one) => one.hosts))];
    append(found, key, { server, hosts: all, gateways: [by], outcome: hosts === undefined ? 'barred' : 'left-out' });
    if (first === later) continue;
    for (const one of common) append(found, first.key, { ...one, gateways: [objectName(later)], outcome: 'first' });
  }
  for (const sharers of httpSharers(gateways)) {
    const names = [...new Set(sharers.map(({ name }) => name))];
    if (names.length < 2) continue;
    for (const { key, server, host } of sharers) {
      append(found, key, { server, hosts: [host], gateways: names, outcome: 'joined' });
    }
  }
  return found;
}

/** Servers of a Gateway at the same place as a server that have some of these hosts, with those. */
function serversWith(
  hosts: readonly Hostname[],
  { port, bind = '' }: Server,
  { spec }: GatewayOfProxy['gateway'],
): readonly { readonly server: number; readonly hosts: readonly Hostname[] }[] {
  return [...(spec.servers ?? []).entries()].flatMap(([server, own]) => {
    if (own.port.number !== port.number || (own.bind ?? '') !== bind) return [];
    const names = own.hosts.map(hostOfServer);
    const common = hosts.filter((host) => names.includes(hostOfServer(host)));
    return common.length === 0 ? [] : [{ server, hosts: common }];
  });
}

function httpSharers(gateways: readonly GatewayOfProxy[]): Iterable<readonly Sharer[]> {
  const byPlace = new Map<string, Sharer[]>();
  for (const { gateway } of gateways) {
    for (const [server, { port, bind = '', hosts }] of (gateway.spec.servers ?? []).entries()) {
      if (!isHttp(parseProtocol(port.protocol))) continue;
      for (const host of new Set(hosts)) {
        append(byPlace, `${port.number} ${bind} ${host}`, {
          key: gateway.key,
          name: objectName(gateway),
          server,
          host,
        });
      }
    }
  }
  return byPlace.values();
}

/** `port 443`, or the address with it. */
export function placeText({ port, bind = '' }: Server): string {
  return bind === '' ? `port ${port.number}` : `${bind} port ${port.number}`;
}
