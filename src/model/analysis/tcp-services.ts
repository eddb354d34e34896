import type { ServiceEntry } from '#generated/config/specs.ts';
import { placeOf } from '../../config/finding.ts';
import { isTcp, isTls, parseProtocol } from '../protocol.ts';
import { mayHaveAddresses } from '../vip.ts';
import type { Analyzer } from './analyzer.ts';
import { listed } from './names.ts';

/** Ports on which a destination is known by its address alone, as neither a host name nor an SNI is seen. */
export function addressedPorts({ ports = [] }: ServiceEntry): readonly number[] {
  return ports
    .filter(({ protocol = '' }) => isTcp(parseProtocol(protocol)) && !isTls(parseProtocol(protocol)))
    .map(({ number }) => number);
}

/** Ports of a ServiceEntry that Istio wants addresses for, and that it has none for. */
export function portsWithoutAddress({ addresses, ports = [] }: ServiceEntry): readonly number[] {
  if (addresses !== undefined) return [];
  return ports.filter(({ protocol = '' }) => /^(tcp)?$/i.test(protocol)).map(({ number }) => number);
}

/**
 * TCP services without addresses: those of one port share a listener for all destinations, which leads to one of them.
 *
 * @see istio/istio pkg/config/analysis/analyzers/serviceentry/protocoladdresses.go
 */
export const TCP_WITHOUT_ADDRESS: Analyzer<ServiceEntry> = {
  kinds: ['ServiceEntry'],
  *findings(config, facts) {
    const allocated = config.status?.['addresses'];
    if (Array.isArray(allocated) && allocated.length > 0) return;
    const wanted = portsWithoutAddress(config.spec);
    if (wanted.length === 0 || (facts.allocatesAddresses() && mayHaveAddresses(config))) return;
    for (const [i, { number }] of (config.spec.ports ?? []).entries()) {
      if (!wanted.includes(number)) continue;
      const names = facts.tcpWithoutAddress(number);
      const shared =
        names.length < 2
          ? `it takes every connection to port ${number}`
          : `ServiceEntries ${listed(names)} share port ${number}, and one of them gets all connections`;
      yield placeOf(['spec', 'ports', i]).warning(
        `a TCP service without addresses can not be told from others: ${shared}; give it addresses`,
        'IST0134',
      );
    }
  },
};

/** Blocks of addresses of different services that have some in common. */
export const OVERLAPPING_ADDRESSES: Analyzer<ServiceEntry> = {
  kinds: ['ServiceEntry'],
  *findings({ key, spec }, facts) {
    for (const [i, address] of (spec.addresses ?? []).entries()) {
      for (const port of addressedPorts(spec)) {
        const others = facts.overlapping(key, address, port);
        if (others.length === 0) continue;
        const blocks = listed(others.map((other) => `${other.address} of ServiceEntry ${other.name}`));
        const outcome = 'connections to what they have in common go to the narrower one, or else to one of them';
        yield placeOf(['spec', 'addresses', i]).warning(
          `"${address}" overlaps with ${blocks} on TCP port ${port}: ${outcome}`,
          'VM0204',
        );
      }
    }
  },
};
