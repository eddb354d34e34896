import type { BackendRef, Destination, KubeReferenceGrant } from '#generated/config/specs.ts';
import type { Hostname } from '../../base/host.ts';
import type { Config } from '../../config/config.ts';
import type { Path } from '../../config/finding.ts';
import type { Problem } from '../problem.ts';

export const GATEWAY_API = 'gateway.networking.k8s.io';

/** Who refers to something in another namespace: a kind of the Gateway API. */
export interface Referrer {
  readonly kind: string;
  readonly namespace: string;
}

/** What is referred to. The group is empty for core kinds. */
export interface Referent {
  readonly group: string;
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

const REFERRERS: ReadonlySet<string> = new Set([
  'Gateway',
  'ListenerSet',
  'HTTPRoute',
  'GRPCRoute',
  'TLSRoute',
  'TCPRoute',
]);
const REFERENTS: ReadonlySet<string> = new Set(['Service', 'Secret', 'ConfigMap']);

/**
 * Whether a reference across namespaces is permitted.
 *
 * @param grants those of the namespace that is referred to
 * @see istio/istio pilot/pkg/config/kube/gatewaycommon/references.go
 */
export function isGranted(grants: readonly Config<KubeReferenceGrant>[], from: Referrer, to: Referent): boolean {
  if (!REFERRERS.has(from.kind) || to.group !== '' || !REFERENTS.has(to.kind)) return false;
  return grants.some(
    ({ spec }) =>
      spec.from.some((f) => f.group === GATEWAY_API && f.kind === from.kind && f.namespace === from.namespace) &&
      spec.to.some((t) => t.group === to.group && t.kind === to.kind && (t.name ?? to.name) === to.name),
  );
}

/** What decides where a reference to a backend leads. */
export interface BackendFacts {
  readonly domainSuffix: string;
  hasService(namespace: string, name: string): boolean;
  /** Whether a namespace sees a service of this hostname. */
  hasHost(namespace: string, host: Hostname): boolean;
  isGranted(from: Referrer, to: Referent): boolean;
}

/** Where a reference leads. With a problem the destination may lead nowhere; without a host, it does. */
export interface Backend {
  readonly destination: Destination;
  readonly problem?: Problem;
  /** The whole route can not be taken. */
  readonly isFatal?: boolean;
}

const NOWHERE: Destination = { host: '' };

/** @param referrer the route; grants are not asked of routes for clients inside the mesh */
export interface BackendQuestion {
  readonly ref: Pick<BackendRef, 'group' | 'kind' | 'name' | 'namespace' | 'port'>;
  readonly path: Path;
  readonly referrer: Referrer;
  readonly needsGrant: boolean;
}

/**
 * Where a reference to a backend leads.
 * @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `buildDestination`
 */
export function backendOf({ ref, path, referrer, needsGrant }: BackendQuestion, facts: BackendFacts): Backend {
  const { group = '', kind = 'Service', name, namespace = referrer.namespace, port } = ref;
  const problem = (reason: string, message: string): Problem => ({ reason, message, path });
  const nowhere = (reason: string, message: string): Backend => ({
    destination: NOWHERE,
    problem: problem(reason, message),
  });
  const fatal = (message: string): Backend => ({ ...nowhere('InvalidDestination', message), isFatal: true });
  const to = { group, kind, namespace, name };
  if (needsGrant && namespace !== referrer.namespace && !facts.isGranted(referrer, to)) {
    const grant = `a ReferenceGrant in ${namespace} from ${referrer.kind} in ${referrer.namespace} to ${kind}`;
    return nowhere(
      'RefNotPermitted',
      `${kind} ${namespace}/${name} may not be used from another namespace: write ${grant}`,
    );
  }
  const found = serviceHost(to, ref.namespace !== undefined, facts);
  if (found === undefined) return nowhere('InvalidKind', `no requests can be sent to a ${kind} of "${group}"`);
  if (typeof found === 'string') return fatal(found);
  if (port === undefined) return fatal('the reference needs a "port"');
  const destination: Destination = { host: found.host, port: { number: port } };
  if (found.isKnown) return { destination };
  const what = kind === 'Hostname' ? 'service of the mesh' : kind;
  return { destination, problem: problem('BackendNotFound', `there is no ${what} "${found.shown}"`) };
}

interface FoundHost {
  readonly host: Hostname;
  readonly isKnown: boolean;
  readonly shown: string;
}

/** Undefined for kinds that are no services; a text says why no route with such a reference can be taken. */
function serviceHost(
  { group, kind, namespace, name }: Referent,
  saysNamespace: boolean,
  facts: BackendFacts,
): FoundHost | string | undefined {
  const isService = group === '' && kind === 'Service';
  if (isService || (group === 'multicluster.x-k8s.io' && kind === 'ServiceImport')) {
    if (isService && name.includes('.')) return `"${name}" must be the name of a Service, not its host name`;
    const host = `${name}.${namespace}.svc.${facts.domainSuffix}`;
    return { host, isKnown: facts.hasService(namespace, name), shown: `${namespace}/${name}` };
  }
  if (group !== 'networking.istio.io' || kind !== 'Hostname') return undefined;
  if (saysNamespace) return 'a Hostname has no namespace: remove it';
  return { host: name, isKnown: facts.hasHost(namespace, name), shown: name };
}
