import type { KubeGateway } from '#generated/config/specs.ts';
import { deepEqual } from '../../base/equal.ts';
import type { Code } from '../../config/codes.ts';
import { type ConfigKey, configKey, kindName } from '../../config/config.ts';
import { type Finding, placeOf } from '../../config/finding.ts';
import { type AttachedRoute, deniedParent, parentKind } from '../../convert/gateway-api/parents.ts';
import { GATEWAY_API } from '../../convert/gateway-api/references.ts';
import type { Problem } from '../../convert/problem.ts';
import type { Graph } from '../../derive/graph.ts';
import type { MeshFacts } from '../../model/analysis/facts.ts';
import { type Mesh, namespacedHost } from '../mesh.ts';
import { ROUTE_KINDS } from './routes.ts';

const CODES: Readonly<Record<string, Code>> = {
  BackendNotFound: 'VM0301',
  RefNotPermitted: 'VM0301',
  InvalidKind: 'VM0301',
  InvalidDestination: 'VM0301',
  InvalidCertificateRef: 'VM0301',
  InvalidCACertificateRef: 'VM0301',
  InvalidCACertificateKind: 'VM0301',
  InvalidClientCertificateRef: 'VM0301',
  InvalidParameters: 'VM0301',
  TargetNotFound: 'VM0301',
  NoMatchingParent: 'VM0302',
  NotAllowedByListeners: 'VM0302',
  NoMatchingListenerHostname: 'VM0302',
  NotAllowed: 'VM0302',
  ProtocolConflict: 'VM0303',
  HostnameConflict: 'VM0303',
  UnsupportedProtocol: 'VM0303',
  InvalidRouteKinds: 'VM0303',
  Conflicted: 'VM0303',
  InvalidFilter: 'VM0304',
};

/** What has no effect is a warning; what keeps others from being served is an error. */
function findingOf({ reason, message, path }: Problem): Finding {
  const code = CODES[reason];
  const place = placeOf(path);
  return code === undefined ? place.warning(message, 'VM0304') : place.error(message, code);
}

export function deriveConversionFindings(graph: Graph, mesh: Mesh): Pick<MeshFacts, 'conversionFindings'> {
  const { gateways, routes, backendTls, ingresses } = mesh.conversions;

  /** A reference to a Gateway that is not there. One that is, but that somebody else serves, is none of ours. */
  const missingParent = (route: AttachedRoute, namespace: string, index: number): Problem | undefined => {
    const ref = route.parentRefs?.[index];
    const kind = ref && parentKind(ref);
    const path = ['spec', 'parentRefs', index];
    if (ref === undefined) return undefined;
    if (kind === undefined) return { reason: 'Unsupported', message: `a ${ref.kind} can be no parent here`, path };
    if (kind !== 'Gateway' && kind !== 'ListenerSet') return undefined;
    const { name, namespace: owner = namespace } = ref;
    if (mesh.config(configKey(GATEWAY_API, kind, owner, name)) !== undefined) return undefined;
    return { reason: 'NoMatchingParent', message: `there is no ${kind} "${owner}/${name}"`, path };
  };
  const routeProblems = (key: ConfigKey): readonly Problem[] => {
    const route = mesh.config<AttachedRoute>(key);
    if (route === undefined) return [];
    const attachments = routes.attachments.get(key);
    const parents = (route.spec.parentRefs ?? []).flatMap(
      (_, i) => missingParent(route.spec, route.namespace, i) ?? deniedParent(i, attachments) ?? [],
    );
    return [...parents, ...(routes.converted.get(key)?.problems ?? [])];
  };
  /** Services of a Gateway by which its workloads would be known. */
  const missingServices = (key: ConfigKey): readonly Problem[] => {
    const gateway = mesh.config<KubeGateway>(key);
    const services = gateways.converted.get(key)?.services ?? [];
    return services.flatMap((host) => {
      const namespace = gateway?.namespace ?? '';
      if (gateway === undefined || mesh.service.get(namespacedHost(namespace, host)) !== undefined) return [];
      const advice = `write a Service or ServiceEntry for it in ${namespace}, or name another one under "addresses"`;
      const message = `nobody serves this Gateway: there is no service "${host}"; ${advice}`;
      return [
        {
          reason: 'BackendNotFound',
          message,
          path: ['spec', gateway.spec.addresses ? 'addresses' : 'gatewayClassName'],
        },
      ];
    });
  };
  const foreignClass = (key: ConfigKey): readonly Problem[] => {
    const name = mesh.config<KubeGateway>(key)?.spec.gatewayClassName;
    if (name === undefined || gateways.converted.get(key) !== undefined) return [];
    if (mesh.config(configKey(GATEWAY_API, 'GatewayClass', '', name)) !== undefined) return [];
    const message = `there is no GatewayClass "${name}", so the Gateway is not served: write "istio", or define the class`;
    return [{ reason: 'InvalidParameters', message, path: ['spec', 'gatewayClassName'] }];
  };
  const problems = (key: ConfigKey, kind: string): readonly Problem[] => {
    if ((ROUTE_KINDS as readonly string[]).includes(kind)) return routeProblems(key);
    if (kind === 'Ingress') return ingresses.converted.get(key)?.problems ?? [];
    if (kind === 'BackendTLSPolicy') {
      const { targets = [], unresolved } = backendTls.converted.get(key) ?? {};
      return [...targets.flatMap(({ problem }) => problem ?? []), ...(unresolved ? [unresolved] : [])];
    }
    const own = gateways.converted.get(key)?.problems ?? [];
    return kind === 'KubernetesGateway' ? [...own, ...missingServices(key), ...foreignClass(key)] : own;
  };
  const findings = graph.derived<ConfigKey, readonly Finding[]>(
    'conversionFindings',
    (key) => {
      const config = mesh.config(key);
      return config === undefined ? [] : problems(key, kindName(config)).map(findingOf);
    },
    { equals: deepEqual },
  );
  return { conversionFindings: (key) => findings.get(key) };
}
