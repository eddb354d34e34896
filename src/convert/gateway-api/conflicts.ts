import type { KubeGateway, KubeListener, KubeListenerSet } from '#generated/config/specs.ts';
import { compareStrings } from '../../base/order.ts';
import type { Config, ConfigKey } from '../../config/config.ts';
import type { ListenerConflict } from './listeners.ts';

/** Conflicts of the listeners of an object, by listener. */
export type ConflictsOf = ReadonlyMap<ConfigKey, ReadonlyMap<string, ListenerConflict>>;

interface Placed {
  readonly owner: Config;
  readonly listener: KubeListener;
}

const L4: ReadonlySet<string> = new Set(['TCP', 'UDP']);
const BY_HOST: ReadonlySet<string> = new Set(['HTTP', 'HTTPS', 'TLS']);

/** Whether two listeners can be served side by side: connections must tell which of them is meant. */
function areDistinct(a: KubeListener, b: KubeListener): boolean {
  if (a.port !== b.port) return true;
  if (BY_HOST.has(a.protocol) && BY_HOST.has(b.protocol)) return (a.hostname ?? '*') !== (b.hostname ?? '*');
  const known = (protocol: string) => L4.has(protocol) || BY_HOST.has(protocol);
  return known(a.protocol) && known(b.protocol) ? false : a.protocol !== b.protocol;
}

function reasonOf(a: KubeListener, b: KubeListener): ListenerConflict['reason'] {
  return a.protocol !== b.protocol || L4.has(a.protocol) ? 'ProtocolConflict' : 'HostnameConflict';
}

/**
 * Listeners of a Gateway, and of ListenerSets that are added to it, that have to make way: of two that can not be told apart
 * the Gateway's comes first, then that of the older set.
 *
 * @param sets those that the Gateway allows, in any order
 * @see istio/istio pilot/pkg/config/kube/gatewaycommon/listener_conflict.go
 */
export function listenerConflicts(gateway: Config<KubeGateway>, sets: readonly Config<KubeListenerSet>[]): ConflictsOf {
  const inOrder = [...sets].sort(
    (a, b) => a.creationTime - b.creationTime || compareStrings(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`),
  );
  const owners: readonly Config<KubeGateway | KubeListenerSet>[] = [gateway, ...inOrder];
  const served: Placed[] = [];
  const conflicts = new Map<ConfigKey, Map<string, ListenerConflict>>();
  for (const owner of owners) {
    for (const listener of owner.spec.listeners) {
      const rival = served.find((other) => !areDistinct(listener, other.listener));
      if (rival === undefined) {
        served.push({ owner, listener });
        continue;
      }
      const { kind, namespace, name } = rival.owner;
      const by = `the listener "${rival.listener.name}" of ${kind} ${namespace}/${name}`;
      const own = conflicts.get(owner.key) ?? new Map<string, ListenerConflict>();
      conflicts.set(owner.key, own.set(listener.name, { reason: reasonOf(listener, rival.listener), by }));
    }
  }
  return conflicts;
}
