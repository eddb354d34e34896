import type { HTTPMatchRequest, VirtualService } from '#generated/config/specs.ts';
import { type Labels, selects } from '../../base/labels.ts';

/** The part of a match that is decided before any request comes: on which port, through which gateway, for whose requests. */
export type ClientCondition = Pick<HTTPMatchRequest, 'port' | 'gateways' | 'sourceLabels' | 'sourceNamespace'>;

export interface RouteClient {
  /** The port on which requests come in; 0 where it can be any. */
  readonly listenPort: number;
  /** Names under which the proxy serves: `mesh` for a sidecar, `namespace/name` for a gateway's servers. */
  readonly gateways: ReadonlySet<string>;
  /** Of the proxy whose requests are routed. */
  readonly namespace: string;
  readonly labels: Labels;
}

/**
 * With gateways named, nothing else about the client counts.
 * @see istio/istio pilot/pkg/networking/core/route/route.go `sourceMatchHTTP`
 */
export function admitsClient(condition: ClientCondition | undefined, client: RouteClient): boolean {
  if (condition === undefined) return true;
  const { port, gateways = [], sourceLabels, sourceNamespace } = condition;
  if (port && port !== client.listenPort) return false;
  if (gateways.length > 0) return gateways.some((name) => client.gateways.has(name));
  return selects(sourceLabels, client.labels) && (!sourceNamespace || sourceNamespace === client.namespace);
}

/** The conditions of which one must hold for a client to have any of the HTTP routes; without repetition. */
export function clientConditions({ http = [] }: VirtualService): readonly ClientCondition[] {
  const conditions = new Map<string, ClientCondition>();
  for (const { match = [] } of http) {
    for (const one of match.length === 0 ? [{}] : match) {
      const condition = clientCondition(one);
      conditions.set(JSON.stringify(condition), condition);
    }
  }
  return [...conditions.values()];
}

function clientCondition({ port, gateways, sourceLabels, sourceNamespace }: HTTPMatchRequest): ClientCondition {
  return {
    ...(port && { port }),
    ...(gateways?.length && { gateways }),
    ...(sourceLabels && Object.keys(sourceLabels).length > 0 && { sourceLabels }),
    ...(sourceNamespace && { sourceNamespace }),
  };
}
