import type { Gateway } from '#generated/config/specs.ts';
import { deepEqual } from '../../base/equal.ts';
import type { Labels } from '../../base/labels.ts';
import { compareStrings } from '../../base/order.ts';
import type { ConfigKey } from '../../config/config.ts';
import { MARKS } from '../../config/marks.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import type { Mesh, ONE } from '../mesh.ts';

/** What of a Gateway decides whose it is. */
export interface GatewayHead {
  readonly key: ConfigKey;
  readonly namespace: string;
  readonly name: string;
  readonly creationTime: number;
  readonly selector: Labels;
  /** The services whose workloads it is for, in the place of a selector. */
  readonly services?: { readonly namespace: string; readonly hosts: readonly string[] };
}

/** All Gateways, oldest first, then by name and namespace. */
export function deriveGatewayHeads(
  graph: Graph,
  mesh: Pick<Mesh, 'config' | 'keysOf'>,
): Derived<typeof ONE, readonly GatewayHead[]> {
  const head = graph.derived<ConfigKey, GatewayHead | undefined>(
    'gatewayHead',
    (key) => {
      const config = mesh.config<Gateway>(key);
      if (config === undefined) return undefined;
      const { namespace, name, creationTime, spec, annotations } = config;
      const hosts = annotations[MARKS.services]?.split(',');
      const services = hosts && { namespace: annotations[MARKS.parentNamespace] || namespace, hosts };
      return { key, namespace, name, creationTime, selector: spec.selector ?? {}, ...(services && { services }) };
    },
    { equals: deepEqual },
  );
  return graph.derived<typeof ONE, readonly GatewayHead[]>(
    'gatewayHeads',
    () =>
      mesh
        .keysOf('Gateway')
        .flatMap((key) => head.get(key) ?? [])
        .sort(compareHeads),
    { equals: deepEqual },
  );
}

function compareHeads(a: GatewayHead, b: GatewayHead): number {
  return a.creationTime - b.creationTime || compareStrings(a.name, b.name) || compareStrings(a.namespace, b.namespace);
}
