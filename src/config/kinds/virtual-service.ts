import type { HTTPRoute, TCPRoute, TLSMatchAttributes, TLSRoute, VirtualService } from '#generated/config/specs.ts';
import { isIpAddress } from '../../base/address.ts';
import { hostsOverlap, isSubsetOfHost } from '../../base/host.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { VirtualService as schema } from '../schema/virtual-service.ts';
import { subnetProblem } from './addresses.ts';
import { coveredMatches } from './covered-matches.ts';
import { isClaimRoute } from './headers.ts';
import { gatewayNamesFindings } from './http-match.ts';
import { destinationsFindings, httpRouteFindings } from './http-route.ts';
import { gatewayHostProblem, labelFindings, problem, wildcardHostProblem } from './names.ts';
import { exportToFindings } from './selectors.ts';
import { coveredPrefixes, unreachableFindings } from './unreachable.ts';

/** The name by which an object says that it is for sidecars. */
const MESH = 'mesh';

function* delegateFindings(at: Place, spec: VirtualService): Generator<Finding> {
  for (const name of ['gateways', 'tls', 'tcp'] as const) {
    if (spec[name] === undefined) continue;
    yield at
      .at(name)
      .error('an object without hosts is a delegate, which has http rules alone: remove it, or add hosts');
  }
}

/** Claims of tokens are known at gateways, where RequestAuthentication reads them before the route is chosen. */
function* claimFindings(at: Place, { http = [] }: VirtualService): Generator<Finding> {
  for (const [i, { match = [] }] of http.entries()) {
    for (const [j, condition] of match.entries()) {
      for (const list of ['headers', 'withoutHeaders'] as const) {
        for (const name of Object.keys(condition[list] ?? {})) {
          if (isClaimRoute(name))
            yield at.at(i, 'match', j, list, name).error('claims can be matched at gateways alone');
        }
      }
    }
  }
}

function* hostsFindings(at: Place, hosts: readonly string[], atGateway: boolean, bySni: boolean): Generator<Finding> {
  let valid = true;
  for (const [i, host] of hosts.entries()) {
    const wrong = atGateway ? gatewayHostProblem(host, bySni) : wildcardHostProblem(host);
    const everything = host === '*' && !atGateway ? '"*" is for gateways: name them, or name the hosts' : undefined;
    const message = isIpAddress(host) ? everything : (wrong ?? everything);
    if (message === undefined) continue;
    yield at.at(i).error(message);
    valid = false;
  }
  if (!valid) return;
  for (const [i, host] of hosts.entries()) {
    const before = hosts.slice(0, i).find((other) => hostsOverlap(other, host));
    if (before !== undefined) yield at.at(i).error(`"${host}" overlaps with "${before}": keep one of them`);
  }
}

function* sniFindings(at: Place, name: string, spec: VirtualService): Generator<Finding> {
  const { hosts = [], gateways = [] } = spec;
  const wrong = gateways.includes(MESH) ? wildcardHostProblem(name) : gatewayHostProblem(name, true);
  if (wrong !== undefined) {
    if (isIpAddress(name)) yield at.warning(`"${name}" is an IP address, which clients do not send as a server name`);
    else yield at.error(wrong);
  } else if (!hosts.some((host) => isSubsetOfHost(name, host))) {
    yield at.error(`"${name}" is not below any of the hosts ${hosts.join(', ')}: add it there, or remove it`);
  }
}

function* connectionMatch(at: Place, match: Omit<TLSMatchAttributes, 'sniHosts'>): Generator<Finding> {
  for (const [i, subnet] of (match.destinationSubnets ?? []).entries()) {
    yield* problem(at.at('destinationSubnets', i), subnetProblem(subnet));
  }
  yield* labelFindings(at.at('sourceLabels'), match.sourceLabels);
  yield* gatewayNamesFindings(at.at('gateways'), match.gateways);
}

function* tlsFindings(at: Place, { match, route = [] }: TLSRoute, spec: VirtualService): Generator<Finding> {
  for (const [i, condition] of match.entries()) {
    const place = at.at('match', i);
    for (const [j, name] of condition.sniHosts.entries()) yield* sniFindings(place.at('sniHosts', j), name, spec);
    yield* connectionMatch(place, condition);
  }
  if (route.length === 0) yield at.error('the rule says not where connections go: set route');
  yield* destinationsFindings(at.at('route'), route);
}

function* tcpFindings(at: Place, { match = [], route = [] }: TCPRoute): Generator<Finding> {
  for (const [i, condition] of match.entries()) yield* connectionMatch(at.at('match', i), condition);
  if (route.length === 0) yield at.error('the rule says not where connections go: set route');
  yield* destinationsFindings(at.at('route'), route);
}

/** HTTP rules and matches that rules before them leave nothing to. */
function* shadowedFindings(at: Place, http: readonly HTTPRoute[], gateways: readonly string[]): Generator<Finding> {
  const asIstio = [...unreachableFindings(at, http), ...coveredPrefixes(at, http)];
  yield* asIstio;
  yield* coveredMatches(at, http, gateways, new Set(asIstio.map(({ path }) => JSON.stringify(path))));
}

/** @see istio/istio pkg/config/validation/validation.go `ValidateVirtualService` */
export const VIRTUAL_SERVICE: KindDefinition<VirtualService> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1', 'v1beta1', 'v1alpha3'],
  kind: 'VirtualService',
  plural: 'virtualservices',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, namespace, at }) {
    const { hosts = [], gateways = [], http = [], tls = [], tcp = [] } = spec;
    const isDelegate = hosts.length === 0;
    const atGateway = gateways.length > 0 && !gateways.includes(MESH);
    if (isDelegate) yield* delegateFindings(at(), spec);
    yield* gatewayNamesFindings(at('gateways'), gateways);
    if (!atGateway) yield* claimFindings(at('http'), spec);
    yield* hostsFindings(at('hosts'), hosts, atGateway, tls.length > 0);
    if (http.length + tls.length + tcp.length === 0) yield at().error('has no rules: set http, tls or tcp');
    for (const [i, route] of http.entries()) yield* httpRouteFindings(at('http', i), route, isDelegate);
    for (const [i, route] of tls.entries()) yield* tlsFindings(at('tls', i), route, spec);
    for (const [i, route] of tcp.entries()) yield* tcpFindings(at('tcp', i), route);
    yield* exportToFindings(at('exportTo'), spec.exportTo, namespace, false);
    yield* shadowedFindings(at('http'), http, gateways);
    yield* unreachableFindings(at('tcp'), tcp);
    yield* unreachableFindings(at('tls'), tls);
  },
});
