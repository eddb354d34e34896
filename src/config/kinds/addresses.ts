import { isIpAddress, parseCidr } from '../../base/address.ts';
import { hostProblem } from './names.ts';

const UNIX = 'unix://';

/** Why the path of a Unix socket is wrong; undefined when it is right, or no Unix socket is meant. */
export function unixAddressProblem(address: string): string | undefined {
  if (!address.startsWith(UNIX)) return undefined;
  const path = address.slice(UNIX.length);
  if (path.startsWith('@') || (path.startsWith('/') && !path.endsWith('/'))) return undefined;
  return `"${address}" must name a file by its absolute path, or an abstract socket as "unix://@name"`;
}

export function isUnixAddress(address: string): boolean {
  return address.startsWith(UNIX);
}

export function ipProblem(address: string): string | undefined {
  return isIpAddress(address) ? undefined : `"${address}" is not an IP address`;
}

/** Why a text is neither an IP address nor a block in CIDR notation. */
export function subnetProblem(subnet: string): string | undefined {
  if (parseCidr(subnet) !== undefined) return undefined;
  return subnet.includes('/')
    ? `"${subnet}" is not a block of addresses: write "10.0.0.0/8" or "2001:db8::/32"`
    : `"${subnet}" is not an IP address`;
}

/** The two parts of `host:port` or `[address]:port`; undefined when the text has another form. */
export function splitHostPort(text: string): { readonly host: string; readonly port: string } | undefined {
  const parts = /^(?:\[([^\]]*)\]|([^:[\]]*)):([^:]*)$/.exec(text);
  return parts === null ? undefined : { host: parts[1] ?? parts[2] ?? '', port: parts[3] ?? '' };
}

export function portProblem(port: number): string | undefined {
  return port >= 1 && port <= 65535 ? undefined : `the port ${port} is not between 1 and 65535`;
}

/** Why a text is not the address of a server, as `host:port`. */
export function serverAddressProblem(text: string): string | undefined {
  const parts = splitHostPort(text);
  if (parts === undefined || !/^[+-]?\d+$/.test(parts.port)) return `"${text}" must have the form host:port`;
  const { host, port } = parts;
  if (hostProblem(host) !== undefined && !isIpAddress(host))
    return `"${host}" is neither a host name nor an IP address`;
  return portProblem(Number(port));
}
