import type { envoy } from '#generated/proto/types.ts';
import { cidrBlock, networkText } from '../../base/cidr.ts';
import { sameItems } from '../../base/equal.ts';
import { cidrRange, WILDCARD_IPV4 } from './addresses.ts';

type FilterChainMatch = envoy.config.listener.v3.FilterChainMatch;

export const TLS_TRANSPORT = 'tls';
export const PLAINTEXT_TRANSPORT = 'raw_buffer';

/** Which connections an outbound filter chain takes. Absent and empty mean all. */
export interface ChainMatch {
  readonly serverNames?: readonly string[];
  /** IPs and CIDR blocks. */
  readonly destinations?: readonly string[];
  readonly applicationProtocols?: readonly string[];
  readonly transportProtocol?: typeof TLS_TRANSPORT | typeof PLAINTEXT_TRANSPORT;
}

const ANY_NAME = '*';

/** Names to match; `*` among them means that none is asked for. */
function serverNames({ serverNames: names = [] }: ChainMatch): readonly string[] {
  return names.includes(ANY_NAME) ? [] : names;
}

/** Such a chain is the listener's default chain. */
export function matchesAll(match: ChainMatch): boolean {
  return (
    serverNames(match).length === 0 &&
    (match.destinations ?? []).length === 0 &&
    (match.applicationProtocols ?? []).length === 0 &&
    match.transportProtocol === undefined
  );
}

/**
 * The match in Envoy's form; undefined for a chain that takes all.
 * @see istio/istio pilot/pkg/networking/core/listener.go `toFilterChainMatch`
 */
export function filterChainMatch(match: ChainMatch): FilterChainMatch | undefined {
  if (matchesAll(match)) return undefined;
  const names = [...serverNames(match)].sort();
  const prefixRanges = [...(match.destinations ?? [])]
    .sort()
    .flatMap((destination) => cidrRange(destination) ?? [])
    .filter(({ addressPrefix }) => addressPrefix !== WILDCARD_IPV4);
  return {
    ...(match.applicationProtocols ? { applicationProtocols: match.applicationProtocols } : {}),
    ...(match.transportProtocol ? { transportProtocol: match.transportProtocol } : {}),
    ...(names.length > 0 ? { serverNames: names } : {}),
    ...(prefixRanges.length > 0 ? { prefixRanges } : {}),
  };
}

/** Destinations in one form: `10.1.2.3/8` and `10.0.0.0/8` are the same block, and `0.0.0.0/n` is no condition. */
function networks({ destinations = [] }: ChainMatch): readonly string[] {
  const blocks = destinations.flatMap((destination) => cidrBlock(destination) ?? []);
  return [...new Set(blocks.filter(({ address }) => address !== WILDCARD_IPV4).map(networkText))].sort();
}

/**
 * Whether Envoy would find two chains with the same match in one listener, and refuse it.
 * @see istio/istio pilot/pkg/networking/core/listener.go `conflictsWith`
 */
export function sameMatch(a: ChainMatch, b: ChainMatch): boolean {
  const names = (match: ChainMatch) =>
    [...new Set((match.serverNames ?? []).filter((name) => name !== ANY_NAME))].sort();
  return (
    a.transportProtocol === b.transportProtocol &&
    sameItems(a.applicationProtocols ?? [], b.applicationProtocols ?? []) &&
    sameItems(names(a), names(b)) &&
    sameItems(networks(a), networks(b))
  );
}
