import type { HTTPRoute, TCPRoute, TLSRoute, VirtualService } from '#generated/config/specs.ts';
import { commonHosts, type Hostname } from '../../base/host.ts';
import { compareStrings } from '../../base/order.ts';
import type { Config } from '../../config/config.ts';
import { MARKS } from '../../config/marks.ts';
import { KUBERNETES_GATEWAY, madeConfig } from '../made-config.ts';
import type { Problem } from '../problem.ts';
import { tcpAtPort, tcpRules, tlsAtListener, tlsForHost, tlsInMesh, tlsRules } from './connection-rules.ts';
import { compareRules } from './matches.ts';
import { type Attachment, accepted, type ParentFacts, servesHost } from './parents.ts';
import type { BackendFacts } from './references.ts';
import { type Clients, grpcRules, httpRules, type RuleSet } from './request-rules.ts';

export type RouteFacts = BackendFacts & ParentFacts;

/** Rules of one route for requests to one host at one gateway. Those of several routes are merged. */
export interface HostRules {
  /** `gateway/host`, or `namespace[/port]/host` of clients inside the mesh: what is merged. */
  readonly mergeKey: string;
  readonly gateway: string;
  readonly host: Hostname;
  readonly rules: readonly HTTPRoute[];
  /** By which parts of equal age and namespace are ordered. */
  readonly name: string;
}

/** What a route is made into, and why not more. */
export interface ConvertedRoute {
  /** Of routes for requests. */
  readonly hostRules: readonly HostRules[];
  /** Of routes for connections, which stand for themselves. */
  readonly virtualServices: readonly Config<VirtualService>[];
  readonly problems: readonly Problem[];
}

const MESH = 'mesh';
const NOTHING: ConvertedRoute = { hostRules: [], virtualServices: [], problems: [] };

function parentsText({ kind, name, namespace }: Pick<Config, 'kind' | 'name' | 'namespace'>): string {
  return `${kind}/${name}.${namespace}`;
}

interface Rules<Rule> {
  readonly of: (clients: Clients) => readonly Rule[];
  readonly problems: readonly Problem[];
}

/** Rules for those who may come, each kind of client once. */
function rulesFor<Rule>(attachments: readonly Attachment[], convert: (clients: Clients) => RuleSet<Rule>): Rules<Rule> {
  const mesh = attachments.some(({ listener }) => listener === undefined) ? convert('mesh') : undefined;
  const gateway = attachments.some(({ listener }) => listener !== undefined) ? convert('gateway') : undefined;
  return {
    of: (clients) => (clients === 'mesh' ? mesh : gateway)?.rules ?? [],
    problems: gateway?.problems ?? mesh?.problems ?? [],
  };
}

/** Hosts of a service to which a route is attached. */
function serviceHosts({ ref }: Attachment, own: string, facts: RouteFacts): readonly Hostname[] {
  const namespace = ref.namespace ?? own;
  if (ref.kind === 'ServiceEntry') return facts.entryHosts(namespace, ref.name) ?? [];
  return [`${ref.name}.${namespace}.svc.${facts.domainSuffix}`];
}

function atPort(rules: readonly HTTPRoute[], port: number | undefined): readonly HTTPRoute[] {
  if (port === undefined) return rules;
  return rules.map((rule) => ({ ...rule, match: (rule.match ?? [{}]).map((match) => ({ ...match, port })) }));
}

/**
 * An HTTPRoute or GRPCRoute.
 * @see istio/istio pilot/pkg/config/kube/gateway/route_collections.go `HTTPRouteCollection`
 */
export function requestRoute(
  route: Config<{ readonly hostnames?: readonly Hostname[] }>,
  attachments: readonly Attachment[],
  facts: RouteFacts,
): ConvertedRoute {
  const rules = rulesFor(attachments, (clients) =>
    route.kind === 'GRPCRoute' ? grpcRules(route, clients, facts) : httpRules(route, clients, facts),
  );
  const hostRules = accepted(attachments).flatMap((attachment): readonly Omit<HostRules, 'name'>[] => {
    const { listener, ref } = attachment;
    const own = rules.of(listener === undefined ? 'mesh' : 'gateway');
    if (own.length === 0) return [];
    const port = listener === undefined ? ref.port : undefined;
    const hosts =
      listener === undefined ? serviceHosts(attachment, route.namespace, facts) : (route.spec.hostnames ?? ['*']);
    const place = listener?.gateway ?? (port === undefined ? route.namespace : `${route.namespace}/${port}`);
    return hosts
      .filter((host) => servesHost(attachment, host))
      .map((host) => ({
        mergeKey: `${place}/${host}`,
        gateway: listener?.gateway ?? MESH,
        host,
        rules: atPort(own, port),
      }));
  });
  const named = hostRules.map((part, i) => ({ ...part, name: `${route.name}~${i}~${KUBERNETES_GATEWAY}` }));
  return { ...NOTHING, hostRules: named, problems: rules.problems };
}

function virtualService(
  route: Config,
  infix: 'tcp' | 'tls',
  specs: readonly VirtualService[],
): readonly Config<VirtualService>[] {
  return specs.map((spec, i) =>
    madeConfig(route, {
      kind: 'VirtualService',
      namespace: route.namespace,
      name: `${route.name}~${infix}~${i}~${KUBERNETES_GATEWAY}`,
      annotations: routeMarks(parentsText(route)),
      creationTime: route.creationTime,
      spec,
    }),
  );
}

function routeMarks(parents: string): Config['annotations'] {
  return { [MARKS.parents]: parents, [MARKS.routeSemantics]: 'gateway' };
}

/** @see istio/istio pilot/pkg/config/kube/gateway/route_collections.go `TCPRouteCollection` */
export function tcpRoute(
  route: Config<Parameters<typeof tcpRules>[0]['spec']>,
  attachments: readonly Attachment[],
  facts: RouteFacts,
): ConvertedRoute {
  const rules = rulesFor<TCPRoute>(attachments, (clients) => tcpRules(route, clients, facts));
  const specs = accepted(attachments).flatMap((attachment): readonly VirtualService[] => {
    const { listener, ref } = attachment;
    if (listener !== undefined) return [{ hosts: ['*'], gateways: [listener.gateway], tcp: rules.of('gateway') }];
    return serviceHosts(attachment, route.namespace, facts).map((host) => ({
      hosts: [host],
      gateways: [MESH],
      tcp: tcpAtPort(rules.of('mesh'), ref.port),
    }));
  });
  return { ...NOTHING, virtualServices: virtualService(route, 'tcp', specs), problems: rules.problems };
}

/** @see istio/istio pilot/pkg/config/kube/gateway/route_collections.go `TLSRouteCollection` */
export function tlsRoute(
  route: Config<Parameters<typeof tlsRules>[0]['spec']>,
  attachments: readonly Attachment[],
  facts: RouteFacts,
): ConvertedRoute {
  const rules = rulesFor<TLSRoute>(attachments, (clients) => tlsRules(route, clients, facts));
  const names = route.spec.hostnames ?? ['*'];
  const specs = accepted(attachments).flatMap((attachment): readonly VirtualService[] => {
    const { listener, ref } = attachment;
    if (listener === undefined) {
      const hosts = serviceHosts(attachment, route.namespace, facts);
      const own = tlsInMesh(rules.of('mesh'), ref.port, hosts);
      return hosts.map((host) => ({ hosts: [host], gateways: [MESH], tls: tlsForHost(own, host) }));
    }
    const { hostname, gateway } = listener;
    const common = (hosts: readonly Hostname[]) => (hostname === '' ? hosts : commonHosts(hosts, [hostname]));
    const tls = tlsAtListener(rules.of('gateway'), common);
    return common(names).map((host) => ({ hosts: [host], gateways: [gateway], tls }));
  });
  return { ...NOTHING, virtualServices: virtualService(route, 'tls', specs), problems: rules.problems };
}

/** A route that has a part in a merged VirtualService. */
export interface MergedRoute {
  readonly route: Config;
  readonly parts: readonly HostRules[];
}

type Aged = Pick<Config, 'creationTime' | 'namespace'>;

/** Older routes first, then by namespace; of each namespace and age by the names of their parts. */
export function compareAges(a: Aged, b: Aged): number {
  return a.creationTime - b.creationTime || compareStrings(a.namespace, b.namespace);
}

export function mergedName(mergeKey: string): string {
  return mergeKey.replaceAll('/', '~');
}

/**
 * The VirtualService of all rules for one host at one gateway: the most specific match decides, whichever route it is from.
 *
 * @param routes at least one, in any order
 * @see istio/istio pilot/pkg/config/kube/gateway/route_collections.go `mergeHTTPRoutes`
 */
export function mergedVirtualService(
  mergeKey: string,
  routes: readonly MergedRoute[],
): Config<VirtualService> | undefined {
  const inOrder = routes
    .flatMap(({ route, parts }) => parts.map((part) => ({ route, part })))
    .sort((a, b) => compareAges(a.route, b.route) || compareStrings(a.part.name, b.part.name));
  const [first] = inOrder;
  if (first === undefined) return undefined;
  const { route, part } = first;
  const rules = inOrder.flatMap((one) => one.part.rules);
  return madeConfig(route, {
    kind: 'VirtualService',
    namespace: route.namespace,
    name: mergedName(mergeKey),
    annotations: routeMarks(inOrder.map((one) => parentsText(one.route)).join()),
    creationTime: route.creationTime,
    spec: { hosts: [part.host], gateways: [part.gateway], http: rules.sort(compareRules) },
  });
}
