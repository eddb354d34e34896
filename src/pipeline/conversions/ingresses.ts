import type { Ingress } from '#generated/config/specs.ts';
import { deepEqual, sameItems } from '../../base/equal.ts';
import { append } from '../../base/multimap.ts';
import { type Config, type ConfigKey, configKey } from '../../config/config.ts';
import { isServed } from '../../convert/ingress/classes.ts';
import { gatewayName, ingressGateway, ingressSelector } from '../../convert/ingress/gateway.ts';
import {
  type ConvertedIngress,
  compareIngresses,
  convertedIngress,
  ingressVirtualService,
  virtualServiceName,
} from '../../convert/ingress/virtual-service.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import type { Configuration } from '../configuration.ts';
import { ONE } from '../mesh.ts';
import type { ConversionFacts } from './facts.ts';
import { type Made, sameMade } from './made-objects.ts';

export interface ConvertedIngresses extends Made {
  /** Undefined for those that somebody else serves. */
  readonly converted: Derived<ConfigKey, ConvertedIngress | undefined>;
}

const GROUP = 'networking.istio.io';

/** What a made object is made of: the Gateway of one Ingress, or a host with those that have it. */
interface Source {
  readonly host?: string;
  readonly ingresses: readonly ConfigKey[];
}

/** @param gatewayNamespace `K8S_INGRESS_NS` */
export function deriveConvertedIngresses(
  graph: Graph,
  configuration: Configuration,
  facts: ConversionFacts,
  gatewayNamespace: string,
): ConvertedIngresses {
  const ingressOf = (key: ConfigKey) => configuration.config<Ingress>(key);
  const isOurs = graph.derived<ConfigKey, boolean>('ingressServed', (key) => {
    const ingress = ingressOf(key);
    const settings = {
      ingressControllerMode: configuration.facet('ingressControllerMode') ?? 'STRICT',
      ingressClass: configuration.facet('ingressClass') ?? '',
    };
    return ingress !== undefined && isServed(ingress, settings, facts.ingressController);
  });
  const converted = graph.derived<ConfigKey, ConvertedIngress | undefined>('convertedIngress', (key) => {
    const ingress = ingressOf(key);
    return ingress && isOurs.get(key) ? convertedIngress(ingress, facts) : undefined;
  });
  const hostsOf = graph.derived<ConfigKey, readonly string[]>(
    'ingressHosts',
    (key) => [...new Set(converted.get(key)?.hosts.map(({ host }) => host))],
    { equals: sameItems },
  );
  /** Those that are served, in order. */
  const inOrder = graph.derived<typeof ONE, readonly ConfigKey[]>(
    'ingressesInOrder',
    () =>
      [...configuration.ofKind<Ingress>('Ingress')]
        .filter(({ key }) => isOurs.get(key))
        .sort(compareIngresses)
        .map(({ key }) => key),
    { equals: sameItems },
  );
  const sources = graph.derived<typeof ONE, ReadonlyMap<ConfigKey, Source>>('ingressSources', () => {
    const byHost = new Map<string, ConfigKey[]>();
    const found = new Map<ConfigKey, Source>();
    for (const key of inOrder.get(ONE)) {
      for (const host of hostsOf.get(key)) append(byHost, host, key);
      found.set(configKey(GROUP, 'Gateway', gatewayNamespace, gatewayName(identity(key))), { ingresses: [key] });
    }
    for (const [host, ingresses] of byHost) {
      const first = identity(ingresses[0] ?? '');
      const key = configKey(GROUP, 'VirtualService', first.namespace, virtualServiceName(host, first));
      if (!found.has(key)) found.set(key, { host, ingresses });
    }
    return found;
  });
  const sourceOf = graph.derived<ConfigKey, Source | undefined>('ingressSource', (key) => sources.get(ONE).get(key), {
    equals: deepEqual,
  });
  const selector = () => {
    const chosen = configuration.facet('ingressSelector');
    const service = configuration.facet('ingressService');
    return ingressSelector({ ...(chosen && { ingressSelector: chosen }), ...(service && { ingressService: service }) });
  };
  return {
    converted,
    keys: graph.derived('madeIngressKeys', () => [...sources.get(ONE).keys()], { equals: sameItems }),
    config: graph.derived<ConfigKey, Config | undefined>(
      'madeOfIngress',
      (key) => {
        const { host, ingresses = [] } = sourceOf.get(key) ?? {};
        const present = ingresses.flatMap((source) => ingressOf(source) ?? []);
        const [first] = present;
        if (first === undefined) return undefined;
        if (host === undefined) return ingressGateway(first, selector(), gatewayNamespace);
        const rulesOf = (source: ConfigKey) =>
          converted.get(source)?.hosts.flatMap((paths) => (paths.host === host ? paths.rules : [])) ?? [];
        const parts = present.map((ingress) => ({ ingress, rules: rulesOf(ingress.key) }));
        return ingressVirtualService(host, parts, gatewayNamespace);
      },
      { equals: sameMade },
    ),
  };
}

function identity(key: ConfigKey): Pick<Config, 'namespace' | 'name'> {
  const [, , namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}
