import type { VirtualService } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { contentVersion } from '../base/hash.ts';
import type { Hostname } from '../base/host.ts';
import type { Labels } from '../base/labels.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import { type CatchAllInput, catchAllVirtualHost } from '../envoy/routes/configuration.ts';
import { outboundDefaultRoute } from '../envoy/routes/default-route.ts';
import type { DestinationFacts } from '../envoy/routes/destination.ts';
import { httpRoutes } from '../envoy/routes/http-routes.ts';
import { matchesAll } from '../envoy/routes/match.ts';
import { type PersistentSession, sessionFilterConfig } from '../envoy/routes/stateful-session.ts';
import { MESH_GATEWAY } from '../model/virtual-service.ts';
import { encoded, encodeMessage } from '../proto/message.ts';
import type { Mesh } from './mesh.ts';

/** A virtual host as it stands in the bytes of a route configuration: a field, with its tag and length. */
export interface EncodedPart {
  readonly version: string;
  readonly field: Uint8Array;
}

/** The routes of a VirtualService for one kind of client on one port: all that they depend on beside the object itself. */
export interface RoutesSpec {
  readonly virtualService: ConfigKey;
  /** `namespace/name`; absent: the mesh's sidecars. */
  readonly gateway?: string;
  /** Clients speak TLS, which ends at the proxy. */
  readonly isTls?: boolean;
  readonly listenPort: number;
  /** Of the client; empty when no match asks for it. */
  readonly namespace: string;
  /** Of the client's labels those that matches ask for. */
  readonly labels: Labels;
  readonly proxylessGrpc: boolean;
  readonly appendXForwardedHost: boolean;
  readonly destinations: readonly (readonly [Hostname, DestinationFacts])[];
}

/** The route to a service that no VirtualService governs. */
export interface DefaultRouteSpec {
  readonly hostname: Hostname;
  readonly port: number;
  readonly hashPolicy?: envoy.config.route.v3.RouteAction.HashPolicy | undefined;
}

/** A virtual host: its names, and where its routes come from. */
export interface VirtualHostSpec {
  readonly name: string;
  readonly domains: readonly string[];
  readonly includeRequestAttemptCount: boolean;
  readonly session?: PersistentSession | undefined;
  /** Plaintext requests are sent to HTTPS. */
  readonly requiresTls?: boolean;
  /** The routes of one VirtualService after those of another, those for all requests last. */
  readonly to: { readonly routes: readonly RoutesKey[] } | { readonly service: DefaultRouteSpec };
}

/** A `RoutesSpec` as text, so that equal ones share one cell. */
export type RoutesKey = string;
/** A `VirtualHostSpec`, or the input of a catch-all one, as text: clients for which it is the same share its bytes. */
export type VirtualHostKey = string;

export function routesKey(spec: RoutesSpec): RoutesKey {
  return JSON.stringify(spec);
}

export function virtualHostKey(spec: VirtualHostSpec | { readonly catchAll: CatchAllInput }): VirtualHostKey {
  return JSON.stringify(spec);
}

/** The same virtual host for requests to whatever host. */
export function forAnyHost(key: VirtualHostKey): VirtualHostKey {
  return virtualHostKey({ ...(JSON.parse(key) as VirtualHostSpec), domains: ['*'] });
}

const ROUTE = 'envoy.config.route.v3.Route';
const MESH: ReadonlySet<string> = new Set([MESH_GATEWAY]);

function samePart(a: { readonly version: string }, b: { readonly version: string }): boolean {
  return a.version === b.version;
}

/** Virtual hosts, each translated and encoded on its own, once for all configurations that hold it. */
export function deriveVirtualHosts(graph: Graph, mesh: Mesh): Derived<VirtualHostKey, EncodedPart> {
  interface EncodedRoutes {
    readonly version: string;
    readonly routes: readonly Uint8Array[];
    /** The last one is for all requests. */
    readonly endsAll: boolean;
  }
  const routes = graph.derived<RoutesKey, EncodedRoutes>(
    'virtualServiceRoutes',
    (key) => {
      const spec = JSON.parse(key) as RoutesSpec;
      const virtualService = mesh.virtualService.get(spec.virtualService);
      const made = virtualService === undefined ? [] : httpRoutes(httpRoutesInput(virtualService, spec, mesh));
      const bytes = made.map((route) => encodeMessage(ROUTE, route));
      const last = made.at(-1)?.match;
      const endsAll = last !== undefined && matchesAll(last);
      return { routes: bytes, endsAll, version: contentVersion(bytes.map(contentVersion).join()) };
    },
    { equals: samePart },
  );

  const inOrder = (keys: readonly RoutesKey[]): readonly Uint8Array[] => {
    const several = keys.map((key) => routes.get(key));
    const narrow = several.flatMap((one) => (one.endsAll ? one.routes.slice(0, -1) : one.routes));
    return [...narrow, ...several.flatMap((one) => (one.endsAll ? one.routes.slice(-1) : []))];
  };

  return graph.derived<VirtualHostKey, EncodedPart>(
    'virtualHost',
    (key) => {
      const spec = JSON.parse(key) as VirtualHostSpec | { readonly catchAll: CatchAllInput };
      if ('catchAll' in spec) return encodedPart(catchAllVirtualHost(spec.catchAll));
      const { name, domains, includeRequestAttemptCount, session, requiresTls, to } = spec;
      const filters = sessionFilterConfig(session);
      return encodedPart({
        name,
        domains,
        routes:
          'routes' in to
            ? inOrder(to.routes).map((bytes) => encoded(ROUTE, bytes))
            : [outboundDefaultRoute({ ...to.service, retry: mesh.facet('defaultHttpRetryPolicy') })],
        ...(requiresTls && { requireTls: 'ALL' as const }),
        ...(includeRequestAttemptCount && { includeRequestAttemptCount }),
        ...(filters && { typedPerFilterConfig: filters }),
      });
    },
    { equals: samePart },
  );
}

function encodedPart(virtualHost: envoy.config.route.v3.VirtualHost): EncodedPart {
  const field = encodeMessage('envoy.config.route.v3.RouteConfiguration', { virtualHosts: [virtualHost] });
  return { version: contentVersion(field), field };
}

function httpRoutesInput(
  virtualService: Config<VirtualService>,
  spec: RoutesSpec,
  mesh: Mesh,
): Parameters<typeof httpRoutes>[0] {
  const { listenPort, namespace, labels, proxylessGrpc, appendXForwardedHost, destinations, isTls = false } = spec;
  const gateways = spec.gateway === undefined ? MESH : new Set([spec.gateway]);
  return {
    virtualService,
    client: { listenPort, gateways, namespace, labels },
    destinations: new Map(destinations),
    retry: mesh.facet('defaultHttpRetryPolicy'),
    appendXForwardedHost,
    proxylessGrpc,
    isTls,
    http3: false,
  };
}
