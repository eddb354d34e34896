import type {
  KubeConnectionRule,
  KubeTcpRoute,
  KubeTlsRoute,
  RouteDestination,
  TCPRoute,
  TLSRoute,
} from '#generated/config/specs.ts';
import { type Hostname, hostsOverlap } from '../../base/host.ts';
import type { Config } from '../../config/config.ts';
import type { Problem } from '../problem.ts';
import { type BackendFacts, backendOf } from './references.ts';
import type { Clients, RuleSet } from './request-rules.ts';

/** A cluster that does not exist, so that connections are closed. */
const NO_BACKENDS: readonly RouteDestination[] = [
  { destination: { host: 'internal.cluster.local', subset: 'zero-weight', port: { number: 65535 } } },
];

interface Forwarding {
  readonly route: readonly RouteDestination[];
  readonly problems: readonly Problem[];
  readonly fatal?: Problem;
}

function forwarding(
  { kind, namespace }: Pick<Config, 'kind' | 'namespace'>,
  { backendRefs }: KubeConnectionRule,
  index: number,
  clients: Clients,
  facts: BackendFacts,
): Forwarding {
  const counted = [...backendRefs.entries()].filter(([, { weight = 1 }]) => weight > 0);
  if (counted.length === 0) return { route: NO_BACKENDS, problems: [] };
  const problems: Problem[] = [];
  const route: RouteDestination[] = [];
  for (const [i, ref] of counted) {
    const path = ['spec', 'rules', index, 'backendRefs', i];
    const question = { ref, path, referrer: { kind, namespace }, needsGrant: clients === 'gateway' };
    const { destination, problem, isFatal } = backendOf(question, facts);
    if (problem !== undefined && isFatal) return { route: [], problems, fatal: problem };
    if (problem !== undefined) problems.push(problem);
    route.push({ destination, ...(counted.length > 1 && { weight: ref.weight ?? 1 }) });
  }
  return { route, problems };
}

function rulesOf<Rule>(
  parts: readonly Forwarding[],
  rule: (route: readonly RouteDestination[]) => Rule,
): RuleSet<Rule> {
  const fatal = parts.find((part) => part.fatal)?.fatal;
  if (fatal !== undefined) return { rules: [], problems: [fatal] };
  return { rules: parts.map(({ route }) => rule(route)), problems: parts.flatMap(({ problems }) => problems) };
}

/** @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `convertTCPRoute` */
export function tcpRules(route: Config<KubeTcpRoute>, clients: Clients, facts: BackendFacts): RuleSet<TCPRoute> {
  const parts = route.spec.rules.map((rule, i) => forwarding(route, rule, i, clients, facts));
  return rulesOf(parts, (destinations) => ({ route: destinations }));
}

/** @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `convertTLSRoute` */
export function tlsRules(route: Config<KubeTlsRoute>, clients: Clients, facts: BackendFacts): RuleSet<TLSRoute> {
  const sniHosts = route.spec.hostnames ?? ['*'];
  const parts = route.spec.rules.map((rule, i) => forwarding(route, rule, i, clients, facts));
  return rulesOf(parts, (destinations) => ({
    match: destinations === NO_BACKENDS ? [] : [{ sniHosts }],
    route: destinations,
  }));
}

/** For clients of one port alone. */
export function tcpAtPort(rules: readonly TCPRoute[], port: number | undefined): readonly TCPRoute[] {
  return port === undefined ? rules : rules.map((rule) => ({ ...rule, match: [{ port }] }));
}

/** For clients inside the mesh, who ask for the names of a service unless the route has names of its own. */
export function tlsInMesh(
  rules: readonly TLSRoute[],
  port: number | undefined,
  serviceHosts: readonly Hostname[],
): readonly TLSRoute[] {
  return rules.map(({ match, ...rule }) => ({
    ...rule,
    match: match.map(({ sniHosts, ...rest }) => ({
      ...rest,
      sniHosts: sniHosts.length === 1 && sniHosts[0] === '*' ? serviceHosts : sniHosts,
      ...(port !== undefined && { port }),
    })),
  }));
}

/** Of several names of a rule those that one host of a service may mean. */
export function tlsForHost(rules: readonly TLSRoute[], host: Hostname): readonly TLSRoute[] {
  return rules.map((rule) => {
    const [first, ...others] = rule.match;
    if (first === undefined || others.length > 0 || first.sniHosts.length < 2) return rule;
    return { ...rule, match: [{ ...first, sniHosts: first.sniHosts.filter((name) => hostsOverlap(host, name)) }] };
  });
}

/** What a listener serves of the names of a rule; rules without any are left out. */
export function tlsAtListener(
  rules: readonly TLSRoute[],
  common: (names: readonly Hostname[]) => readonly Hostname[],
): readonly TLSRoute[] {
  return rules
    .map((rule) => ({ ...rule, match: rule.match.map((match) => ({ ...match, sniHosts: common(match.sniHosts) })) }))
    .filter(({ match }) => match.length === 0 || match.some(({ sniHosts }) => sniHosts.length > 0));
}
