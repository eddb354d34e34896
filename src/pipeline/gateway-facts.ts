import type { Gateway } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import { canonicalJson } from '../base/intern.ts';
import { type Labels, selects } from '../base/labels.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Graph } from '../derive/graph.ts';
import type { GatewayRival, MeshFacts } from '../model/analysis/facts.ts';
import { gatewayRivals } from '../model/analysis/gateway-rivals.ts';
import type { GatewayOfProxy } from '../model/merged-gateway.ts';
import type { GatewayHead } from './gateways/gateway-heads.ts';
import { type Mesh, ONE } from './mesh.ts';

const itself = (port: number): readonly number[] => [port];

/** What analyzers ask about Gateways. */
export function deriveGatewayFacts(
  graph: Graph,
  mesh: Mesh,
  { hasWorkload }: Pick<MeshFacts, 'hasWorkload'>,
): Pick<MeshFacts, 'gatewayRivals'> {
  /** By label, those of Services apart, which are for whoever is behind them. */
  const selected = (): readonly GatewayHead[] =>
    mesh.gateways.get(ONE).filter(({ services }) => services === undefined);
  const selectors = graph.derived<'', readonly string[]>(
    'gatewaySelectors',
    () => [...new Set(selected().map(({ selector }) => canonicalJson(selector)))].sort(),
    { equals: deepEqual },
  );
  /** Key: a selector as JSON. Those for proxies that it selects; a wider one counts only where there is a proxy. */
  const rivals = graph.derived<string, ReadonlyMap<ConfigKey, readonly GatewayRival[]>>(
    'gatewayRivals',
    (text) => {
      const labels = JSON.parse(text) as Labels;
      const isFor = ({ selector }: GatewayHead): boolean =>
        canonicalJson(selector) === text || (selects(selector, labels) && hasWorkload('*', labels));
      return gatewayRivals(
        selected()
          .filter(isFor)
          .flatMap(({ key }): readonly GatewayOfProxy[] => {
            const gateway = mesh.config<Gateway>(key);
            return gateway === undefined ? [] : [{ gateway, listenPorts: itself }];
          }),
      );
    },
    { equals: deepEqual },
  );
  const ofGateway = graph.derived<ConfigKey, readonly GatewayRival[]>(
    'rivalsOfGateway',
    (key) => {
      const own = selected().find((gateway) => gateway.key === key);
      if (own === undefined) return [];
      const found = selectors
        .get(ONE)
        .filter((text) => selects(own.selector, JSON.parse(text) as Labels))
        .flatMap((text) => rivals.get(text).get(key) ?? []);
      return [...new Map(found.map((rival) => [canonicalJson(rival), rival])).values()];
    },
    { equals: deepEqual },
  );
  return { gatewayRivals: (key) => ofGateway.get(key) };
}
