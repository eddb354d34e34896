import type { Gateway, RequestAuthentication, Server, VirtualService } from '#generated/config/specs.ts';
import { deepEqual } from '../base/equal.ts';
import type { Hostname } from '../base/host.ts';
import { canonicalJson } from '../base/intern.ts';
import { type Labels, selects } from '../base/labels.ts';
import { type Config, type ConfigKey, configKey } from '../config/config.ts';
import type { Graph } from '../derive/graph.ts';
import type { GatewayRival, GatewayServer, MeshFacts } from '../model/analysis/facts.ts';
import { certificateName } from '../model/analysis/gateway-certificates.ts';
import { gatewayRivals } from '../model/analysis/gateway-rivals.ts';
import type { GatewayOfProxy } from '../model/merged-gateway.ts';
import { hostsForNamespace, mergedServer, passesTls, routesRequests } from '../model/merged-gateway-server.ts';
import { gatewayKey } from '../model/virtual-service.ts';
import type { GatewayHead } from './gateways/gateway-heads.ts';
import { type Mesh, ONE } from './mesh.ts';

/** What of a Gateway of the Gateway API counts here. */
interface Listening {
  readonly listeners?: readonly { readonly hostname?: Hostname; readonly port?: number }[];
}

const itself = (port: number): readonly number[] => [port];

function serverOf(written: Server, gateway: string, client: string): GatewayServer {
  const server = mergedServer(written, gateway, written.port.number);
  const hosts = hostsForNamespace(server, client);
  const { port, tls } = server;
  if (routesRequests(server)) return { hosts, port, reads: 'http' };
  if (!passesTls(server)) return { hosts, port, reads: 'tcp' };
  return { hosts, port, reads: tls?.mode === 'AUTO_PASSTHROUGH' ? 'nothing' : 'tls' };
}

export type GatewayFacts = Pick<
  MeshFacts,
  'gatewayRivals' | 'serversOfGateway' | 'gatewaysWithCertificate' | 'isRoutedTo' | 'checksTokens'
>;

/** What analyzers ask about Gateways. */
export function deriveGatewayFacts(
  graph: Graph,
  mesh: Mesh,
  { hasWorkload }: Pick<MeshFacts, 'hasWorkload'>,
): GatewayFacts {
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
  /** Key `namespace namespace/name`: as VirtualServices of the first see it. */
  const servers = graph.derived<string, readonly GatewayServer[]>(
    'serversOfGateway',
    (id) => {
      const [client = '', gateway = ''] = id.split(' ');
      const [namespace = '', name = ''] = gateway.split('/');
      const found = mesh.config<Gateway>(configKey('networking.istio.io', 'Gateway', namespace, name));
      if (found !== undefined) return (found.spec.servers ?? []).map((server) => serverOf(server, gateway, client));
      const made = mesh.config<Listening>(configKey('gateway.networking.k8s.io', 'Gateway', namespace, name));
      return (made?.spec.listeners ?? []).map(({ hostname, port = 0 }) => ({
        hosts: [hostname || '*'],
        port,
        reads: 'http',
      }));
    },
    { equals: deepEqual },
  );
  const routed = mesh.configs.index<string>('routedGateway', (config) => {
    if (config.kind !== 'VirtualService') return [];
    const { gateways = [] } = config.spec as VirtualService;
    return new Set(gateways.map((written) => gatewayKey(written, config.namespace)));
  });
  /** Key `namespace/name`. */
  const isRouted = graph.derived<string, boolean>('isRoutedTo', (name) =>
    routed.get(name).some((key) => mesh.config(key) !== undefined),
  );
  /** Key `namespace/name`. */
  const checked = graph.derived<string, boolean>('checksTokens', (id) => {
    const [namespace = '', name = ''] = id.split('/');
    const gateway = mesh.config<Gateway>(configKey('networking.istio.io', 'Gateway', namespace, name));
    if (gateway === undefined) return true;
    const selector = gateway.spec.selector ?? {};
    const isFor = ({ spec: { selector: own, targetRef, targetRefs } }: Config<RequestAuthentication>): boolean => {
      const labels = own?.matchLabels ?? {};
      if (targetRef !== undefined || targetRefs !== undefined || selects(labels, selector)) return true;
      const both = { ...labels, ...selector };
      return selects(labels, both) && hasWorkload('*', both);
    };
    return [...new Set([mesh.rootNamespace(), namespace])].some((where) =>
      mesh.ofKindIn<RequestAuthentication>('RequestAuthentication', where).some(isFor),
    );
  });
  const byCertificate = mesh.configs.index<string>('gatewayCertificate', (config) => {
    if (config.kind !== 'Gateway' || config.group !== 'networking.istio.io') return [];
    return ((config.spec as Gateway).servers ?? []).flatMap(({ tls }) => certificateName(tls) ?? []);
  });
  return {
    gatewayRivals: (key) => ofGateway.get(key),
    serversOfGateway: (name, namespace) => servers.get(`${namespace} ${name}`),
    isRoutedTo: (name) => isRouted.get(name),
    checksTokens: (name) => checked.get(name),
    gatewaysWithCertificate: (key, certificate) => {
      const keys = byCertificate.get(certificate);
      if (keys.length < 2) return [];
      const own = selected().find((gateway) => gateway.key === key);
      if (own === undefined) return [];
      return selected()
        .filter((other) => other.key !== key && keys.includes(other.key) && selects(own.selector, other.selector))
        .map(({ namespace, name }) => `${namespace}/${name}`)
        .sort();
    },
  };
}
