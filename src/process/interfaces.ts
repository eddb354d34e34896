import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';

/** Addresses of this machine, of all its interfaces; none where the system does not tell, as a sandbox without netlink. */
export function interfaceAddresses(): readonly NetworkInterfaceInfo[] {
  try {
    return Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  } catch {
    return [];
  }
}
