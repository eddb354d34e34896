import type {
  ConfigMap,
  IngressClass,
  KubeGateway,
  KubeGatewayClass,
  KubeReferenceGrant,
  KubeService,
  NamespaceSelector,
  Secret,
  ServiceEntry,
} from '#generated/config/specs.ts';
import { decodedText, pairProblem, rootsProblem } from '../../base/certificate.ts';
import { deepEqual, sameItems } from '../../base/equal.ts';
import { canonicalJson } from '../../base/intern.ts';
import { configKey } from '../../config/config.ts';
import { matchesSelector } from '../../config/label-selector.ts';
import type { NamedPort, TargetService } from '../../convert/gateway-api/backend-tls.ts';
import { isOurs, type ServedClass, servedClass } from '../../convert/gateway-api/classes.ts';
import type { GatewayFacts } from '../../convert/gateway-api/gateways.ts';
import { GATEWAY_API, isGranted, type Referent, type Referrer } from '../../convert/gateway-api/references.ts';
import type { Graph } from '../../derive/graph.ts';
import type { Service } from '../../model/service.ts';
import { isVisible } from '../../model/visibility.ts';
import type { Configuration } from '../configuration.ts';
import type { NamespacedHost } from '../mesh.ts';
import type { Services } from '../services.ts';

/** What conversions ask about objects: each answer is narrow, so that it changes seldom. */
export interface ConversionFacts extends GatewayFacts {
  /** The class of a name; undefined where somebody else serves it. */
  gatewayClass(name: string): ServedClass | undefined;
  /** Of an IngressClass. */
  ingressController(className: string): string | undefined;
  hasService(namespace: string, name: string): boolean;
  hasHost(namespace: string, host: string): boolean;
  entryHosts(namespace: string, name: string): readonly string[] | undefined;
  portNumber(namespace: string, service: string, port: string): number | undefined;
  target(kind: 'Service' | 'ServiceEntry', namespace: string, name: string): TargetService | undefined;
  isServedElsewhere(kind: 'Service' | 'ServiceEntry', namespace: string, name: string): boolean;
}

const NETWORKING = 'networking.istio.io';
const WAYPOINT_LABEL = 'istio.io/use-waypoint';
const WAYPOINT_NAMESPACE_LABEL = 'istio.io/use-waypoint-namespace';
/** Under which a Secret or ConfigMap has certificates of authorities. */
const AUTHORITY_KEYS = ['cacert', 'ca.crt'] as const;

export function deriveConversionFacts(
  graph: Graph,
  configuration: Configuration,
  services: Pick<Services, 'servicesOfHost' | 'visibility'>,
  domainSuffix: string,
): ConversionFacts {
  const { config } = configuration;
  const exists = graph.derived<string, boolean>('objectExists', (key) => config(key) !== undefined);
  /** Key: `[referrer, referent]` as JSON. */
  const granted = graph.derived<string, boolean>('referenceGranted', (text) => {
    const [from, to] = JSON.parse(text) as [Referrer, Referent];
    return isGranted(configuration.ofKindIn<KubeReferenceGrant>('ReferenceGrant', to.namespace), from, to);
  });
  const controller = graph.derived<string, string | undefined>(
    'gatewayController',
    (name) => config<KubeGatewayClass>(configKey(GATEWAY_API, 'GatewayClass', '', name))?.spec.controllerName,
  );
  const ingressController = graph.derived<string, string | undefined>(
    'ingressController',
    (name) => config<IngressClass>(configKey('networking.k8s.io', 'IngressClass', '', name))?.spec.controller,
  );
  /** @see istio/istio pilot/pkg/credentials/kube/secrets.go `ExtractCertInfo` */
  const certificateProblem = graph.derived<string, string | undefined>('certificateProblem', (id) => {
    const secret = config<Secret>(`/Secret/${id}`);
    if (secret === undefined) return `there is no Secret "${id}"`;
    const { data = {} } = secret.spec;
    const pair = [
      [data['cert'], data['key']],
      [data['tls.crt'], data['tls.key']],
    ].find(([certificate, key]) => certificate && key);
    if (pair === undefined) return `Secret "${id}" has no certificate and key: write "tls.crt" and "tls.key"`;
    const wrong = pairProblem(decodedText(pair[0]), decodedText(pair[1]));
    return wrong && `Secret "${id}" can not be used: ${wrong.problem}`;
  });
  /** Key: `Kind/namespace/name`. */
  const authorityProblem = graph.derived<string, string | undefined>('authorityProblem', (id) => {
    const object = config<Secret | ConfigMap>(`/${id}`);
    if (object === undefined) return `there is no ${id.replace('/', ' ')}`;
    const data = object.spec.data ?? {};
    const text = AUTHORITY_KEYS.map((key) => data[key]).find(Boolean);
    if (text === undefined) return `${id.replace('/', ' ')} has no "ca.crt"`;
    const wrong = rootsProblem(object.kind === 'Secret' ? decodedText(text) : text);
    return wrong && `"ca.crt" of ${id.replace('/', ' ')} can not be used: ${wrong}`;
  });
  /** Key: a selector as JSON. */
  const namespaces = graph.derived<string, readonly string[]>(
    'selectedNamespaces',
    (text) => {
      const selector = JSON.parse(text) as NamespaceSelector;
      const names = configuration.byKind.get('Namespace').map((key) => key.slice(key.lastIndexOf('/') + 1));
      return names
        .filter((name) =>
          matchesSelector(selector, {
            ...configuration.namespaceLabels.get(name),
            'kubernetes.io/metadata.name': name,
          }),
        )
        .sort();
    },
    { equals: sameItems },
  );
  /** Key: `Kind/namespace/name`. */
  const targets = graph.derived<string, TargetService | undefined>(
    'policyTarget',
    (id) => {
      const [kind = '', namespace = '', name = ''] = id.split('/');
      if (kind === 'Service') {
        const service = config<KubeService>(configKey('', kind, namespace, name));
        if (service === undefined) return undefined;
        const ports = (service.spec.ports ?? []).map(
          ({ name: port = '', port: number }): NamedPort => ({ name: port, number }),
        );
        return { hosts: [`${name}.${namespace}.svc.${domainSuffix}`], ports };
      }
      const entry = config<ServiceEntry>(configKey(NETWORKING, kind, namespace, name));
      if (entry === undefined) return undefined;
      const ports = (entry.spec.ports ?? []).map(({ name: port = '', number }): NamedPort => ({ name: port, number }));
      return { hosts: entry.spec.hosts ?? [], ports };
    },
    { equals: deepEqual },
  );
  /** Key: `Kind/namespace/name`. @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `waypointManagedByAnotherController` */
  const servedElsewhere = graph.derived<string, boolean>('servedElsewhere', (id) => {
    const [kind = '', namespace = '', name = ''] = id.split('/');
    const own = config(configKey(kind === 'Service' ? '' : NETWORKING, kind, namespace, name))?.labels;
    const labels = own === undefined || WAYPOINT_LABEL in own ? own : configuration.namespaceLabels.get(namespace);
    const waypoint = labels?.[WAYPOINT_LABEL];
    if (!waypoint || waypoint.toLowerCase() === 'none') return false;
    const place = labels?.[WAYPOINT_NAMESPACE_LABEL] || namespace;
    const gateway = config<KubeGateway>(configKey(GATEWAY_API, 'Gateway', place, waypoint));
    const by = gateway && controller.get(gateway.spec.gatewayClassName);
    return by !== undefined && by !== 'istio.io/mesh-controller' && !isOurs(by);
  });
  /** Key `namespace/hostname`: a service that the namespace sees, be it another's. */
  const hosts = graph.derived<NamespacedHost, boolean>('hostSeen', (id) => {
    const at = id.indexOf('/');
    const seen = (service: Service) => isVisible(services.visibility.get(service.id), id.slice(0, at));
    return services.servicesOfHost.get(id.slice(at + 1)).some(seen);
  });
  const target: ConversionFacts['target'] = (kind, namespace, name) => targets.get(`${kind}/${namespace}/${name}`);
  return {
    domainSuffix,
    gatewayClass: (name) => servedClass(name, controller.get(name)),
    ingressController: (name) => ingressController.get(name),
    hasConfigMap: (namespace, name) => exists.get(configKey('', 'ConfigMap', namespace, name)),
    hasService: (namespace, name) => exists.get(configKey('', 'Service', namespace, name)),
    hasHost: (namespace, host) => hosts.get(`${namespace}/${host}`),
    entryHosts: (namespace, name) => target('ServiceEntry', namespace, name)?.hosts,
    portNumber: (namespace, service, port) =>
      target('Service', namespace, service)?.ports.find(({ name }) => name === port)?.number,
    target,
    isServedElsewhere: (kind, namespace, name) => servedElsewhere.get(`${kind}/${namespace}/${name}`),
    isGranted: ({ kind, namespace }, to) => granted.get(canonicalJson([{ kind, namespace }, to])),
    certificateProblem: (namespace, name) => certificateProblem.get(`${namespace}/${name}`),
    authorityProblem: (kind, namespace, name) => authorityProblem.get(`${kind}/${namespace}/${name}`),
    namespaces: (selector) => namespaces.get(canonicalJson(selector)),
  };
}
