import type { Destination, VirtualService } from '#generated/config/specs.ts';
import { type Hostname, isWildcardHost } from '../../base/host.ts';
import { nearestName } from '../../base/nearest-name.ts';
import type { Config } from '../../config/config.ts';
import { type Finding, type Place, placeOf } from '../../config/finding.ts';
import { fullHostname, routeSemantics } from '../virtual-service.ts';
import type { Analyzer } from './analyzer.ts';
import type { HostSubsets, MeshFacts } from './facts.ts';
import { listed } from './names.ts';

export type PlacedDestination = readonly [Place, Destination];

/** Where a VirtualService sends traffic to, mirrors too. */
export function* destinations({ http = [], tcp = [], tls = [] }: VirtualService): Generator<PlacedDestination> {
  const at = placeOf(['spec']);
  for (const [block, rules] of Object.entries({ http, tcp, tls })) {
    for (const [i, { route = [] }] of rules.entries()) {
      for (const [j, { destination }] of route.entries()) {
        yield [at.at(block, i, 'route', j, 'destination'), destination];
      }
    }
  }
  for (const [i, { mirror, mirrors = [] }] of http.entries()) {
    if (mirror !== undefined) yield [at.at('http', i, 'mirror'), mirror];
    for (const [j, { destination }] of mirrors.entries()) {
      yield [at.at('http', i, 'mirrors', j, 'destination'), destination];
    }
  }
}

/** From where a VirtualService is looked at: the namespaces that it names, else its own. */
function clientNamespaces({ namespace, spec }: Config<VirtualService>): readonly string[] {
  const named = (spec.exportTo ?? []).filter((to) => to !== '*').map((to) => (to === '.' ? namespace : to));
  return named.length === 0 ? [namespace] : named;
}

function unknownHost(written: Hostname, host: Hostname, namespace: string, facts: MeshFacts): string {
  const what = written === host ? `"${host}"` : `"${host}", which "${written}" is short for`;
  const owners = facts.ownersOf(host);
  if (owners.length > 0) {
    return `namespace ${namespace} does not see the service ${what}: export it there from ${listed(owners)}`;
  }
  const known = facts.hostnames(namespace).filter((name) => !isWildcardHost(name));
  const near = nearestName(written, known) ?? nearestName(host, known);
  const hint =
    near !== undefined
      ? `did you mean "${near}"?`
      : known.length === 0
        ? 'define it by a ServiceEntry'
        : `define it by a ServiceEntry, or write one that there is: ${listed(known)}`;
  return `there is no service ${what}; ${hint}`;
}

function unknownSubset(subset: string, host: Hostname, facts: MeshFacts): string | undefined {
  const known = facts.subsetsOf(host);
  if (known.some(({ subsets }) => subsets.includes(subset))) return undefined;
  const what = `no DestinationRule gives "${host}" a subset "${subset}", so requests to it fail`;
  const [first] = known;
  if (first === undefined) return `${what}: write one with this host and this subset`;
  const has = ({ subsets }: HostSubsets) => (subsets.length === 0 ? 'has no subsets' : `has ${listed(subsets)}`);
  const others = known.slice(1).map((other) => `; ${other.rule} ${has(other)}`);
  return `${what}: add it to DestinationRule ${first.rule}, which ${has(first)}${others.join('')}`;
}

function* destinationFindings(
  at: Place,
  { host: written, subset = '', port }: Destination,
  config: Config<VirtualService>,
  facts: MeshFacts,
): Generator<Finding> {
  const host = fullHostname(written, config.namespace, facts.domainSuffix);
  const clients = clientNamespaces(config);
  const service = clients.map((namespace) => facts.service(host, namespace)).find((found) => found !== undefined);
  if (service === undefined) {
    yield at.at('host').error(unknownHost(written, host, clients[0] ?? '', facts), 'IST0101');
    return;
  }
  const number = port?.number ?? 0;
  if (number !== 0 && !service.ports.includes(number)) {
    const ports = listed(service.ports.map(String));
    yield at.at('port', 'number').error(`"${host}" has no port ${number}, but ${ports}`, 'IST0101');
  }
  const problem = subset === '' ? undefined : unknownSubset(subset, host, facts);
  if (problem !== undefined) yield at.at('subset').error(problem, 'IST0101');
}

/**
 * Destinations and mirrors to services, ports or subsets that there are not.
 *
 * @see istio/istio pkg/config/analysis/analyzers/virtualservice `destinationhosts.go`, `destinationrules.go`
 */
export const DESTINATIONS: Analyzer<VirtualService> = {
  kinds: ['VirtualService'],
  *findings(config, facts) {
    if (routeSemantics(config) === 'gateway') return;
    for (const [at, destination] of destinations(config.spec)) {
      yield* destinationFindings(at, destination, config, facts);
    }
  },
};
