import type {
  HTTPRoute,
  Ingress,
  IngressBackend,
  IngressPath,
  StringMatch,
  VirtualService,
} from '#generated/config/specs.ts';
import type { Hostname } from '../../base/host.ts';
import { compareStrings } from '../../base/order.ts';
import type { Config } from '../../config/config.ts';
import type { Path } from '../../config/finding.ts';
import { MARKS } from '../../config/marks.ts';
import { madeConfig } from '../made-config.ts';
import type { Problem } from '../problem.ts';
import { gatewayName, INGRESS_GATEWAY } from './gateway.ts';

export interface IngressFacts {
  readonly domainSuffix: string;
  /** Number of a Service's port by its name; undefined: there is none. */
  portNumber(namespace: string, service: string, port: string): number | undefined;
  hasService(namespace: string, name: string): boolean;
}

/** Paths of an Ingress for one host. */
export interface HostPaths {
  readonly host: Hostname;
  readonly rules: readonly HTTPRoute[];
}

/** What an Ingress is made into, and why not more. */
export interface ConvertedIngress {
  /** In order; a host may stand here several times. */
  readonly hosts: readonly HostPaths[];
  readonly problems: readonly Problem[];
}

/** A path without a type may end in a wildcard. Undefined: every path. */
function looseMatch(path: string): StringMatch | undefined {
  if (['', '*', '/*', '.*'].includes(path)) return undefined;
  if (path.endsWith('.*') || path.endsWith('/*')) return { prefix: path.slice(0, -2) };
  return { exact: path };
}

function pathMatch({ pathType, path = '' }: IngressPath): StringMatch | undefined {
  if (pathType === 'Exact') return { exact: path };
  return pathType === 'Prefix' ? { prefix: path } : looseMatch(path);
}

type PathRule = { readonly rule?: HTTPRoute; readonly problem?: Problem };

/** @see istio/istio pilot/pkg/config/kube/ingress/virtualservices.go `ingressBackendToHTTPRoute` */
function pathRule(from: IngressPath, at: Path, namespace: string, facts: IngressFacts): PathRule {
  const { service }: IngressBackend = from.backend;
  const path = [...at, 'backend'];
  const lost = (message: string, field: Path): PathRule => ({
    problem: { reason: 'BackendNotFound', message, path: [...path, ...field] },
  });
  if (service === undefined) return lost('the path is left out: only a "service" can be a backend', ['resource']);
  const { name, port: { number = 0, name: portName = '' } = {} } = service;
  const port = number || facts.portNumber(namespace, name, portName);
  if (port === undefined) {
    const what = `there is no port "${portName}" of Service ${namespace}/${name}`;
    return lost(`${what}, so the path is left out`, ['service', 'port', 'name']);
  }
  const uri = pathMatch(from);
  const destination = { host: `${name}.${namespace}.svc.${facts.domainSuffix}`, port: { number: port } };
  const rule: HTTPRoute = { ...(uri && { match: [{ uri }] }), route: [{ destination, weight: 100 }] };
  if (facts.hasService(namespace, name)) return { rule };
  return { rule, ...lost(`there is no Service "${namespace}/${name}"`, ['service', 'name']) };
}

export function convertedIngress({ spec, namespace }: Config<Ingress>, facts: IngressFacts): ConvertedIngress {
  const problems: Problem[] = [];
  const unsupported = (message: string, path: Path) => problems.push({ reason: 'Unsupported', message, path });
  const hosts = (spec.rules ?? []).flatMap(({ host, http }, i): readonly HostPaths[] => {
    if (http === undefined) {
      unsupported('a rule without "http" has no paths and no effect', ['spec', 'rules', i]);
      return [];
    }
    const converted = http.paths.map((path, j) =>
      pathRule(path, ['spec', 'rules', i, 'http', 'paths', j], namespace, facts),
    );
    problems.push(...converted.flatMap(({ problem }) => problem ?? []));
    return [{ host: host || '*', rules: converted.flatMap(({ rule }) => rule ?? []) }];
  });
  if (spec.defaultBackend !== undefined) {
    unsupported('has no effect: write a rule without host for the path "/"', ['spec', 'defaultBackend']);
  }
  for (const [i, { secretName }] of (spec.tls ?? []).entries()) {
    if (!secretName) unsupported('is not served without "secretName"', ['spec', 'tls', i]);
  }
  return { hosts, problems };
}

/** Length of the path, and whether it is exact. */
function rank({ match: [first] = [] }: HTTPRoute): readonly [number, boolean] {
  const { exact, prefix } = first?.uri ?? {};
  if (first === undefined) return [0, false];
  return exact === undefined ? [prefix?.length ?? -1, false] : [exact.length, true];
}

/** Longer paths first, exact ones before prefixes of their length. */
function compareRules(a: HTTPRoute, b: HTTPRoute): number {
  const [lengthA, exactA] = rank(a);
  const [lengthB, exactB] = rank(b);
  return lengthB - lengthA || Number(exactB) - Number(exactA);
}

/** Older Ingresses first, then by name and namespace. */
export function compareIngresses(a: Config, b: Config): number {
  return a.creationTime - b.creationTime || compareStrings(a.name, b.name) || compareStrings(a.namespace, b.namespace);
}

/** An Ingress with its paths for one host. */
export interface IngressOfHost {
  readonly ingress: Config<Ingress>;
  readonly rules: readonly HTTPRoute[];
}

/** @param ingress the first of those that have the host */
export function virtualServiceName(host: Hostname, { name }: Pick<Config, 'name'>): string {
  return `${host.replaceAll('.', '-')}-${name}-${INGRESS_GATEWAY}`;
}

/**
 * The VirtualService of a host: the paths of all Ingresses that have it.
 *
 * @param ingresses at least one, in order
 * @see istio/istio pilot/pkg/config/kube/ingress/virtualservices.go `VirtualServices`
 */
export function ingressVirtualService(
  host: Hostname,
  ingresses: readonly IngressOfHost[],
  gatewayNamespace: string,
): Config<VirtualService> | undefined {
  const first = ingresses[0]?.ingress;
  if (first === undefined) return undefined;
  return madeConfig(first, {
    kind: 'VirtualService',
    namespace: first.namespace,
    name: virtualServiceName(host, first),
    annotations: { [MARKS.routeSemantics]: 'ingress' },
    spec: {
      hosts: [host],
      gateways: [`${gatewayNamespace}/${gatewayName(first)}`],
      http: ingresses.flatMap(({ rules }) => rules).sort(compareRules),
    },
  });
}
