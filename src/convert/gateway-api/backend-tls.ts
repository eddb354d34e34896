import type {
  BackendTlsTarget,
  ClientTLSSettings,
  DestinationRule,
  KubeBackendTlsPolicy,
  TrafficPolicy,
} from '#generated/config/specs.ts';
import type { Hostname } from '../../base/host.ts';
import { compareStrings } from '../../base/order.ts';
import type { Config } from '../../config/config.ts';
import { MARKS } from '../../config/marks.ts';
import { KUBERNETES_GATEWAY, madeConfig } from '../made-config.ts';
import type { Problem } from '../problem.ts';

/** A port of a service, as its object names it. */
export interface NamedPort {
  readonly name: string;
  readonly number: number;
}

/** A Service or ServiceEntry. */
export interface TargetService {
  readonly hosts: readonly Hostname[];
  readonly ports: readonly NamedPort[];
}

export interface BackendTlsFacts {
  /** Undefined: there is none. */
  target(kind: 'Service' | 'ServiceEntry', namespace: string, name: string): TargetService | undefined;
  /** Why a ConfigMap holds no certificates of authorities; undefined: it does. */
  authorityProblem(kind: 'ConfigMap', namespace: string, name: string): string | undefined;
}

/** TLS for one host of a service, or one port of it. */
export interface HostTls {
  readonly kind: 'Service' | 'ServiceEntry';
  readonly name: string;
  readonly host: Hostname;
  /** Absent: all ports. */
  readonly port?: number;
  readonly tls: ClientTLSSettings;
}

/** What became of one target: the reason where nothing is done. */
export interface TargetStatus {
  readonly target: BackendTlsTarget;
  readonly problem?: Problem;
}

export interface ConvertedBackendTls {
  readonly hosts: readonly HostTls[];
  readonly targets: readonly TargetStatus[];
  /** The policy holds, but nothing is trusted. */
  readonly unresolved?: Problem;
  /** An annotation of it says so. */
  readonly isIgnored?: true;
}

const IGNORE = 'istio.io/ignore-policy-attachment';
const NOTHING_TRUSTED = 'invalid://';

const GROUPS: Readonly<Record<HostTls['kind'], string>> = { Service: '', ServiceEntry: 'networking.istio.io' };

function targetKind({ group, kind }: BackendTlsTarget): HostTls['kind'] | undefined {
  if (kind !== 'Service' && kind !== 'ServiceEntry') return undefined;
  return GROUPS[kind] === group ? kind : undefined;
}

interface Trust {
  readonly credentialName?: string;
  readonly problem?: Problem;
}

/** Authorities that are trusted. Where they can not be had nothing is, so that no request goes to who knows whom. */
function trustOf({ spec, namespace }: Config<KubeBackendTlsPolicy>, facts: BackendTlsFacts): Trust {
  const { caCertificateRefs: [ref] = [], wellKnownCACertificates } = spec.validation;
  const at = ['spec', 'validation'];
  if (wellKnownCACertificates !== undefined && wellKnownCACertificates !== 'System') {
    const message = `"${wellKnownCACertificates}" is not known here: write System, or caCertificateRefs`;
    return { problem: { reason: 'Invalid', message, path: [...at, 'wellKnownCACertificates'] } };
  }
  if (ref === undefined) return {};
  const path = [...at, 'caCertificateRefs', 0];
  const untrusted = (reason: string, message: string): Trust => ({
    credentialName: NOTHING_TRUSTED,
    problem: { reason, message, path },
  });
  if (ref.group !== '' || ref.kind !== 'ConfigMap') {
    return untrusted('InvalidKind', `authorities stand in a ConfigMap, not in a ${ref.kind}; nothing is trusted`);
  }
  const wrong = facts.authorityProblem('ConfigMap', namespace, ref.name);
  if (wrong !== undefined) return untrusted('InvalidCACertificateRef', `${wrong}; nothing is trusted`);
  return { credentialName: `configmap://${namespace}/${ref.name}` };
}

function isIgnored({ annotations }: Config): boolean {
  return annotations[IGNORE]?.toLowerCase() === 'true';
}

/**
 * A BackendTLSPolicy.
 *
 * @param rivals policies of its namespace that come first where they have the same target
 * @see istio/istio pilot/pkg/config/kube/gateway/backend_policies.go `BackendTLSPolicyCollection`
 */
export function convertedBackendTls(
  policy: Config<KubeBackendTlsPolicy>,
  rivals: readonly Config<KubeBackendTlsPolicy>[],
  facts: BackendTlsFacts,
): ConvertedBackendTls {
  const { spec, namespace } = policy;
  if (isIgnored(policy)) return { hosts: [], targets: spec.targetRefs.map((target) => ({ target })), isIgnored: true };
  const { hostname, subjectAltNames = [] } = spec.validation;
  const trust = trustOf(policy, facts);
  const names = subjectAltNames.flatMap(({ type, hostname: host, uri }) => (type === 'Hostname' ? host : uri) ?? []);
  const tls: ClientTLSSettings = {
    mode: 'SIMPLE',
    sni: hostname,
    ...(names.length > 0 && { subjectAltNames: names }),
    ...(trust.credentialName && { credentialName: trust.credentialName }),
  };
  const hosts: HostTls[] = [];
  const targets = spec.targetRefs.map((target, i): TargetStatus => {
    const path = ['spec', 'targetRefs', i];
    const problem = (reason: string, message: string) => ({ target, problem: { reason, message, path } });
    const kind = targetKind(target);
    if (kind === undefined) return problem('TargetNotFound', `a ${target.kind} of "${target.group}" can have no TLS`);
    const service = facts.target(kind, namespace, target.name);
    if (service === undefined) return problem('TargetNotFound', `there is no ${kind} "${namespace}/${target.name}"`);
    const port = service.ports.find(({ name }) => name === target.sectionName)?.number;
    if (target.sectionName !== undefined && port === undefined) {
      return problem('TargetNotFound', `${kind} ${namespace}/${target.name} has no port "${target.sectionName}"`);
    }
    const rival = rivals.find(
      (other) => !isIgnored(other) && other.spec.targetRefs.some((theirs) => isSameTarget(theirs, target)),
    );
    if (rival !== undefined)
      return problem('Conflicted', `BackendTLSPolicy ${rival.name} has this target, and is older`);
    const { name } = target;
    hosts.push(...service.hosts.map((host) => ({ kind, name, host, tls, ...(port !== undefined && { port }) })));
    return { target };
  });
  return { hosts, targets, ...(trust.problem && { unresolved: trust.problem }) };
}

function isSameTarget(a: BackendTlsTarget, b: BackendTlsTarget): boolean {
  return a.group === b.group && a.kind === b.kind && a.name === b.name && a.sectionName === b.sectionName;
}

/** Older policies first, then by name: of two with the same target the first one holds. */
export function comparePolicies(
  a: Pick<Config, 'creationTime' | 'name'>,
  b: Pick<Config, 'creationTime' | 'name'>,
): number {
  return a.creationTime - b.creationTime || compareStrings(a.name, b.name);
}

/** What policies say of one host. */
export interface PolicyOfHost {
  readonly policy: Config;
  readonly parts: readonly HostTls[];
}

/** Of a service, by the names of its objects, so that each host has its own. */
export function backendRuleName({ kind, name, host }: Pick<HostTls, 'kind' | 'name' | 'host'>): string {
  return `${kind === 'Service' ? name : `${name}~${host.replaceAll('.', '-')}`}~${KUBERNETES_GATEWAY}`;
}

/**
 * The DestinationRule of a host with TLS.
 *
 * @param policies at least one, in order
 * @see istio/istio pilot/pkg/config/kube/gateway/backend_policies.go `DestinationRuleCollection`
 */
export function backendTlsRule(policies: readonly PolicyOfHost[]): Config<DestinationRule> | undefined {
  const [first] = policies;
  const [part] = first?.parts ?? [];
  if (first === undefined || part === undefined) return undefined;
  const ports = new Map<number, ClientTLSSettings>();
  let whole: ClientTLSSettings | undefined;
  for (const { port, tls } of policies.flatMap(({ parts }) => parts)) {
    if (port === undefined) whole ??= tls;
    else if (!ports.has(port)) ports.set(port, tls);
  }
  const portLevelSettings = [...ports].sort(([a], [b]) => a - b).map(([number, tls]) => ({ port: { number }, tls }));
  const trafficPolicy: TrafficPolicy = {
    ...(whole && { tls: whole }),
    ...(portLevelSettings.length > 0 && { portLevelSettings }),
  };
  const parents = policies.map(({ policy }) => `BackendTLSPolicy/${policy.namespace}.${policy.name}`);
  return madeConfig(first.policy, {
    kind: 'DestinationRule',
    namespace: first.policy.namespace,
    name: backendRuleName(part),
    annotations: { [MARKS.parents]: parents.join() },
    spec: { host: part.host, trafficPolicy },
  });
}
