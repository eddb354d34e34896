import type { ServiceEntry } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import type { Hostname } from '../base/host.ts';
import { compareStrings } from '../base/order.ts';
import type { ConfigKey } from '../config/config.ts';
import type { Graph } from '../derive/graph.ts';
import type { MeshFacts, ProtocolRival } from '../model/analysis/facts.ts';
import { objectName } from '../model/analysis/names.ts';
import { areSeenTogether, type Visibility, visibilityOf } from '../model/visibility.ts';
import type { Mesh } from './mesh.ts';

interface PortClaim extends ProtocolRival {
  readonly key: ConfigKey;
  readonly visibility: Visibility;
}

/** What analyzers ask about the protocols of services. */
export function deriveProtocolFacts(graph: Graph, mesh: Mesh): Pick<MeshFacts, 'otherProtocols'> {
  /** `port host`. */
  const byPort = mesh.configs.index<string>('entryPort', (config) => {
    if (config.kind !== 'ServiceEntry') return [];
    const { hosts, ports = [] } = config.spec as ServiceEntry;
    return hosts.flatMap((host) => ports.map(({ number }) => `${number} ${host}`));
  });
  const claims = graph.derived<string, readonly PortClaim[]>(
    'portClaims',
    (id) => {
      const port = Number(id.slice(0, id.indexOf(' ')));
      const fallback = mesh.facet('defaultServiceExportTo') ?? ['*'];
      return byPort.get(id).flatMap((key): readonly PortClaim[] => {
        const config = mesh.config<ServiceEntry>(key);
        if (config === undefined) return [];
        const { protocol = '' } = (config.spec.ports ?? []).find(({ number }) => number === port) ?? {};
        const visibility = visibilityOf(config.spec.exportTo, fallback, config.namespace);
        return [{ key, name: objectName(config), protocol, visibility }];
      });
    },
    { equals: deepEqual },
  );
  return {
    otherProtocols: (key: ConfigKey, host: Hostname, port: number) => {
      const id = `${port} ${host}`;
      if (byPort.get(id).length < 2) return [];
      const own = claims.get(id).find((claim) => claim.key === key);
      if (own === undefined) return [];
      return claims
        .get(id)
        .filter(
          ({ protocol, visibility }) =>
            protocol.toUpperCase() !== own.protocol.toUpperCase() && areSeenTogether(own.visibility, visibility),
        )
        .map(({ name, protocol }) => ({ name, protocol }))
        .sort((a, b) => compareStrings(a.name, b.name));
    },
  };
}
