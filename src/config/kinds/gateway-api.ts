import type {
  BackendTlsTarget,
  GatewayAddress,
  KubeBackendTlsPolicy,
  KubeGateway,
  KubeGatewayClass,
  KubeListener,
  KubeListenerSet,
  KubeReferenceGrant,
} from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import {
  KubeGatewayClass as ClassSchema,
  KubeGateway as GatewaySchema,
  KubeListenerSet as ListenerSetSchema,
} from '../schema/gateway-api-gateway.ts';
import {
  KubeReferenceGrant as GrantSchema,
  KubeBackendTlsPolicy as PolicySchema,
} from '../schema/gateway-api-policies.ts';
import { uniqueNames } from './gateway-api-parents.ts';
import { GRPC_ROUTE, HTTP_ROUTE, TCP_ROUTE, TLS_ROUTE } from './gateway-api-routes.ts';
import { isCipherSuite } from './server-tls.ts';

const OBJECT = { group: 'gateway.networking.k8s.io', scope: 'Namespaced', specField: 'spec' } as const;

const HOST_ADDRESS = /^(?:\*\.)?[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/;

const CIPHER_SUITES = 'gateway.istio.io/tls-cipher-suites';

function* listenerFindings(at: Place, { protocol, tls, hostname }: KubeListener): Generator<Finding> {
  const isPlain = ['HTTP', 'TCP', 'UDP'].includes(protocol);
  if (isPlain && tls !== undefined) yield at.at('tls').error(`protocol ${protocol} has no TLS: remove it`);
  if (protocol === 'HTTPS' && tls !== undefined && tls.mode !== 'Terminate') {
    yield at.at('tls', 'mode').error('TLS of protocol HTTPS ends at the gateway: write Terminate, or protocol TLS');
  }
  if (protocol === 'TLS' && tls === undefined) yield at.error('protocol TLS needs "tls"');
  if (['TCP', 'UDP'].includes(protocol) && hostname !== undefined) {
    yield at.at('hostname').error(`protocol ${protocol} knows no host names: remove it`);
  }
  if (!isPlain && tls?.mode === 'Terminate' && tls.certificateRefs === undefined && tls.options === undefined) {
    yield at.at('tls').error('a gateway where TLS ends needs "certificateRefs"');
  }
  for (const suite of tls?.options?.[CIPHER_SUITES]?.split(',').map((name) => name.trim()) ?? []) {
    if (!isCipherSuite(suite))
      yield at.at('tls', 'options', CIPHER_SUITES).warning(`"${suite}" is not known and is ignored`);
  }
}

function* listenersFindings(at: Place, listeners: readonly KubeListener[]): Generator<Finding> {
  yield* uniqueNames(at, listeners, 'listener');
  const seen = new Set<string>();
  for (const [i, listener] of listeners.entries()) {
    yield* listenerFindings(at.at(i), listener);
    const place = `${listener.port} ${listener.protocol} ${listener.hostname ?? ''}`;
    if (seen.has(place)) yield at.at(i).error('a listener with this port, protocol and hostname stands before');
    seen.add(place);
  }
}

function* addressFindings(at: Place, addresses: readonly GatewayAddress[]): Generator<Finding> {
  const seen = new Set<string>();
  for (const [i, { type, value }] of addresses.entries()) {
    if (value === undefined) continue;
    if (type === 'Hostname' && !HOST_ADDRESS.test(value)) yield at.at(i, 'value').error(`"${value}" is no host name`);
    if (seen.has(`${type} ${value}`)) yield at.at(i, 'value').error(`"${value}" stands before: remove it`);
    seen.add(`${type} ${value}`);
  }
}

export const GATEWAY_CLASS: KindDefinition<KubeGatewayClass> = defineKind({
  ...OBJECT,
  scope: 'Cluster',
  versions: ['v1', 'v1beta1'],
  kind: 'GatewayClass',
  plural: 'gatewayclasses',
  schema: ClassSchema,
});

export const KUBERNETES_GATEWAY: KindDefinition<KubeGateway> = defineKind({
  ...OBJECT,
  versions: ['v1', 'v1beta1'],
  kind: 'Gateway',
  plural: 'gateways',
  schema: GatewaySchema,
  *validate({ spec: { listeners, addresses = [], tls }, at }) {
    yield* listenersFindings(at('listeners'), listeners);
    yield* addressFindings(at('addresses'), addresses);
    const ports = new Set<number>();
    for (const [i, { port }] of (tls?.frontend?.perPort ?? []).entries()) {
      if (ports.has(port)) yield at('tls', 'frontend', 'perPort', i, 'port').error(`port ${port} stands before`);
      ports.add(port);
    }
  },
});

export const LISTENER_SET: KindDefinition<KubeListenerSet> = defineKind({
  ...OBJECT,
  versions: ['v1'],
  kind: 'ListenerSet',
  plural: 'listenersets',
  schema: ListenerSetSchema,
  *validate({ spec: { listeners }, at }) {
    yield* listenersFindings(at('listeners'), listeners);
  },
});

export const REFERENCE_GRANT: KindDefinition<KubeReferenceGrant> = defineKind({
  ...OBJECT,
  versions: ['v1', 'v1beta1'],
  kind: 'ReferenceGrant',
  plural: 'referencegrants',
  schema: GrantSchema,
});

function* targetFindings(at: Place, targets: readonly BackendTlsTarget[]): Generator<Finding> {
  for (const [i, target] of targets.entries()) {
    const { group, kind, name, sectionName } = target;
    const others = targets.slice(0, i).filter((t) => t.group === group && t.kind === kind && t.name === name);
    if (others.some((other) => (other.sectionName === undefined) !== (sectionName === undefined))) {
      yield at.at(i).error(`"${name}" stands before: each target of it needs "sectionName"`);
    } else if (others.some((other) => other.sectionName === sectionName)) {
      yield at.at(i).error(`this part of "${name}" stands before: remove one of the targets`);
    }
  }
}

export const BACKEND_TLS_POLICY: KindDefinition<KubeBackendTlsPolicy> = defineKind({
  ...OBJECT,
  versions: ['v1', 'v1alpha3'],
  kind: 'BackendTLSPolicy',
  plural: 'backendtlspolicies',
  schema: PolicySchema,
  *validate({ spec: { targetRefs, validation }, at }) {
    yield* targetFindings(at('targetRefs'), targetRefs);
    const { caCertificateRefs, wellKnownCACertificates, subjectAltNames = [] } = validation;
    const place = at('validation');
    if (caCertificateRefs !== undefined && wellKnownCACertificates !== undefined) {
      yield place.at('wellKnownCACertificates').error('excludes caCertificateRefs: keep the one that you mean');
    }
    if (caCertificateRefs === undefined && wellKnownCACertificates === undefined) {
      yield place.error('needs "caCertificateRefs" or "wellKnownCACertificates: System"');
    }
    for (const [i, { type, hostname, uri }] of subjectAltNames.entries()) {
      const name = place.at('subjectAltNames', i);
      const [wanted, other] = type === 'Hostname' ? ([hostname, uri] as const) : ([uri, hostname] as const);
      if (wanted === undefined)
        yield name.error(`a name of type ${type} needs "${type === 'URI' ? 'uri' : 'hostname'}"`);
      if (other !== undefined)
        yield name.error(`a name of type ${type} has no "${type === 'URI' ? 'hostname' : 'uri'}"`);
    }
  },
});

/** Kinds of the Gateway API, with the rules of its CRDs (gateway.networking.k8s.io, `x-kubernetes-validations`). */
export const GATEWAY_API_KINDS: readonly KindDefinition[] = [
  GATEWAY_CLASS,
  KUBERNETES_GATEWAY,
  LISTENER_SET,
  HTTP_ROUTE,
  GRPC_ROUTE,
  TLS_ROUTE,
  TCP_ROUTE,
  REFERENCE_GRANT,
  BACKEND_TLS_POLICY,
];
