import type { envoy } from '#generated/proto/types.ts';
import type { ExtensionHead, ExtensionPhase } from '../../model/traffic-extension.ts';
import { packed } from '../../proto/message.ts';
import type { AccessPolicies } from './access-policies.ts';
import { clusterAlpn, istioAlpn } from './alpn.ts';
import { httpCustomFilters } from './custom-authorization.ts';
import { httpForwardProxy } from './dynamic-forward-proxy.ts';
import { httpExtensions } from './extensions.ts';
import { jwtAuthnFilters } from './jwt-authn.ts';
import { inboundHttpPeerMetadata, outboundHttpPeerMetadata } from './peer-metadata.ts';
import { httpRbacFilters } from './rbac.ts';

export type HttpFilter = envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter;
type DnsCacheConfig = envoy.extensions.common.dynamic_forward_proxy.v3.DnsCacheConfig;

/** What the list of HTTP filters depends on. */
export interface HttpFiltersInput {
  readonly direction: 'inbound' | 'outbound' | 'gateway';
  /** The Envoy has Istio's own filters. */
  readonly istioExtensions: boolean;
  /** What the operator of the control plane has switched. */
  readonly switches: HttpFilterSwitches;
  /** Those that keep Istio's metrics. */
  readonly statsFilters: readonly HttpFilter[];
  /** Of the workload, or of the gateway; outbound requests are not theirs. */
  readonly access?: AccessPolicies;
  /** Modules and scripts that are for this traffic, in order. */
  readonly extensions: readonly ExtensionHead[];
  /** gRPC as browsers speak it is understood. */
  readonly grpcWeb: boolean;
  /** Servers outside of the mesh are told nothing about the workload. */
  readonly meshOnlyPeerMetadata: boolean;
  /** Answers do not show Envoy's own headers. */
  readonly suppressDebugHeaders: boolean;
  /** Caches of hosts that are resolved by the request. */
  readonly dnsCaches: readonly DnsCacheConfig[];
}

export interface HttpFilterSwitches {
  readonly metadataExchange: boolean;
  readonly metadataExchangeLabels: readonly string[];
  readonly alpn: boolean;
  readonly persistentSessions: boolean;
}

/** One place in the list; it may stay empty, or hold several filters. */
export type HttpFilterOf = (input: HttpFiltersInput) => readonly HttpFilter[];

/** First of all, so that a refused request has a known peer too. */
const peerMetadata: HttpFilterOf = ({ direction, istioExtensions, switches, meshOnlyPeerMetadata }) => {
  if (!istioExtensions || !switches.metadataExchange) return [];
  const labels = switches.metadataExchangeLabels;
  return [
    direction === 'inbound' ? inboundHttpPeerMetadata(labels) : outboundHttpPeerMetadata(labels, meshOnlyPeerMetadata),
  ];
};

const customAuthorization: HttpFilterOf = ({ access }) => (access ? httpCustomFilters(access.custom) : []);

const extensionsOf =
  (phase: ExtensionPhase): HttpFilterOf =>
  ({ extensions }) =>
    httpExtensions(extensions, phase);

/** Routes of a gateway may look at claims. */
const tokens: HttpFilterOf = ({ direction, access }) =>
  access ? jwtAuthnFilters(access.tokens, direction === 'gateway') : [];

const authorization: HttpFilterOf = ({ access }) => (access ? httpRbacFilters(access.authorization) : []);

const GRPC_WEB: HttpFilter = {
  name: 'envoy.filters.http.grpc_web',
  typedConfig: packed('envoy.extensions.filters.http.grpc_web.v3.GrpcWeb', {}),
};
const grpcWeb: HttpFilterOf = ({ grpcWeb: wanted }) => (wanted ? [GRPC_WEB] : []);

const GRPC_STATS: HttpFilter = {
  name: 'envoy.filters.http.grpc_stats',
  typedConfig: packed('envoy.extensions.filters.http.grpc_stats.v3.FilterConfig', {
    emitFilterState: true,
    statsForAllMethods: false,
  }),
};
const grpcStats: HttpFilterOf = () => [GRPC_STATS];

const alpn: HttpFilterOf = ({ direction, istioExtensions, switches }) => {
  if (direction === 'inbound' || !switches.alpn) return [];
  return [istioExtensions ? istioAlpn : clusterAlpn];
};

/** These two do what a route says; without a route that asks for them they do nothing. */
const FAULT: HttpFilter = {
  name: 'envoy.filters.http.fault',
  typedConfig: packed('envoy.extensions.filters.http.fault.v3.HTTPFault', {}),
};
const fault: HttpFilterOf = () => [FAULT];

const CORS: HttpFilter = {
  name: 'envoy.filters.http.cors',
  typedConfig: packed('envoy.extensions.filters.http.cors.v3.Cors', {}),
};
const cors: HttpFilterOf = () => [CORS];

const stats: HttpFilterOf = ({ statsFilters }) => statsFilters;

const STATEFUL_SESSION: HttpFilter = {
  name: 'envoy.filters.http.stateful_session',
  typedConfig: packed('envoy.extensions.filters.http.stateful_session.v3.StatefulSession', {}),
};
const statefulSession: HttpFilterOf = ({ direction, switches }) =>
  direction !== 'inbound' && switches.persistentSessions ? [STATEFUL_SESSION] : [];

const forwardProxy: HttpFilterOf = ({ dnsCaches }) => dnsCaches.map(httpForwardProxy);

const router: HttpFilterOf = ({ suppressDebugHeaders }) => [
  {
    name: 'envoy.filters.http.router',
    typedConfig: packed(
      'envoy.extensions.filters.http.router.v3.Router',
      suppressDebugHeaders ? { suppressEnvoyHeaders: true } : {},
    ),
  },
];

/** HTTP filters in the order in which a request meets them. The order is this list and nothing else; `router` ends it. */
export const HTTP_FILTERS: readonly HttpFilterOf[] = [
  peerMetadata,
  customAuthorization,
  extensionsOf('AUTHN'),
  tokens,
  extensionsOf('AUTHZ'),
  authorization,
  extensionsOf('STATS'),
  extensionsOf('UNSPECIFIED'),
  grpcWeb,
  grpcStats,
  alpn,
  fault,
  cors,
  stats,
  statefulSession,
  forwardProxy,
  router,
];

export function httpFilters(input: HttpFiltersInput): readonly HttpFilter[] {
  return HTTP_FILTERS.flatMap((filter) => filter(input));
}
