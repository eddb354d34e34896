import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { cidrBlock, networkText } from '../../base/cidr.ts';
import { parseAddress } from '../../base/host-port.ts';
import type { Environment } from '../../process/environment.ts';
import { parseResolvConf } from '../dns/resolv-conf.ts';
import { isTrue } from '../settings.ts';
import { valueOf } from '../variables.ts';

/** What of the traffic of a machine goes to its proxy. */
export interface CaptureSettings {
  /** Ports of the workload whose traffic is captured; `*`: all but those that are left out. */
  readonly inboundPorts: '*' | readonly string[];
  readonly inboundPortsExcluded: readonly string[];
  /** Destinations that are captured, as blocks; `*`: all but those that are left out. */
  readonly outbound: '*' | readonly string[];
  readonly outboundExcluded: readonly string[];
  readonly outboundPorts: readonly string[];
  readonly outboundPortsExcluded: readonly string[];
  /** Interfaces that are left alone. */
  readonly interfacesExcluded: readonly string[];
  readonly outboundPort: string;
  readonly inboundPort: string;
  /** Users and groups of the proxy and its agent, whose traffic is not captured; numbers. */
  readonly uids: readonly string[];
  readonly gids: readonly string[];
  /** Undefined: DNS is not captured. */
  readonly dns: DnsCapture | undefined;
}

export interface DnsCapture {
  readonly port: string;
  /** Name servers of the machine. */
  readonly servers: readonly string[];
}

/** Ports that are never captured: SSH, by which a machine is reached when all else fails, and those of the proxy itself. */
const NEVER = ['22', '15020', '15021', '15090'];
const PROXY_USER = 'istio-proxy';
const PROXY_ID = '1337';

/**
 * From variables that have been checked.
 * @param root of the working directory, whose `etc/passwd` and `etc/resolv.conf` are read
 */
export function captureSettings(root: string, env: Environment): CaptureSettings {
  const isNone = env['ISTIO_META_INTERCEPTION_MODE'] === 'NONE';
  const value = (name: string): string => valueOf(env, name);
  const inbound = isNone ? '' : value('ISTIO_INBOUND_PORTS');
  const outbound = isNone ? '' : value('ISTIO_SERVICE_CIDR');
  const own = proxyIds(root);
  return {
    inboundPorts: inbound === '*' ? '*' : items(inbound),
    inboundPortsExcluded: [...new Set([...NEVER, ...items(value('ISTIO_LOCAL_EXCLUDE_PORTS'))])],
    outbound: outbound === '*' ? '*' : items(outbound).map(block),
    outboundExcluded: items(value('ISTIO_SERVICE_EXCLUDE_CIDR')).map(block),
    outboundPorts: isNone ? [] : items(value('ISTIO_OUTBOUND_PORTS')),
    outboundPortsExcluded: items(value('ISTIO_LOCAL_OUTBOUND_PORTS_EXCLUDE')),
    interfacesExcluded: items(value('ISTIO_EXCLUDE_INTERFACES')),
    outboundPort: value('ENVOY_PORT'),
    inboundPort: value('INBOUND_CAPTURE_PORT'),
    uids: env['PROXY_UID'] ? items(env['PROXY_UID']) : [own.uid],
    gids: env['PROXY_GID'] ? items(env['PROXY_GID']) : [own.gid],
    dns: dnsCapture(root, env),
  };
}

function items(list: string): readonly string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

/** As iptables prints it. */
function block(text: string): string {
  const found = cidrBlock(text);
  return found === undefined ? text : networkText(found);
}

/** Those of Istio's user, where the machine has it. */
function proxyIds(root: string): { readonly uid: string; readonly gid: string } {
  const line = readIfThere(join(root, 'etc/passwd'))
    .split('\n')
    .find((one) => one.startsWith(`${PROXY_USER}:`));
  const [, , uid = PROXY_ID, gid = PROXY_ID] = line?.split(':') ?? [];
  return { uid, gid };
}

function dnsCapture(root: string, env: Environment): DnsCapture | undefined {
  if (!isTrue(env['ISTIO_META_DNS_CAPTURE'])) return undefined;
  const [first = ''] = items(valueOf(env, 'DNS_PROXY_ADDR'));
  const { port = 15_053 } = parseAddress(first) ?? {};
  const { servers } = parseResolvConf(readIfThere(join(root, 'etc/resolv.conf')));
  // On the port of DNS the agent is asked by itself.
  return port === 53
    ? undefined
    : {
        port: String(port),
        servers: servers.map(({ host }) => host).filter((host) => isIP(host) !== 0 && !host.includes('%')),
      };
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
