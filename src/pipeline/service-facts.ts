import type { DestinationRule, ServiceEntry } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import { type Hostname, hostsOverlap, isSubsetOfHost, isWildcardHost, mostSpecificMatch } from '../base/host.ts';
import { compareStrings } from '../base/order.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Graph } from '../derive/graph.ts';
import type { HostSubsets, KnownService, MergedRule, MeshFacts } from '../model/analysis/facts.ts';
import { objectName } from '../model/analysis/names.ts';
import { compareDestinationRules, destinationRuleIndex } from '../model/destination-rule.ts';
import type { Service } from '../model/service.ts';
import { fullHostname, MESH_GATEWAY } from '../model/virtual-service.ts';
import { isVisible, visibilityOf } from '../model/visibility.ts';
import { type Mesh, ONE } from './mesh.ts';

export type ServiceFacts = Pick<
  MeshFacts,
  'service' | 'ownersOf' | 'hostnames' | 'isImported' | 'subsetsOf' | 'rulesBefore'
>;

/** Not a hostname. */
const WILDCARDS = ' ';

/** What analyzers ask about hosts: who knows them, and which DestinationRules are about them. */
export function deriveServiceFacts(graph: Graph, mesh: Mesh): ServiceFacts {
  const { configs } = mesh;
  const { domainSuffix } = mesh.options;
  const hostOf = ({ spec, namespace }: Config<DestinationRule>): Hostname =>
    fullHostname(spec.host, namespace, domainSuffix);

  const wildcardEntries = configs.index<''>('wildcardService', (c) =>
    c.kind === 'ServiceEntry' && (c.spec as ServiceEntry).hosts.some(isWildcardHost) ? [ONE] : [],
  );
  const wildcardHosts = graph.derived<'', readonly Hostname[]>(
    'wildcardHosts',
    () => {
      const services = wildcardEntries.get(ONE).flatMap((key) => mesh.servicesOfConfig.get(key));
      return sortedNames(services.map(({ hostname }) => hostname).filter(isWildcardHost));
    },
    { equals: sameItems },
  );
  const seenBy =
    (namespace: string) =>
    ({ exportTo, namespace: own }: Service): boolean =>
      isVisible(visibilityOf(exportTo, mesh.facet('defaultServiceExportTo') ?? ['*'], own), namespace);

  /** Key `namespace/host`. */
  const known = graph.derived<string, KnownService | undefined>(
    'analysedService',
    (id) => {
      const [namespace, host] = split(id);
      const exact = mesh.servicesOfHost.get(host).filter(seenBy(namespace));
      if (exact.length > 0) return knownService(exact);
      const covering = new Map<Hostname, readonly Service[]>();
      for (const wildcard of wildcardHosts.get(ONE)) {
        if (!isSubsetOfHost(host, wildcard)) continue;
        const services = mesh.servicesOfHost.get(wildcard).filter(seenBy(namespace));
        if (services.length > 0) covering.set(wildcard, services);
      }
      const nearest = mostSpecificMatch(host, new Map(), covering);
      return nearest && knownService(nearest);
    },
    { equals: deepEqual },
  );
  const hostnames = graph.derived<string, readonly Hostname[]>(
    'knownHostnames',
    (namespace) => sortedNames(mesh.visibleServices.get(namespace).map(({ hostname }) => hostname)),
    { equals: sameItems },
  );
  /** Key `client|owner|host`. */
  const imported = graph.derived<string, boolean>('isImported', (id) => {
    const [client = '', owner = '', host = ''] = id.split('|');
    const isOwner = (namespace: string) => owner === '*' || owner === namespace;
    const services = isWildcardHost(host)
      ? mesh.visibleServices.get(client).filter(({ hostname }) => isSubsetOfHost(hostname, host))
      : mesh.servicesOfHost.get(host).filter(seenBy(client));
    if (services.some(({ namespace }) => isOwner(namespace))) return true;
    return mesh.virtualServicesForGateway
      .get(`${client}|${MESH_GATEWAY}`)
      .some(({ namespace, hosts }) => isOwner(namespace) && hosts.some((claimed) => hostsOverlap(claimed, host)));
  });

  const rulesByHost = configs.index<Hostname>('destinationRuleHost', (c) => {
    if (c.kind !== 'DestinationRule') return [];
    const host = hostOf(c as Config<DestinationRule>);
    return isWildcardHost(host) ? [host, WILDCARDS] : [host];
  });
  const subsets = graph.derived<Hostname, readonly HostSubsets[]>(
    'hostSubsets',
    (host) => {
      const wide = rulesByHost.get(WILDCARDS).filter((key) => {
        const rule = mesh.config<DestinationRule>(key);
        return rule !== undefined && hostOf(rule) !== host && isSubsetOfHost(host, hostOf(rule));
      });
      return [...rulesByHost.get(host), ...wide].flatMap((key) => {
        const rule = mesh.config<DestinationRule>(key);
        return rule === undefined ? [] : [{ rule: objectName(rule), subsets: subsetNames(rule) }];
      });
    },
    { equals: deepEqual },
  );
  const before = graph.derived<ConfigKey, readonly MergedRule[]>(
    'rulesBefore',
    (key) => {
      const own = mesh.config<DestinationRule>(key);
      if (own === undefined) return [];
      const host = hostOf(own);
      const rules = rulesByHost.get(host).flatMap((other) => mesh.config<DestinationRule>(other) ?? []);
      const near = rules.filter(({ namespace }) => namespace === own.namespace);
      if (near.length < 2) return [];
      const resolved = near.map((rule) => ({ ...rule, spec: { ...rule.spec, host } })).sort(compareDestinationRules);
      const { exact, wildcards } = destinationRuleIndex(resolved);
      const merged = [...exact.values(), ...wildcards.values()].flat().find(({ from }) => from.indexOf(key) > 0);
      return (merged?.from ?? [])
        .slice(0, merged?.from.indexOf(key))
        .flatMap((first) => near.filter((rule) => rule.key === first).map(mergedRule));
    },
    { equals: deepEqual },
  );
  return {
    service: (host, namespace) => known.get(`${namespace}/${host}`),
    ownersOf: (host) => sortedNames(mesh.servicesOfHost.get(host).map(({ namespace }) => namespace)),
    hostnames: (namespace) => hostnames.get(namespace),
    isImported: (client, owner, host) => imported.get(`${client}|${owner}|${host}`),
    subsetsOf: (host) => subsets.get(host),
    rulesBefore: (key) => before.get(key),
  };
}

function knownService(services: readonly Service[]): KnownService {
  const ports = services.flatMap((service) => service.ports.map(({ port }) => port));
  return { ports: [...new Set(ports)].sort((a, b) => a - b) };
}

function subsetNames({ spec }: Config<DestinationRule>): readonly string[] {
  return (spec.subsets ?? []).map(({ name }) => name);
}

function mergedRule(rule: Config<DestinationRule>): MergedRule {
  return { name: objectName(rule), hasPolicy: rule.spec.trafficPolicy !== undefined, subsets: subsetNames(rule) };
}

function sortedNames(names: Iterable<string>): readonly string[] {
  return [...new Set(names)].sort(compareStrings);
}

function split(id: string): readonly [string, string] {
  const at = id.indexOf('/');
  return [id.slice(0, at), id.slice(at + 1)];
}
