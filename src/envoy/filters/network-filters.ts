import type { envoy } from '#generated/proto/types.ts';
import type { ExtensionHead, ExtensionPhase } from '../../model/traffic-extension.ts';
import type { AccessPolicies } from './access-policies.ts';
import { tcpCustomFilters } from './custom-authorization.ts';
import { tlsForwardProxy } from './dynamic-forward-proxy.ts';
import { networkExtensions } from './extensions.ts';
import { networkPeerMetadata } from './peer-metadata.ts';
import { tcpRbacFilters } from './rbac.ts';
import type { NetworkFilter } from './tcp-proxy.ts';

type DnsCacheConfig = envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig;

/** What the list of network filters before the last ones depends on. */
export interface NetworkFiltersInput {
  /** The labels that peers are told of beside the usual ones; absent where peers tell each other nothing. */
  readonly peerMetadata?: { readonly labels: readonly string[] };
  /** Policies of the workload that can be enforced on connections; a chain that speaks HTTP enforces them on requests. */
  readonly access?: AccessPolicies;
  /** Modules that are for this traffic, in order. */
  readonly extensions?: readonly ExtensionHead[];
  /** Those that keep Istio's metrics; a chain that speaks HTTP keeps them of requests. */
  readonly statsFilters?: readonly NetworkFilter[];
  /** A host that is resolved by the server name that a client asks for, and its port. */
  readonly dynamicHost?: { readonly cache: DnsCacheConfig; readonly port: number };
  /** What ends the chain. */
  readonly terminal: readonly NetworkFilter[];
}

/** One place in the list; it may stay empty, or hold several filters. */
type NetworkFilterOf = (input: NetworkFiltersInput) => readonly NetworkFilter[];

/** First of all, so that a refused connection has a known peer too. */
const peerMetadata: NetworkFilterOf = ({ peerMetadata: told }) =>
  told === undefined ? [] : [networkPeerMetadata(told.labels)];

const customAuthorization: NetworkFilterOf = ({ access }) => (access ? tcpCustomFilters(access.custom) : []);

const extensionsOf =
  (phase: ExtensionPhase): NetworkFilterOf =>
  ({ extensions = [] }) =>
    networkExtensions(extensions, phase);

const authorization: NetworkFilterOf = ({ access }) => (access ? tcpRbacFilters(access.authorization) : []);

const stats: NetworkFilterOf = ({ statsFilters = [] }) => statsFilters;

const forwardProxy: NetworkFilterOf = ({ dynamicHost }) =>
  dynamicHost === undefined ? [] : [tlsForwardProxy(dynamicHost.cache, dynamicHost.port)];

const terminal: NetworkFilterOf = (input) => input.terminal;

/** Network filters in the order in which a connection meets them. The order is this list and nothing else. */
const NETWORK_FILTERS: readonly NetworkFilterOf[] = [
  peerMetadata,
  customAuthorization,
  extensionsOf('AUTHN'),
  extensionsOf('AUTHZ'),
  authorization,
  extensionsOf('STATS'),
  extensionsOf('UNSPECIFIED'),
  stats,
  forwardProxy,
  terminal,
];

export function networkFilters(input: NetworkFiltersInput): readonly NetworkFilter[] {
  return NETWORK_FILTERS.flatMap((filter) => filter(input));
}
