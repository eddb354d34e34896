import { isIP } from 'node:net';

/** Where a server listens. */
export interface Address {
  /** An IP without brackets, or a name. */
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
}

const NAME = /^(?!-)[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*$/;

/** `127.0.0.1:15010`, `[::1]:15010`, `localhost:15010` or `:15010` (all IPv4 addresses); undefined when `text` is none. */
export function parseAddress(text: string): Address | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^:[\]]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65535) return undefined;
  const [, ipv6, name] = match;
  if (ipv6 !== undefined) return isIP(ipv6) === 6 ? { host: ipv6, port } : undefined;
  const host = name || '0.0.0.0';
  const isDotted = /^[\d.]+$/.test(host);
  return (isDotted ? isIP(host) === 4 : NAME.test(host)) ? { host, port } : undefined;
}

/** As it is written: an IPv6 address in brackets. */
export function formatAddress({ host, port }: Address): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** What is wrong with `text` as an address, and what to write. */
export function addressProblem(text: string): string | undefined {
  if (parseAddress(text) !== undefined) return undefined;
  const port = /:(\d{1,5})$/.exec(text)?.[1];
  if (Number(port) > 65535) return `"${text}" is no address: a port is at most 65535, not ${port}`;
  const advice = /^\d{1,5}$/.test(text)
    ? `127.0.0.1:${text}, or :${text} for all addresses`
    : isIP(text) === 6
      ? `an IPv6 address in brackets, as [${text}]:15010`
      : isIP(text) === 4 || (NAME.test(text) && !/^[\d.]+$/.test(text))
        ? `a port behind it, as ${text}:15010`
        : 'host:port, as 127.0.0.1:15010, or "" to switch it off';
  return `"${text}" is no address: write ${advice}`;
}
