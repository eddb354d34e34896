import { isIpv6 } from '../../base/address.ts';
import type { CaptureSettings } from './capture-settings.ts';

export type Family = 4 | 6;

/** Rules of one table, each as iptables-save prints it: `-A CHAIN …`. */
export interface Table {
  readonly name: 'nat' | 'raw';
  /** Chains that are made for the rules. */
  readonly chains: readonly string[];
  readonly rules: readonly string[];
}

const INBOUND = 'ISTIO_INBOUND';
const REDIRECT = 'ISTIO_REDIRECT';
const IN_REDIRECT = 'ISTIO_IN_REDIRECT';
const OUTPUT = 'ISTIO_OUTPUT';
const OUTPUT_DNS = 'ISTIO_OUTPUT_DNS';
/** Of HBONE, which no sidecar captures. */
const TUNNEL_PORT = '15008';

/** Every chain of Istio's begins so. */
export const CHAIN_PREFIX = 'ISTIO_';

/**
 * The rules by which traffic comes to the proxy, for one family of addresses.
 * @see istio/istio tools/istio-iptables/pkg/capture/run.go
 */
export function captureTables(settings: CaptureSettings, family: Family): readonly Table[] {
  const nat: Table = {
    name: 'nat',
    chains: [INBOUND, IN_REDIRECT, OUTPUT, ...(settings.dns === undefined ? [] : [OUTPUT_DNS]), REDIRECT],
    rules: [
      ...inboundRules(settings),
      '-A OUTPUT -j ISTIO_OUTPUT',
      ...outboundRules(settings, family),
      `-A ${IN_REDIRECT} -p tcp -j REDIRECT --to-ports ${settings.inboundPort}`,
      `-A ${REDIRECT} -p tcp -j REDIRECT --to-ports ${settings.outboundPort}`,
    ],
  };
  return settings.dns === undefined ? [nat] : [nat, connectionZones(settings, family)];
}

function inboundRules({ inboundPorts, inboundPortsExcluded, interfacesExcluded }: CaptureSettings): readonly string[] {
  if (inboundPorts !== '*' && inboundPorts.length === 0) return [];
  const left = interfacesExcluded.map((name) => `-A ${INBOUND} -i ${name} -j RETURN`);
  const tunnel = `-A ${INBOUND} -p tcp -m tcp --dport ${TUNNEL_PORT} -j RETURN`;
  const jump = `-A PREROUTING -p tcp -j ${INBOUND}`;
  if (inboundPorts !== '*')
    return [
      jump,
      ...left,
      tunnel,
      ...inboundPorts.map((port) => `-A ${INBOUND} -p tcp -m tcp --dport ${port} -j ${IN_REDIRECT}`),
    ];
  const excluded = inboundPortsExcluded.map((port) => `-A ${INBOUND} -p tcp -m tcp --dport ${port} -j RETURN`);
  return [jump, ...left, tunnel, ...excluded, `-A ${INBOUND} -p tcp -j ${IN_REDIRECT}`];
}

function outboundRules(settings: CaptureSettings, family: Family): readonly string[] {
  const { outbound, outboundExcluded, outboundPorts, outboundPortsExcluded, dns } = settings;
  const [loopback, passthrough] = family === 4 ? ['127.0.0.1/32', '127.0.0.6/32'] : ['::1/128', '::6/128'];
  const rule = (text: string): string => `-A ${OUTPUT} ${text}`;
  const ofFamily = (blocks: readonly string[]) => blocks.filter((block) => isOf(block, family));
  const redirectsLoopback = outbound !== '*' && outbound.some((block) => /^(127\.|::1\/)/.test(block));
  const ofProxy = (owner: string): readonly string[] => [
    // What the workload sends to itself by way of a service comes in by the proxy, as from others.
    rule(`! -d ${loopback} -o lo -p tcp ${toSelf(dns !== undefined)} -m owner ${owner} -j ${IN_REDIRECT}`),
    ...(redirectsLoopback
      ? []
      : [rule(`-o lo ${dns === undefined ? '' : '-p tcp -m tcp ! --dport 53 '}-m owner ! ${owner} -j RETURN`)]),
    // The proxy's own traffic does not come back to it.
    rule(`-m owner ${owner} -j RETURN`),
  ];
  return [
    ...settings.interfacesExcluded.map((name) => rule(`-o ${name} -j RETURN`)),
    ...outboundPortsExcluded.flatMap((port) => [
      rule(`-p tcp -m tcp --dport ${port} -j RETURN`),
      rule(`-p udp -m udp --dport ${port} -j RETURN`),
    ]),
    rule(`-s ${passthrough} -o lo -j RETURN`),
    ...settings.uids.flatMap((uid) => ofProxy(`--uid-owner ${uid}`)),
    ...settings.gids.flatMap((gid) => ofProxy(`--gid-owner ${gid}`)),
    ...(dns === undefined ? [] : dnsRules(dns.port, nameServers(dns.servers, family), rule)),
    rule(`-d ${loopback} -j RETURN`),
    ...ofFamily(outboundExcluded).map((block) => rule(`-d ${block} -j RETURN`)),
    ...outboundPorts.map((port) => rule(`-p tcp -m tcp --dport ${port} -j ${REDIRECT}`)),
    ...(outbound === '*'
      ? [rule(`-j ${REDIRECT}`)]
      : ofFamily(outbound).map((block) => rule(`-d ${block} -j ${REDIRECT}`))),
  ];
}

/** The port of DNS is left to the agent. */
function toSelf(isDnsCaptured: boolean): string {
  return isDnsCaptured ? `-m multiport ! --dports 53,${TUNNEL_PORT}` : `-m tcp ! --dport ${TUNNEL_PORT}`;
}

function dnsRules(port: string, servers: readonly string[], rule: (text: string) => string): readonly string[] {
  return [
    rule(`-j ${OUTPUT_DNS}`),
    ...servers.flatMap((server) => [
      `-A ${OUTPUT_DNS} -d ${server} -p tcp -m tcp --dport 53 -j REDIRECT --to-ports ${port}`,
      `-A ${OUTPUT_DNS} -d ${server} -p udp -m udp --dport 53 -j REDIRECT --to-ports ${port}`,
    ]),
  ];
}

/**
 * Questions that the agent passes on look like those of the workload to connection tracking, with the same addresses and
 * maybe the same ports: they are kept apart in zones.
 */
function connectionZones({ uids, gids, dns }: CaptureSettings, family: Family): Table {
  const servers = nameServers(dns?.servers ?? [], family);
  const owners = [...uids.map((uid) => `--uid-owner ${uid}`), ...gids.map((gid) => `--gid-owner ${gid}`)];
  return {
    name: 'raw',
    chains: [INBOUND, OUTPUT_DNS],
    rules: [
      `-A PREROUTING -j ${INBOUND}`,
      `-A OUTPUT -j ${OUTPUT_DNS}`,
      ...servers.map((server) => `-A ${INBOUND} -s ${server} -p udp -m udp --sport 53 -j CT --zone 1`),
      ...owners.flatMap((owner) => [
        `-A ${OUTPUT_DNS} -p udp -m udp --dport 53 -m owner ${owner} -j CT --zone 1`,
        `-A ${OUTPUT_DNS} -p udp -m udp --sport ${dns?.port} -m owner ${owner} -j CT --zone 2`,
      ]),
      ...servers.map((server) => `-A ${OUTPUT_DNS} -d ${server} -p udp -m udp --dport 53 -j CT --zone 2`),
    ],
  };
}

function nameServers(servers: readonly string[], family: Family): readonly string[] {
  return servers.filter((server) => isOf(server, family)).map((server) => `${server}/${family === 4 ? 32 : 128}`);
}

function isOf(block: string, family: Family): boolean {
  return isIpv6(block.split('/')[0] ?? '') === (family === 6);
}

/** Input of iptables-restore. @param before what is removed in the same step: `-D CHAIN …` and `-X CHAIN` */
export function restoreInput(tables: readonly Table[], before: (table: Table) => readonly string[] = () => []): string {
  return tables
    .map((table) => {
      const { name, chains, rules } = table;
      const made = chains.map((chain) => `:${chain} - [0:0]`);
      return [`*${name}`, ...made, ...before(table), ...rules, 'COMMIT', ''].join('\n');
    })
    .join('');
}

/** What of Istio's stands in the output of iptables-save, by table: its chains, and rules in them or that lead to them. */
export function presentTables(saved: string): ReadonlyMap<string, Pick<Table, 'chains' | 'rules'>> {
  const tables = new Map<string, { readonly chains: string[]; readonly rules: string[] }>();
  let table = { chains: [] as string[], rules: [] as string[] };
  for (const line of saved.split('\n')) {
    if (line.startsWith('*')) {
      table = { chains: [], rules: [] };
      tables.set(line.slice(1).trim(), table);
    } else if (line.startsWith(`:${CHAIN_PREFIX}`)) table.chains.push(line.slice(1).split(' ')[0] ?? '');
    else if (line.startsWith('-A ') && line.includes(` ${CHAIN_PREFIX}`)) table.rules.push(line.trim());
  }
  return tables;
}
