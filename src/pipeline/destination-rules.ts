import type { DestinationRule } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../base/equal.ts';
import { selects } from '../base/labels.ts';
import type { Config, ConfigKey } from '../config/config.ts';
import type { Derived, Graph } from '../derive/graph.ts';
import {
  type ConsolidatedDestinationRule,
  compareDestinationRules,
  type DestinationRuleIndex,
  destinationRuleIndex,
  exportToOf,
  rulesForHost,
} from '../model/destination-rule.ts';
import type { ProxyScope } from '../model/scope.ts';
import type { Service } from '../model/service.ts';
import { fullHostname } from '../model/virtual-service.ts';
import type { Configuration } from './configuration.ts';
import type { MeshOptions } from './options.ts';

export interface DestinationRules {
  /** Key `clientNamespace|serviceNamespace/hostname`. */
  readonly destinationRules: Derived<string, readonly ConsolidatedDestinationRule[]>;
  destinationRule(
    scope: Pick<ProxyScope, 'namespace' | 'labels'>,
    service: Pick<Service, 'namespace' | 'hostname'>,
    direction: 'inbound' | 'outbound',
  ): ConsolidatedDestinationRule | undefined;
}

const NONE: readonly ConsolidatedDestinationRule[] = [];

type Pool = 'local' | 'exported' | 'private';

/** @see istio/istio pilot/pkg/model/push_context.go `setDestinationRules`, `destinationRule` */
export function deriveDestinationRules(
  graph: Graph,
  configuration: Configuration,
  options: MeshOptions,
): DestinationRules {
  const sameHash = (a: Config | undefined, b: Config | undefined) => a?.hash === b?.hash && a?.key === b?.key;
  const resolved = graph.derived<ConfigKey, Config<DestinationRule> | undefined>(
    'resolvedDestinationRule',
    (key) => {
      const config = configuration.config<DestinationRule>(key);
      if (config === undefined) return undefined;
      const host = fullHostname(config.spec.host ?? '', config.namespace, options.domainSuffix);
      return { ...config, spec: { ...config.spec, host } };
    },
    { equals: sameHash },
  );
  const isPrivate = (rule: Config<DestinationRule>): boolean => {
    const exportTo = exportToOf(rule);
    const [only] = exportTo;
    if (exportTo.length === 0) return (configuration.facet('defaultDestinationRuleExportTo') ?? ['*']).includes('.');
    return exportTo.length === 1 && (only === '.' || only === rule.namespace);
  };
  const isLocal = (rule: Config<DestinationRule>): boolean => {
    const exportTo = exportToOf(rule);
    return exportTo.length === 0 || ['*', '.', rule.namespace].some((item) => exportTo.includes(item));
  };
  const inPool: Readonly<Record<Pool, (rule: Config<DestinationRule>) => boolean>> = {
    local: isLocal,
    exported: (rule) => !isPrivate(rule),
    private: isPrivate,
  };
  /** Key `pool/namespace`. */
  const indexes = graph.derived<string, DestinationRuleIndex | undefined>('destinationRuleIndex', (id) => {
    const at = id.indexOf('/');
    const keys = configuration.keysOf('DestinationRule', id.slice(at + 1));
    if (keys.length === 0) return undefined;
    const rules = keys
      .flatMap((key) => resolved.get(key) ?? [])
      .filter(inPool[id.slice(0, at) as Pool])
      .sort(compareDestinationRules);
    return destinationRuleIndex(rules);
  });
  const find = (pool: Pool, namespace: string, host: string) => {
    const index = indexes.get(`${pool}/${namespace}`);
    return index && rulesForHost(index, host);
  };
  const exportedTo = (owner: string, host: string, client: string) =>
    find('exported', owner, host)?.filter(
      ({ exportTo }) => exportTo.length === 0 || exportTo.includes('*') || exportTo.includes(client),
    );

  const destinationRules = graph.derived<string, readonly ConsolidatedDestinationRule[]>(
    'destinationRules',
    (id) => {
      const [client = '', service = ''] = id.split('|');
      const slash = service.indexOf('/');
      const serviceNamespace = service.slice(0, slash);
      const host = service.slice(slash + 1);
      const root = configuration.rootNamespace();
      const own = find(client === root ? 'private' : 'local', client, host);
      if (own !== undefined) return own;
      const theirs = exportedTo(serviceNamespace, host, client);
      if (theirs !== undefined && theirs.length > 0) return theirs;
      return exportedTo(root, host, client) ?? NONE;
    },
    { equals: (a, b) => sameItems(a, b, sameRule) },
  );
  return {
    destinationRules,
    destinationRule: (scope, service, direction) => {
      const rules = destinationRules.get(`${scope.namespace}|${service.namespace}/${service.hostname}`);
      const chosen = rules.find(
        ({ rule }) =>
          direction === 'outbound' &&
          rule.namespace === scope.namespace &&
          rule.spec.workloadSelector !== undefined &&
          selects(rule.spec.workloadSelector.matchLabels, scope.labels),
      );
      return chosen ?? rules.findLast(({ rule }) => rule.spec.workloadSelector === undefined);
    },
  };
}

function sameRule(a: ConsolidatedDestinationRule, b: ConsolidatedDestinationRule): boolean {
  return a === b || (deepEqual(a.from, b.from) && deepEqual(a.rule.spec, b.rule.spec));
}
