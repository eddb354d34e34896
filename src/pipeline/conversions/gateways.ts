import type { KubeGateway, KubeListenerSet } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../../base/equal.ts';
import { append } from '../../base/multimap.ts';
import { type Config, type ConfigKey, configKey } from '../../config/config.ts';
import { type ConflictsOf, listenerConflicts } from '../../convert/gateway-api/conflicts.ts';
import {
  allowsListenersOf,
  type ConvertedGateway,
  convertedGateway,
  convertedListenerSet,
  refusedListenerSet,
} from '../../convert/gateway-api/gateways.ts';
import type { ParentListener } from '../../convert/gateway-api/parents.ts';
import { GATEWAY_API } from '../../convert/gateway-api/references.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import type { Configuration } from '../configuration.ts';
import { ONE } from '../mesh.ts';
import type { ConversionFacts } from './facts.ts';
import { type Made, sameMade } from './made-objects.ts';

/** Gateways and ListenerSets of the Gateway API. */
export interface ConvertedGateways extends Made {
  /** Of a Gateway or ListenerSet; undefined where somebody else serves it. */
  readonly converted: Derived<ConfigKey, ConvertedGateway | undefined>;
  readonly parents: Derived<ConfigKey, readonly ParentListener[] | undefined>;
  /** ListenerSets that add something to a Gateway. */
  readonly attachedSets: Derived<ConfigKey, readonly ConfigKey[]>;
}

const NO_CONFLICTS: ConflictsOf = new Map();

/** The Gateway to which a ListenerSet adds; undefined for another kind of parent. */
function parentKey({ spec: { parentRef }, namespace }: Config<KubeListenerSet>): ConfigKey | undefined {
  const { group, kind, name, namespace: owner = namespace } = parentRef;
  return group === GATEWAY_API && kind === 'Gateway' ? configKey(GATEWAY_API, kind, owner, name) : undefined;
}

export function deriveConvertedGateways(
  graph: Graph,
  configuration: Configuration,
  facts: ConversionFacts,
): ConvertedGateways {
  const { config } = configuration;
  const setParent = graph.derived<ConfigKey, ConfigKey | undefined>('listenerSetParent', (key) => {
    const set = config<KubeListenerSet>(key);
    return set && parentKey(set);
  });
  const setsByParent = graph.derived<typeof ONE, ReadonlyMap<ConfigKey, readonly ConfigKey[]>>(
    'listenerSetsByParent',
    () => {
      const found = new Map<ConfigKey, ConfigKey[]>();
      for (const key of configuration.byKind.get('ListenerSet')) {
        const parent = setParent.get(key);
        if (parent !== undefined) append(found, parent, key);
      }
      return found;
    },
  );
  const setsOf = graph.derived<ConfigKey, readonly ConfigKey[]>(
    'listenerSetsOf',
    (gateway) => setsByParent.get(ONE).get(gateway) ?? [],
    { equals: sameItems },
  );
  const allows = (gateway: Config<KubeGateway>, namespace: string): boolean => {
    const isNamed = configuration.byKindNamespace.get('Namespace/').includes(configKey('', 'Namespace', '', namespace));
    return allowsListenersOf(gateway, namespace, isNamed ? configuration.namespaceLabels.get(namespace) : undefined);
  };
  const servedGateway = (key: ConfigKey) => {
    const gateway = config<KubeGateway>(key);
    const served = gateway && facts.gatewayClass(gateway.spec.gatewayClassName);
    return gateway && served && { gateway, served };
  };
  const conflicts = graph.derived<ConfigKey, ConflictsOf>(
    'listenerConflicts',
    (key) => {
      const found = servedGateway(key);
      if (found === undefined || found.served.isRemote) return NO_CONFLICTS;
      const sets = setsOf.get(key).flatMap((set) => config<KubeListenerSet>(set) ?? []);
      return listenerConflicts(
        found.gateway,
        sets.filter(({ namespace }) => allows(found.gateway, namespace)),
      );
    },
    { equals: deepEqual },
  );
  const conflictsOf = (gateway: ConfigKey, owner: ConfigKey) => conflicts.get(gateway).get(owner) ?? new Map();

  const converted = graph.derived<ConfigKey, ConvertedGateway | undefined>('convertedGateway', (key) => {
    const object = config(key);
    if (object === undefined) return undefined;
    if (object.kind === 'Gateway') {
      const found = servedGateway(key);
      return found && convertedGateway(found.gateway, found.served, conflictsOf(key, key), facts);
    }
    const set = object as Config<KubeListenerSet>;
    const parent = parentKey(set);
    const found = parent && servedGateway(parent);
    if (!found) return undefined;
    const { gateway, served } = found;
    if (served.isRemote || !allows(gateway, set.namespace)) return refusedListenerSet(gateway);
    return convertedListenerSet(set, gateway, conflictsOf(gateway.key, key), facts);
  });
  const parents = graph.derived<ConfigKey, readonly ParentListener[] | undefined>(
    'parentListeners',
    (key) => converted.get(key)?.parents,
    { equals: deepEqual },
  );
  const madeOf = graph.derived<ConfigKey, readonly ConfigKey[]>(
    'madeOfGateway',
    (key) => converted.get(key)?.gateways.map((gateway) => gateway.key) ?? [],
    { equals: sameItems },
  );
  const sources = graph.derived<typeof ONE, ReadonlyMap<ConfigKey, ConfigKey>>('gatewaySources', () => {
    const owners = [...configuration.byKind.get('KubernetesGateway'), ...configuration.byKind.get('ListenerSet')];
    return new Map(owners.flatMap((owner) => madeOf.get(owner).map((key) => [key, owner] as const)));
  });
  return {
    converted,
    parents,
    attachedSets: setsOf,
    keys: graph.derived('madeGatewayKeys', () => [...sources.get(ONE).keys()], { equals: sameItems }),
    config: graph.derived<ConfigKey, Config | undefined>(
      'madeGateway',
      (key) => {
        const owner = sources.get(ONE).get(key);
        return owner === undefined ? undefined : converted.get(owner)?.gateways.find((gateway) => gateway.key === key);
      },
      { equals: sameMade },
    ),
  };
}
