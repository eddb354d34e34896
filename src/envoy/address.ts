import type { envoy } from '#generated/proto/types.ts';

type Address = envoy.config.core.v3.Address;

/** A TCP address. Port 0 stays in the message: there it means any port. */
export function socketAddress(address: string, port: number): Address {
  return { socketAddress: { address, portValue: port } };
}

/** The path of a Unix socket, without `unix://`. */
export function pipeAddress(path: string): Address {
  return { pipe: { path } };
}
