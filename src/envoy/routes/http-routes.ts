import type { HTTPMatchRequest, HTTPRoute, VirtualService } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { Hostname } from '../../base/host.ts';
import type { Config } from '../../config/config.ts';
import { routeSemantics } from '../../model/virtual-service.ts';
import { configPath } from '../names.ts';
import { admitsClient, type RouteClient } from './client-condition.ts';
import { corsPolicy } from './cors.ts';
import { httpFault } from './fault.ts';
import { type ForwardInput, forwardAction } from './forward.ts';
import { headerChanges, joinedChanges } from './headers.ts';
import { matchesAll, routeMatch } from './match.ts';
import { directResponseAction, redirectAction } from './redirect.ts';
import { type PersistentSession, sessionFilterConfig } from './stateful-session.ts';

type Route = envoy.config.route.v3.Route;
type RouteMatch = envoy.config.route.v3.RouteMatch;

export interface HttpRoutesInput extends Omit<ForwardInput, 'semantics' | 'listenPort'> {
  /** Resolved. */
  readonly virtualService: Config<VirtualService>;
  readonly client: RouteClient;
  /** The listener ends TLS. */
  readonly isTls: boolean;
  /** Answers tell clients that HTTP/3 is served on the same port. */
  readonly http3: boolean;
}

/**
 * The HTTP routes of a VirtualService for one port and one kind of client, in order; empty when none of them is for it.
 * @see istio/istio pilot/pkg/networking/core/route/route.go `BuildHTTPRoutesForVirtualService`
 */
export function httpRoutes(input: HttpRoutesInput): readonly Route[] {
  const routes: Route[] = [];
  for (const rule of input.virtualService.spec.http ?? []) {
    const matches = rule.match !== undefined && rule.match.length > 0 ? rule.match : [undefined];
    for (const match of matches) {
      if (!admitsClient(match, input.client)) continue;
      const route = httpRoute(rule, match, input);
      if (route !== undefined) routes.push(route);
      // Nothing after it can be reached.
      if (match === undefined || (route?.match && matchesAll(route.match))) return routes;
    }
  }
  return routes;
}

/** Undefined when the route asks for something that Envoy can't do. */
function httpRoute(rule: HTTPRoute, matching: HTTPMatchRequest | undefined, input: HttpRoutesInput): Route | undefined {
  const { virtualService, client } = input;
  const { listenPort } = client;
  const semantics = routeSemantics(virtualService);
  const match = routeMatch(matching, semantics);
  const action = routeAction(rule, match, { ...input, semantics, listenPort });
  if (action === undefined) return undefined;
  const name = matching?.name ? `${rule.name ?? ''}.${matching.name}` : (rule.name ?? '');
  const { responseHeadersToAdd = [], ...changes } = joinedChanges(headerChanges(rule.headers), action.headers);
  const responseHeaders = input.http3 ? [...responseHeadersToAdd, http3Header(listenPort)] : responseHeadersToAdd;
  const filters = { ...filterConfigs(rule), ...sessionFilterConfig(routeSession(rule, input)) };
  return {
    ...(name && { name }),
    match,
    metadata: { filterMetadata: { istio: { config: configPath(virtualService) } } },
    ...(matching?.statPrefix && { statPrefix: matching.statPrefix }),
    ...changes,
    ...(responseHeaders.length > 0 && { responseHeadersToAdd: responseHeaders }),
    ...action.fields,
    decorator: { operation: operation(match, action, virtualService.name, listenPort) },
    ...(Object.keys(filters).length > 0 && { typedPerFilterConfig: filters }),
  };
}

interface Action {
  readonly fields: Pick<Route, 'route' | 'redirect' | 'directResponse'>;
  readonly headers: ReturnType<typeof headerChanges>;
}

function routeAction(rule: HTTPRoute, match: RouteMatch, input: HttpRoutesInput & ForwardInput): Action | undefined {
  if (rule.redirect) {
    const redirect = redirectAction(rule.redirect, input.listenPort, input.isTls);
    return redirect && { fields: { redirect }, headers: {} };
  }
  if (rule.directResponse)
    return { fields: { directResponse: directResponseAction(rule.directResponse) }, headers: {} };
  const { action, headers } = forwardAction(rule, match, input);
  return { fields: { route: action }, headers };
}

function filterConfigs({ fault, corsPolicy: cors }: HTTPRoute): NonNullable<Route['typedPerFilterConfig']> {
  return {
    ...(fault && {
      'envoy.filters.http.fault': {
        '@type': 'type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault',
        ...httpFault(fault),
      },
    }),
    ...(cors && {
      'envoy.filters.http.cors': {
        '@type': 'type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy',
        ...corsPolicy(cors),
      },
    }),
  };
}

/** A route has one session: the last destination's, or the first's where two of them in a row have one. */
function routeSession(rule: HTTPRoute, { destinations }: HttpRoutesInput): PersistentSession | undefined {
  if (rule.redirect || rule.directResponse) return undefined;
  const targets = rule.route ?? [];
  const counted = targets.length === 1 ? targets : targets.filter(({ weight }) => weight);
  let session: PersistentSession | undefined;
  for (const { destination } of counted) {
    const own = destinations.get(destination.host)?.session;
    if (own !== undefined && session !== undefined) break;
    session = own;
  }
  return session;
}

function http3Header(port: number): envoy.config.core.v3.HeaderValueOption {
  return { header: { key: 'alt-svc', value: `h3=":${port}"; ma=86400` } };
}

/** The name of the traced operation: the only destination, else the VirtualService, with the path. */
function operation({ prefix, path, safeRegex }: RouteMatch, { fields }: Action, name: string, port: number): string {
  const where = prefix === undefined ? (path ?? safeRegex?.regex ?? '/*') : `${prefix}*`;
  return `${hostOfCluster(fields.route?.cluster ?? '') ?? `${name}:${port}`}${where}`;
}

/** `host:port` of the name of an outbound cluster; undefined for other names. */
function hostOfCluster(cluster: string): Hostname | undefined {
  const [, port, , host, ...rest] = cluster.split('|');
  return host === undefined || rest.length > 0 ? undefined : `${host}:${port}`;
}
