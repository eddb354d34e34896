import type { Gateway, KubeGateway, KubeListenerSet } from '#generated/config/specs.ts';
import type { Labels } from '../../base/labels.ts';
import type { Config } from '../../config/config.ts';
import { matchesSelector } from '../../config/label-selector.ts';
import { MARKS } from '../../config/marks.ts';
import { KUBERNETES_GATEWAY, madeConfig } from '../made-config.ts';
import type { Problem } from '../problem.ts';
import { type GatewayServices, gatewayAccount, gatewayServices, type ServedClass } from './classes.ts';
import {
  type ConvertedListener,
  conflictedListener,
  convertedListener,
  type ListenerConflict,
  type ListenerFacts,
  type ListenerStatus,
} from './listeners.ts';
import type { ParentListener } from './parents.ts';

export interface GatewayFacts extends ListenerFacts {
  readonly domainSuffix: string;
  hasConfigMap(namespace: string, name: string): boolean;
}

/** What a Gateway or a ListenerSet is made into, and what its status says as far as it does not depend on who serves it. */
export interface ConvertedGateway {
  /** It is of another place, and only known. */
  readonly isRemote?: boolean;
  readonly gateways: readonly Config<Gateway>[];
  /** What routes can attach to. */
  readonly parents: readonly ParentListener[];
  readonly services: readonly string[];
  readonly listeners: readonly ListenerStatus[];
  /** Ports that are served. */
  readonly ports: readonly number[];
  readonly validListeners: number;
  /** Why the object as a whole is not accepted. */
  readonly refusal?: Problem;
  /** Why its own certificate for backends can not be used. */
  readonly unresolved?: Problem;
  readonly problems: readonly Problem[];
}

const NOTHING: ConvertedGateway = {
  gateways: [],
  parents: [],
  services: [],
  listeners: [],
  ports: [],
  validListeners: 0,
  problems: [],
};

/** @see istio/istio pkg/config/gateway/kube/gatewayapi.go `InternalGatewayName` */
function internalName(owner: string, listener: string): string {
  return `${owner}~${KUBERNETES_GATEWAY}~${listener}`;
}

interface Owner {
  readonly object: Config<KubeGateway | KubeListenerSet>;
  readonly kind: 'Gateway' | 'ListenerSet';
  readonly gateway: Config<KubeGateway>;
  readonly services: GatewayServices;
  readonly conflicts: ReadonlyMap<string, ListenerConflict>;
}

function marksOf({ object, kind, gateway, services }: Owner, listener: string): Labels {
  return {
    [MARKS.parents]: `${kind}/${object.name}/${listener}.${object.namespace}`,
    [MARKS.gatewaySemantics]: 'gateway',
    [MARKS.services]: services.hosts.join(),
    [MARKS.serviceAccount]: gatewayAccount(gateway),
    ...(kind === 'ListenerSet' && { [MARKS.parentNamespace]: gateway.namespace }),
  };
}

function parentOf({ object }: Owner, { listener, kinds, server }: ConvertedListener): ParentListener {
  const { name: section, port, protocol, hostname = '' } = listener;
  const gateway = `${object.namespace}/${internalName(object.name, section)}`;
  return { gateway, section, port, protocol, kinds, hostname, hosts: server?.hosts ?? [] };
}

/** The listeners of an object. `onlyValid`: routes attach to no others. */
function convertedListeners(owner: Owner, onlyValid: boolean, facts: GatewayFacts): ConvertedGateway {
  const { object, kind, gateway, services, conflicts } = owner;
  const listeners = object.spec.listeners.map((listener, i) => {
    const conflict = conflicts.get(listener.name);
    if (conflict !== undefined) return conflictedListener(listener, i, conflict);
    return convertedListener(
      listener,
      i,
      { kind, namespace: object.namespace, labels: object.labels },
      gateway.spec.tls,
      facts,
    );
  });
  const made = listeners.flatMap(({ listener, server, isValid }) =>
    server === undefined || !isValid
      ? []
      : [
          madeConfig<Gateway>(object, {
            kind: 'Gateway',
            namespace: object.namespace,
            name: internalName(object.name, listener.name),
            annotations: marksOf(owner, listener.name),
            creationTime: object.creationTime,
            spec: { servers: [server] },
          }),
        ],
  );
  const places = listeners.filter(({ server, isValid }) => server !== undefined && (isValid || !onlyValid));
  return {
    ...NOTHING,
    gateways: made,
    parents: places.map((listener) => parentOf(owner, listener)),
    services: services.hosts,
    listeners: listeners.map(({ status }) => status),
    ports: [...new Set(places.map(({ listener }) => listener.port))],
    validListeners: listeners.filter(({ isValid }) => isValid).length,
    problems: listeners.flatMap(({ problems }) => problems),
  };
}

/** @see istio/istio pilot/pkg/config/kube/gateway/gateway_collection.go `GatewayCollection` */
export function convertedGateway(
  gateway: Config<KubeGateway>,
  served: ServedClass,
  conflicts: ReadonlyMap<string, ListenerConflict>,
  facts: GatewayFacts,
): ConvertedGateway {
  if (served.isRemote) return { ...NOTHING, isRemote: true };
  const services = gatewayServices(gateway, facts.domainSuffix);
  const unresolved = clientCertificateProblem(gateway, facts);
  const unresolvedPart = unresolved === undefined ? {} : { unresolved };
  const { problem } = services;
  if (services.hosts.length === 0 && problem !== undefined) {
    return { ...NOTHING, ...unresolvedPart, refusal: problem, problems: [problem] };
  }
  const refusal = problem ?? parametersProblem(gateway, facts);
  const listeners = convertedListeners(
    { object: gateway, kind: 'Gateway', gateway, services, conflicts },
    false,
    facts,
  );
  const more = [refusal, unresolved].flatMap((one) => one ?? []);
  return {
    ...listeners,
    ...unresolvedPart,
    ...(refusal && { refusal }),
    problems: [...more, ...listeners.problems],
  };
}

/** @see istio/istio pilot/pkg/config/kube/gateway/gateway_collection.go `ListenerSetCollection` */
export function convertedListenerSet(
  set: Config<KubeListenerSet>,
  gateway: Config<KubeGateway>,
  conflicts: ReadonlyMap<string, ListenerConflict>,
  facts: GatewayFacts,
): ConvertedGateway {
  const services = gatewayServices(gateway, facts.domainSuffix);
  const { problem } = services;
  const refusal = problem && { ...problem, message: `its Gateway is not accepted: ${problem.message}`, path: PARENT };
  if (services.hosts.length === 0 && refusal !== undefined) return { ...NOTHING, refusal, problems: [refusal] };
  const listeners = convertedListeners({ object: set, kind: 'ListenerSet', gateway, services, conflicts }, true, facts);
  return { ...listeners, ...(refusal && { refusal }) };
}

const PARENT = ['spec', 'parentRef'] as const;

/** A ListenerSet of a namespace that its Gateway does not allow. */
export function refusedListenerSet({ namespace, name }: Pick<Config, 'namespace' | 'name'>): ConvertedGateway {
  const message = `Gateway ${namespace}/${name} does not take this ListenerSet: see its "allowedListeners"`;
  const refusal: Problem = { reason: 'NotAllowed', message, path: PARENT };
  return { ...NOTHING, refusal, problems: [refusal] };
}

/**
 * Whether a Gateway takes listeners from a namespace.
 *
 * @param labels of the namespace; undefined: it has no object
 * @see istio/istio pilot/pkg/config/kube/gatewaycommon/gateway_utils.go `NamespaceAcceptedByAllowListeners`
 */
export function allowsListenersOf(
  gateway: Config<KubeGateway>,
  namespace: string,
  labels: Labels | undefined,
): boolean {
  const { from = 'None', selector } = gateway.spec.allowedListeners?.namespaces ?? {};
  if (from === 'All') return true;
  if (from === 'Same') return namespace === gateway.namespace;
  if (from === 'None' || selector === undefined || labels === undefined) return false;
  return matchesSelector(selector, { 'kubernetes.io/metadata.name': namespace, ...labels });
}

function clientCertificateProblem(
  { spec, namespace: own }: Config<KubeGateway>,
  facts: GatewayFacts,
): Problem | undefined {
  const ref = spec.tls?.backend?.clientCertificateRef;
  if (ref === undefined) return undefined;
  const { group = '', kind = 'Secret', name, namespace = own } = ref;
  const path = ['spec', 'tls', 'backend', 'clientCertificateRef'];
  const to = { group, kind, namespace, name };
  if (namespace !== own && !facts.isGranted({ kind: 'Gateway', namespace: own }, to)) {
    const message = `${kind} ${namespace}/${name} may not be used from another namespace: write a ReferenceGrant there`;
    return { reason: 'RefNotPermitted', message, path };
  }
  const isSecret = group === '' && kind === 'Secret';
  const message = isSecret ? facts.certificateProblem(namespace, name) : 'a certificate stands in a Secret';
  return message === undefined ? undefined : { reason: 'InvalidClientCertificateRef', message, path };
}

function parametersProblem({ spec, namespace }: Config<KubeGateway>, facts: GatewayFacts): Problem | undefined {
  const ref = spec.infrastructure?.parametersRef;
  if (ref === undefined) return undefined;
  const path = ['spec', 'infrastructure', 'parametersRef'];
  if (ref.group !== '' || ref.kind !== 'ConfigMap') {
    return { reason: 'InvalidParameters', message: `parameters stand in a ConfigMap, not in a ${ref.kind}`, path };
  }
  if (facts.hasConfigMap(namespace, ref.name)) return undefined;
  return { reason: 'InvalidParameters', message: `there is no ConfigMap "${namespace}/${ref.name}"`, path };
}
