import type { envoy } from '#generated/proto/types.ts';
import { isIpv6 } from '../../base/address.ts';
import { cidrBlock } from '../../base/cidr.ts';
import type { IpFamilies } from '../../model/scope.ts';
import { pipeAddress, socketAddress } from '../address.ts';

type Address = envoy.config.core.v3.Address;
type CidrRange = envoy.config.core.v3.CidrRange;
type AdditionalAddress = envoy.config.listener.v3.AdditionalAddress;

export const UNIX_PREFIX = 'unix://';
export const WILDCARD_IPV4 = '0.0.0.0';
export const WILDCARD_IPV6 = '::';

/** Addresses of which the first stands for all: the listener is named after it, and the others are bound beside it. */
export type Addresses = readonly [primary: string, ...others: string[]];

const BY_FAMILY: Readonly<
  Record<'IPv4' | 'IPv6' | 'dual', { readonly wildcards: Addresses; readonly loopbacks: Addresses }>
> = {
  IPv4: { wildcards: [WILDCARD_IPV4], loopbacks: ['127.0.0.1'] },
  IPv6: { wildcards: [WILDCARD_IPV6], loopbacks: ['::1'] },
  dual: { wildcards: [WILDCARD_IPV4, WILDCARD_IPV6], loopbacks: ['127.0.0.1', '::1'] },
};

function familyAddresses(families: IpFamilies): (typeof BY_FAMILY)['dual'] {
  return BY_FAMILY[families === 'IPv4' || families === 'IPv6' ? families : 'dual'];
}

/** All addresses of the proxy's families. */
export function wildcards(families: IpFamilies): Addresses {
  return familyAddresses(families).wildcards;
}

export function loopbacks(families: IpFamilies): Addresses {
  return familyAddresses(families).loopbacks;
}

/** An IP and a port, or with port 0 the path of a Unix socket. */
export function listenerAddress(bind: string, port: number): Address {
  if (port !== 0) return socketAddress(bind, port);
  return pipeAddress(bind.startsWith(UNIX_PREFIX) ? bind.slice(UNIX_PREFIX.length) : bind);
}

/** @returns undefined, so that the field is absent, when there are none */
export function additionalAddresses(others: readonly string[], port: number): readonly AdditionalAddress[] | undefined {
  const bound = others.filter((bind) => bind !== '');
  return bound.length === 0 ? undefined : bound.map((bind) => ({ address: listenerAddress(bind, port) }));
}

/** @see istio/istio pilot/pkg/networking/core/gateway.go `getListenerName` */
export function listenerName(bind: string, port: number): string {
  return `${bind}_${port}`;
}

/** An IP or a CIDR block as Envoy matches it; undefined when the text is neither. */
export function cidrRange(text: string): CidrRange | undefined {
  const block = cidrBlock(text);
  return block === undefined ? undefined : { addressPrefix: block.address, prefixLen: block.prefixLength };
}

/** The first address that others can reach: neither loopback nor link-local, unspecified or multicast. */
export function globalUnicastAddress(ips: readonly string[]): string | undefined {
  return ips.find((ip) => (isIpv6(ip) ? isGlobalIpv6(ip) : isGlobalIpv4(ip)));
}

function isGlobalIpv4(ip: string): boolean {
  const [first = 0, second = 0] = ip.split('.').map(Number);
  if (ip === WILDCARD_IPV4 || ip === '255.255.255.255') return false;
  return first !== 127 && first < 224 && !(first === 169 && second === 254);
}

function isGlobalIpv6(ip: string): boolean {
  const address = cidrBlock(ip)?.address ?? '';
  return address !== '::' && address !== '::1' && !/^(fe[89ab]|ff)[0-9a-f]*:/.test(address);
}
