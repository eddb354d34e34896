import { isIP } from 'node:net';

export function isIpAddress(text: string): boolean {
  return isIP(text) !== 0;
}

export function isIpv6(text: string): boolean {
  return isIP(text) === 6;
}

/** An IP, or the IP before the mask of a CIDR block, and its prefix length; undefined when `text` is neither. */
export function parseCidr(text: string): { readonly address: string; readonly prefixLength: number } | undefined {
  const [address = '', length, ...rest] = text.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return undefined;
  const bits = family === 4 ? 32 : 128;
  if (length === undefined) return { address, prefixLength: bits };
  if (!/^\d{1,3}$/.test(length) || Number(length) > bits) return undefined;
  return { address, prefixLength: Number(length) };
}
