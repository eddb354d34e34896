import { type Address, addressProblem, formatAddress, isLoopback, parseAddress } from '../base/host-port.ts';

/** Where a control plane is. */
export type ControlPlaneAddress = { readonly socket: string } | Address;

const XDS_TLS_PORT = 15012;
const XDS_PLAINTEXT_PORT = 15010;
const HTTPS_PORT = 443;

/** `unix:` and a path, or a host with or without a port. */
export function controlPlaneAddress(text: string): {
  readonly address?: ControlPlaneAddress;
  readonly problem?: string;
} {
  if (text.startsWith('unix:')) {
    const socket = text.slice('unix:'.length).replace(/^\/\/(?=\/)/, '');
    return socket === '' ? { problem: 'write the path of the socket behind unix:' } : { address: { socket } };
  }
  if (text.includes('://')) return { problem: `write host:port, without ${text.slice(0, text.indexOf('://') + 3)}` };
  const whole = /^[^:[\]]+$/.test(text) ? `${text}:${XDS_TLS_PORT}` : text;
  const address = parseAddress(whole);
  if (address === undefined || whole.startsWith(':'))
    return { problem: addressProblem(text) ?? 'write the name of its host before the port' };
  return address.port === 0 ? { problem: 'write its port' } : { address };
}

/** As gRPC takes it. */
export function grpcTarget(address: ControlPlaneAddress): string {
  return 'socket' in address ? `unix:${address.socket}` : formatAddress(address);
}

/** Whether the connection is to be plaintext: to a socket of this machine, to the port that has it, or since it is asked for. */
export function wantsPlaintext(address: ControlPlaneAddress, isAskedFor: boolean): boolean {
  return 'socket' in address || isAskedFor || address.port === XDS_PLAINTEXT_PORT;
}

/** Whether what goes there in plaintext stays on this machine. */
export function staysHere(address: ControlPlaneAddress): boolean {
  return 'socket' in address || isLoopback(address.host);
}

/** Whether the certificate of the server is one that the roots of the operating system vouch for. */
export function hasPublicCertificate(address: ControlPlaneAddress): boolean {
  return !('socket' in address) && address.port === HTTPS_PORT;
}
