import type { KubeBackendTlsPolicy } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../../base/equal.ts';
import { append } from '../../base/multimap.ts';
import { type Config, type ConfigKey, configKey } from '../../config/config.ts';
import {
  backendRuleName,
  backendTlsRule,
  type ConvertedBackendTls,
  comparePolicies,
  convertedBackendTls,
} from '../../convert/gateway-api/backend-tls.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import type { Configuration } from '../configuration.ts';
import { ONE } from '../mesh.ts';
import type { ConversionFacts } from './facts.ts';
import { type Made, sameMade } from './made-objects.ts';

/** BackendTLSPolicies. */
export interface ConvertedBackendTlsPolicies extends Made {
  readonly converted: Derived<ConfigKey, ConvertedBackendTls | undefined>;
}

const KIND = 'BackendTLSPolicy';

export function deriveConvertedBackendTls(
  graph: Graph,
  configuration: Configuration,
  facts: ConversionFacts,
): ConvertedBackendTlsPolicies {
  const policyOf = (key: ConfigKey) => configuration.config<KubeBackendTlsPolicy>(key);
  const inOrder = graph.derived<string, readonly ConfigKey[]>(
    'backendTlsPolicies',
    (namespace) =>
      [...configuration.ofKindIn<KubeBackendTlsPolicy>(KIND, namespace)].sort(comparePolicies).map(({ key }) => key),
    { equals: sameItems },
  );
  const converted = graph.derived<ConfigKey, ConvertedBackendTls | undefined>('convertedBackendTls', (key) => {
    const policy = policyOf(key);
    if (policy === undefined) return undefined;
    const order = inOrder.get(policy.namespace);
    const rivals = order.slice(0, order.indexOf(key)).flatMap((other) => policyOf(other) ?? []);
    return convertedBackendTls(policy, rivals, facts);
  });
  const ruleKeys = graph.derived<ConfigKey, readonly ConfigKey[]>(
    'backendTlsRules',
    (key) => {
      const namespace = policyOf(key)?.namespace ?? '';
      const names = converted.get(key)?.hosts.map(backendRuleName) ?? [];
      return [...new Set(names)].map((name) => configKey('networking.istio.io', 'DestinationRule', namespace, name));
    },
    { equals: sameItems },
  );
  const sources = graph.derived<typeof ONE, ReadonlyMap<ConfigKey, readonly ConfigKey[]>>('backendTlsSources', () => {
    const found = new Map<ConfigKey, ConfigKey[]>();
    const namespaces = new Set(configuration.byKind.get(KIND).map((key) => key.split('/')[2] ?? ''));
    for (const policy of [...namespaces].flatMap((namespace) => inOrder.get(namespace))) {
      for (const rule of ruleKeys.get(policy)) append(found, rule, policy);
    }
    return found;
  });
  const sourcesOf = graph.derived<ConfigKey, readonly ConfigKey[]>(
    'backendTlsSourcesOf',
    (key) => sources.get(ONE).get(key) ?? [],
    { equals: deepEqual },
  );
  return {
    converted,
    keys: graph.derived('madeBackendRuleKeys', () => [...sources.get(ONE).keys()], { equals: sameItems }),
    config: graph.derived<ConfigKey, Config | undefined>(
      'madeBackendRule',
      (key) => {
        const name = key.slice(key.lastIndexOf('/') + 1);
        return backendTlsRule(
          sourcesOf.get(key).flatMap((source) => {
            const policy = policyOf(source);
            const parts = converted.get(source)?.hosts.filter((host) => backendRuleName(host) === name) ?? [];
            return policy === undefined ? [] : [{ policy, parts }];
          }),
        );
      },
      { equals: sameMade },
    ),
  };
}
