import type { L4MatchAttributes, TLSMatchAttributes, VirtualService } from '#generated/config/specs.ts';
import { type Hostname, hostsOverlap } from '../../base/host.ts';
import { type Labels, selects } from '../../base/labels.ts';
import type { Config, ConfigKey } from '../../config/config.ts';
import { configPath } from '../names.ts';
import type { ChainMatch } from './chain-match.ts';

/**
 * What a VirtualService says about connections, without where they go: so much decides which filter chains a listener has.
 * A route without destinations is left out by having no matches.
 */
export interface L4Routes {
  readonly key: ConfigKey;
  readonly hosts: readonly Hostname[];
  /** How resources name the object in their metadata. */
  readonly path: string;
  /** Per route of `tls`, its matches. */
  readonly tls: readonly (readonly TLSMatchAttributes[])[];
  /** Per route of `tcp`, its matches; `any` for a route that asks for nothing. */
  readonly tcp: readonly (readonly L4MatchAttributes[] | 'any')[];
}

export function l4Routes(config: Config<VirtualService>): L4Routes {
  const { key, spec } = config;
  return {
    key,
    hosts: spec.hosts ?? [],
    path: configPath(config),
    tls: (spec.tls ?? []).map(({ route, match }) => ((route ?? []).length === 0 ? [] : (match ?? []))),
    tcp: (spec.tcp ?? []).map(({ route, match = [] }) =>
      (route ?? []).length === 0 ? [] : match.length === 0 ? 'any' : match,
    ),
  };
}

/** Who asks, on which port: what can be decided of a match without a connection. */
export interface L4Client {
  readonly labels: Labels;
  readonly namespace: string;
  /** The names that a match may give to where the proxy stands; for a sidecar `mesh`. */
  readonly gateways: ReadonlySet<string>;
}

function applies(match: TLSMatchAttributes | L4MatchAttributes, client: L4Client, port: number): boolean {
  const gateways = match.gateways ?? [];
  return (
    (gateways.length === 0 || gateways.some((gateway) => client.gateways.has(gateway))) &&
    selects(match.sourceLabels, client.labels) &&
    (!match.port || match.port === port) &&
    (!match.sourceNamespace || match.sourceNamespace === client.namespace)
  );
}

/** A chain for one route: of which object, and which of its routes. */
export interface RoutedChain {
  readonly match: ChainMatch;
  readonly route: { readonly virtualService: ConfigKey; readonly block: 'tls' | 'tcp'; readonly index: number };
  /** Of the VirtualService; chains of destination subnets name no object. */
  readonly path?: string;
}

export interface RoutedChains {
  readonly chains: readonly RoutedChain[];
  /** Nothing else can reach the service on this port: it gets no chain of its own. */
  readonly complete: boolean;
}

export interface L4RoutesInput {
  readonly client: L4Client;
  /** Those of the service's host, in order of precedence. */
  readonly virtualServices: readonly L4Routes[];
  /** Of the listener; 0 for a Unix socket, on which destinations are no condition. */
  readonly port: number;
  /** Blocks of addresses that are the service's, if its listener stands for more than the service. */
  readonly destinations: readonly string[];
}

export function routesOfHost(hostname: Hostname, virtualServices: readonly L4Routes[]): readonly L4Routes[] {
  return virtualServices.filter(({ hosts }) => hosts.some((host) => hostsOverlap(host, hostname)));
}

function destinationsMatch(destinations: readonly string[]): ChainMatch {
  return destinations.length > 0 ? { destinations } : {};
}

/**
 * Chains for the `tls` routes of a service. Of two matches with the same conditions the first counts; destinations that one
 * match names hold for those after it too.
 *
 * @see istio/istio pilot/pkg/networking/core/tls.go `buildSidecarOutboundTLSFilterChainOpts`
 */
export function tlsRouteChains({ client, virtualServices, port, destinations: own }: L4RoutesInput): RoutedChains {
  const seen = new Set<string>();
  const chains: RoutedChain[] = [];
  let destinations = own;
  for (const { key, path, tls } of virtualServices) {
    for (const [index, matches] of tls.entries()) {
      for (const match of matches) {
        if (!applies(match, client, port)) continue;
        const subnets = match.destinationSubnets ?? [];
        if (subnets.length > 0 && port > 0) destinations = subnets;
        const conditions = `${match.sniHosts.join(',')}|${subnets.join(',')}`;
        if (seen.has(conditions)) continue;
        seen.add(conditions);
        chains.push({
          match: { serverNames: match.sniHosts, ...destinationsMatch(destinations) },
          route: { virtualService: key, block: 'tls', index },
          path,
        });
      }
    }
  }
  return { chains, complete: chains.length > 0 };
}

function sameDestinations(a: readonly string[], b: readonly string[]): boolean {
  return [...a].sort().join() === [...b].sort().join();
}

/**
 * Chains for the `tcp` routes of a service, up to the first route that takes every connection.
 * @see istio/istio pilot/pkg/networking/core/tls.go `buildSidecarOutboundTCPFilterChainOpts`
 */
export function tcpRouteChains({ client, virtualServices, port, destinations }: L4RoutesInput): RoutedChains {
  const chains: RoutedChain[] = [];
  let complete = false;
  for (const { key, path, tcp } of virtualServices) {
    for (const [index, matches] of tcp.entries()) {
      const route = { virtualService: key, block: 'tcp', index } as const;
      const applying = matches === 'any' ? [] : matches.filter((match) => applies(match, client, port));
      const last = applying.findIndex((match) => (match.destinationSubnets ?? []).length === 0 || port === 0);
      if (matches === 'any' || last >= 0) {
        chains.push({ match: destinationsMatch(destinations), route, path });
        return { chains, complete: true };
      }
      const subnets = applying.flatMap((match) => match.destinationSubnets ?? []);
      if (subnets.length === 0) continue;
      chains.push({ match: destinationsMatch(subnets), route });
      complete ||= sameDestinations(subnets, destinations);
    }
  }
  return { chains, complete };
}
