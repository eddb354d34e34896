import type { Gateway } from '#generated/config/specs.ts';
import { deepEqual } from '../../base/equal.ts';
import type { Labels } from '../../base/labels.ts';
import { compareStrings } from '../../base/order.ts';
import type { ConfigKey } from '../../config/config.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import type { Mesh, ONE } from '../mesh.ts';

/** What of a Gateway decides whose it is. */
export interface GatewayHead {
  readonly key: ConfigKey;
  readonly namespace: string;
  readonly name: string;
  readonly creationTime: number;
  readonly selector: Labels;
  /** Hostnames of the services whose workloads it is for, in the place of a selector. */
  readonly services?: readonly string[];
}

/** Marks a Gateway that was made from one of the Gateway API: the hostnames of its services. */
const SERVICES_ANNOTATION = 'internal.istio.io/gateway-service';

/** All Gateways, oldest first, then by name and namespace. */
export function deriveGatewayHeads(
  graph: Graph,
  mesh: Pick<Mesh, 'config' | 'byKind'>,
): Derived<typeof ONE, readonly GatewayHead[]> {
  /** Undefined for objects of the Gateway API, which have the same kind. */
  const head = graph.derived<ConfigKey, GatewayHead | undefined>(
    'gatewayHead',
    (key) => {
      const config = mesh.config<Gateway>(key);
      if (config === undefined || config.group !== 'networking.istio.io') return undefined;
      const { namespace, name, creationTime, spec, annotations } = config;
      const services = annotations[SERVICES_ANNOTATION]?.split(',');
      return { key, namespace, name, creationTime, selector: spec.selector ?? {}, ...(services && { services }) };
    },
    { equals: deepEqual },
  );
  return graph.derived<typeof ONE, readonly GatewayHead[]>(
    'gatewayHeads',
    () =>
      mesh.byKind
        .get('Gateway')
        .flatMap((key) => head.get(key) ?? [])
        .sort(compareHeads),
    { equals: deepEqual },
  );
}

function compareHeads(a: GatewayHead, b: GatewayHead): number {
  return a.creationTime - b.creationTime || compareStrings(a.name, b.name) || compareStrings(a.namespace, b.namespace);
}
