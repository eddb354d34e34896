import type { JsonObject } from '../../src/base/json.ts';
import type { Variant } from '../../src/xds/events.ts';
import { AdsClient } from '../support/ads-client.ts';
import { AdsStream, type Received, resourceJson } from '../support/ads-stream.ts';
import { nodeJson } from '../support/node.ts';
import { clustersOf, endpointsOf, routesOf } from '../support/references.ts';
import { type CaseProxy, type Resources, SHORT_TYPES, type ShortType, TYPES } from './case-files.ts';

/** The data plane that a client says it is: Istio's build of Envoy, or an upstream one with an SDS server. */
export type Dataplane = 'istio' | 'envoy';

export type Answers = ReadonlyMap<ShortType, Resources>;

/** Longest wait for one proxy's answers, in milliseconds. */
const WITHIN_MS = 20_000;

/** All that a control plane answers a proxy of a case. */
export async function answersFor(
  address: string,
  proxy: CaseProxy,
  dataplane: Dataplane,
  variant: Variant,
): Promise<Answers> {
  const node = caseNode(proxy, dataplane);
  if (proxy.grpcListeners) return grpcAnswers(address, node, proxy.grpcListeners);
  using client = new AdsClient({ address, node, variant, secrets: true });
  await client.settled(WITHIN_MS);
  return new Map(SHORT_TYPES.map((type) => [type, client.resources(TYPES[type])]));
}

function caseNode(proxy: CaseProxy, dataplane: Dataplane): JsonObject {
  const { type, ips, id, namespace, dnsDomain, metadata, locality } = proxy;
  return nodeJson({
    type,
    ips,
    id,
    namespace,
    dnsDomain,
    metadata: { ...(dataplane === 'envoy' ? { SDS: 'true' } : {}), ...metadata },
    istio: dataplane === 'istio',
    ...(locality === undefined ? {} : { locality }),
  });
}

/** A gRPC client without a proxy asks by name alone: listeners, their routes, the clusters of these, their endpoints. */
async function grpcAnswers(address: string, node: JsonObject, listeners: readonly string[]): Promise<Answers> {
  let answered: (received: Received) => void = () => {};
  const stream = new AdsStream(address, 'sotw', (received) => answered(received));
  const answers = new Map<ShortType, Resources>();
  const ask = async (type: ShortType, names: readonly string[]): Promise<readonly JsonObject[]> => {
    if (names.length === 0) return [];
    const typeUrl = TYPES[type];
    const resourceNames = [...new Set(names)].sort();
    const received = await new Promise<Received>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer for ${type}`)), WITHIN_MS);
      answered = (response) => {
        if (response.typeUrl !== typeUrl) return;
        clearTimeout(timer);
        resolve(response);
      };
      stream.sotw({ node, typeUrl, resourceNames });
    });
    const { version: versionInfo, nonce: responseNonce } = received;
    stream.sotw({ typeUrl, versionInfo, responseNonce, resourceNames });
    const resources = new Map(received.resources.map((one) => [one.name, resourceJson(typeUrl, one)]));
    answers.set(type, resources);
    return [...resources.values()];
  };
  try {
    const routes = await ask('rds', (await ask('lds', listeners)).flatMap(routesOf));
    const clusters = await ask('cds', routes.flatMap(clustersOf));
    await ask(
      'eds',
      clusters.flatMap((cluster) => endpointsOf(cluster) ?? []),
    );
  } finally {
    stream.close();
  }
  return answers;
}
