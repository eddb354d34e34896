import type { VirtualService } from '#generated/config/specs.ts';
import { hostsOverlap } from '../../base/host.ts';
import { placeOf } from '../../config/finding.ts';
import { gatewayKey, MESH_GATEWAY } from '../virtual-service.ts';
import type { Analyzer } from './analyzer.ts';
import type { GatewayReads } from './facts.ts';

const WHY: Readonly<Record<GatewayReads, string>> = {
  http: 'they take HTTP requests: write http rules',
  tls: 'they pass TLS on unopened: write tls rules, or let a server end TLS (tls.mode SIMPLE)',
  tcp: 'they pass connections on: write tcp rules',
  nothing: 'they pass mutual TLS on to services by name, and no rule counts there',
};

/** Rules of a sort that no server of the gateways reads. */
export const GATEWAY_BLOCKS: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings({ spec, namespace }, facts) {
    const { hosts = [], gateways = [] } = spec;
    if (gateways.length === 0 || gateways.includes(MESH_GATEWAY)) return;
    const reads = new Set<GatewayReads>();
    for (const gateway of gateways) {
      for (const server of facts.serversOfGateway(gatewayKey(gateway, namespace), namespace)) {
        if (server.hosts.some((host) => hosts.some((own) => hostsOverlap(host, own)))) reads.add(server.reads);
      }
    }
    if (reads.size === 0) return;
    for (const block of ['http', 'tls', 'tcp'] as const) {
      if ((spec[block] ?? []).length === 0 || reads.has(block)) continue;
      const why = [...reads].sort().map((one) => WHY[one]);
      yield placeOf(['spec', block]).warning(
        `no server of the gateways reads ${block} rules for these hosts; ${why.join('; ')}`,
        'VM0209',
      );
    }
  },
};
