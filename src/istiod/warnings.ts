import { isLoopback, parseAddress } from '../base/host-port.ts';

const OPEN: Readonly<Record<string, string>> = {
  grpc: 'is plaintext: anyone who reaches it reads the configuration of the mesh, and may say to be any proxy',
  http: 'asks nobody who they are: anyone who reaches it reads the configuration of the mesh',
  monitoring: 'asks nobody who they are: anyone who reaches it reads the configuration of the mesh',
};

/** One line for each address beyond loopback that is not protected. */
export function openToOthers(listening: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(listening).flatMap(([option, address]) => {
    const host = parseAddress(address)?.host;
    const why = OPEN[option];
    return host === undefined || isLoopback(host) || why === undefined ? [] : [`listen.${option}, ${address}, ${why}`];
  });
}
