import { canonicalJson } from '../../base/intern.ts';
import type { Derived, Graph } from '../../derive/graph.ts';
import { type ClientListenerInput, grpcClientListener } from '../../envoy/grpc/client-listener.ts';
import {
  ALL_LISTENERS,
  fullHost,
  hostAndPortOf,
  listenerNameOf,
  plainListenerName,
  SERVER_LISTENER_PREFIX,
} from '../../envoy/grpc/listener-names.ts';
import { grpcServerListener } from '../../envoy/grpc/server-listener.ts';
import { extraServiceAddresses, serviceAddress } from '../../envoy/listeners/service-address.ts';
import { clusterName } from '../../envoy/names.ts';
import { modeOfPort } from '../../model/authentication.ts';
import type { ProxyScope } from '../../model/scope.ts';
import type { Service } from '../../model/service.ts';
import type { EncodedResource } from '../../proto/resource-set.ts';
import { LISTENER_TYPE } from '../../proto/type-urls.ts';
import type { Access } from '../access-policies.ts';
import { encodedResource, sameVersion } from '../encoded-resource.ts';
import { addressView } from '../listener-views.ts';
import type { Mesh } from '../mesh.ts';
import type { Outbound } from '../outbound.ts';
import { LISTENER } from '../outbound-listeners.ts';
import type { PeerPolicies } from '../peer-policies.ts';
import type { ScopedResources } from '../resource-types.ts';

/** Says of a workload that its clients are to speak mutual TLS with it. */
const TLS_MODE = 'security.istio.io/tlsMode';

/** The listeners that gRPC clients and servers without a proxy ask for. */
export function deriveGrpcListeners(
  graph: Graph,
  mesh: Mesh,
  outbound: Outbound,
  { access, peerPolicies }: { readonly access: Access; readonly peerPolicies: PeerPolicies },
): ScopedResources {
  const asked = mesh.asked.of(LISTENER_TYPE);

  const serviceOf = (host: string, scope: ProxyScope): Service | undefined => {
    const full = fullHost(host, scope);
    return outbound.knownService(scope, host) ?? (full === undefined ? undefined : outbound.knownService(scope, full));
  };

  const namesOf = (written: string, scope: ProxyScope): readonly string[] => {
    if (written === ALL_LISTENERS) {
      return mesh.sidecarScope
        .get(scope)
        .services.flatMap(({ hostname, ports }) => ports.map(({ port }) => listenerNameOf(hostname, port)));
    }
    const { host, port } = hostAndPortOf(written);
    if (port !== undefined || written.startsWith(SERVER_LISTENER_PREFIX)) return [written];
    const ports = serviceOf(host, scope)?.ports ?? [];
    return [written, ...ports.map(({ port: number }) => listenerNameOf(host, number))];
  };

  /** Key: the input as JSON, so that clients of all namespaces share one. */
  const ofClients: Derived<string, EncodedResource> = graph.derived(
    'grpcClientListener',
    (key) => {
      const input = JSON.parse(key) as ClientListenerInput;
      return encodedResource(LISTENER, input.name, grpcClientListener(input));
    },
    { equals: sameVersion },
  );
  const clientListener = (name: string, plain: string, scope: ProxyScope): EncodedResource | undefined => {
    const { host, port: written } = hostAndPortOf(plain);
    const service = written === undefined ? undefined : serviceOf(host, scope);
    const found = service?.ports.find(({ port }) => String(port) === written);
    if (service === undefined || found === undefined) return undefined;
    const { port } = found;
    const view = addressView(scope, mesh.options.addressAllocation);
    const session = mesh.options.listeners.persistentSessions ? service.persistentSession : undefined;
    const input: ClientListenerInput = {
      name,
      port,
      addresses: [serviceAddress(service, view), ...extraServiceAddresses(service, view)],
      route: clusterName('outbound', port, '', service.hostname),
      session,
    };
    return ofClients.get(canonicalJson(input));
  };

  const serverListener = (name: string, address: string, scope: ProxyScope): EncodedResource | undefined => {
    const { host, port: written } = hostAndPortOf(address);
    const targets = mesh.targets.get(scope);
    const target = targets.findLast(({ targetPort }) => String(targetPort) === written);
    if (target === undefined) return undefined;
    const { service, targetPort: port } = target;
    const mode = modeOfPort(peerPolicies.get(scope), port);
    // Clients take the label at its word, and gRPC does not tell the two kinds of connections apart.
    const mutualTls = mode === 'STRICT' || (mode === 'PERMISSIVE' && scope.labels[TLS_MODE] === 'istio');
    const listener = grpcServerListener({
      name,
      host,
      port,
      others: extraServiceAddresses(service, addressView(scope, mesh.options.addressAllocation)),
      mutualTls,
      authorization: access.policies(access.keysOf(scope)).authorization,
    });
    return encodedResource(LISTENER, name, listener);
  };

  return graph.collection<ProxyScope, string, EncodedResource>('grpcListeners', {
    items: (scope) => new Set((asked.get(scope) ?? []).flatMap((name) => namesOf(name, scope))),
    value: (name, scope) => {
      const plain = plainListenerName(name);
      if (plain === undefined) return undefined;
      return plain.startsWith(SERVER_LISTENER_PREFIX)
        ? serverListener(name, plain.slice(SERVER_LISTENER_PREFIX.length), scope)
        : clientListener(name, plain, scope);
    },
    equals: sameVersion,
  });
}
