import type { ParentReference } from '#generated/config/specs.ts';
import { type Hostname, hostsOverlap, isSubsetOfHost, isWildcardHost } from '../../base/host.ts';
import { compareStrings } from '../../base/order.ts';
import type { Config } from '../../config/config.ts';
import type { Problem } from '../problem.ts';
import { GATEWAY_API } from './references.ts';

/** What of a listener decides which routes it takes. */
export interface ParentListener {
  /** `namespace/name` of the Gateway that is made of it. */
  readonly gateway: string;
  readonly section: string;
  readonly port: number;
  readonly protocol: string;
  /** Kinds of routes. */
  readonly kinds: readonly string[];
  /** `namespace/host` for routes of that namespace, `*` for all of them, `~` for none. */
  readonly hosts: readonly string[];
  /** As written; empty when it has none. */
  readonly hostname: Hostname;
}

/** The part of a route that says what it is attached to. */
export interface AttachedRoute {
  readonly parentRefs?: readonly ParentReference[];
  readonly hostnames?: readonly Hostname[];
}

export type DeniedReason = 'NoMatchingParent' | 'NotAllowedByListeners' | 'NoMatchingListenerHostname';

/** A route at one listener, or, without a listener, at a service inside the mesh. */
export interface Attachment {
  /** Which of the route's `parentRefs`. */
  readonly index: number;
  readonly ref: ParentReference;
  readonly listener?: ParentListener;
  readonly denied?: { readonly reason: DeniedReason; readonly message: string };
  /** Hostnames of the other listeners of the port. */
  readonly others: readonly Hostname[];
}

export interface ParentFacts {
  /** Of a Gateway or ListenerSet, in order; undefined where there is none, or somebody else serves it. */
  listeners(kind: 'Gateway' | 'ListenerSet', namespace: string, name: string): readonly ParentListener[] | undefined;
  hasService(namespace: string, name: string): boolean;
  /** Hosts of a ServiceEntry; undefined: there is none. */
  entryHosts(namespace: string, name: string): readonly Hostname[] | undefined;
  /** Whether a waypoint that somebody else serves stands before the service. */
  isServedElsewhere(kind: 'Service' | 'ServiceEntry', namespace: string, name: string): boolean;
}

export type ParentKind = 'Gateway' | 'ListenerSet' | 'Service' | 'ServiceEntry';

const GROUPS: Readonly<Record<ParentKind, string>> = {
  Gateway: GATEWAY_API,
  ListenerSet: GATEWAY_API,
  Service: '',
  ServiceEntry: 'networking.istio.io',
};

/** Undefined for what can be no parent here. */
export function parentKind({ group = GATEWAY_API, kind = 'Gateway' }: ParentReference): ParentKind | undefined {
  const known = Object.hasOwn(GROUPS, kind) ? (kind as ParentKind) : undefined;
  return known !== undefined && GROUPS[known] === group ? known : undefined;
}

function text(
  { group = '', kind = '', name, namespace, sectionName = '', port = 0 }: ParentReference,
  own: string,
): string {
  return `${group}/${kind}/${name}/${sectionName}/${port}.${namespace ?? own}`;
}

/**
 * What a route is attached to: every listener of a Gateway that it refers to, with the reason where one does not take it.
 * @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `extractParentReferenceInfo`
 */
export function attachmentsOf(
  { kind, namespace, spec }: Pick<Config<AttachedRoute>, 'kind' | 'namespace' | 'spec'>,
  facts: ParentFacts,
): readonly Attachment[] {
  const attachments = (spec.parentRefs ?? []).flatMap((ref, index): readonly Attachment[] => {
    const parent = parentKind(ref);
    const owner = ref.namespace ?? namespace;
    if (parent === undefined) return [];
    if (parent === 'Service' || parent === 'ServiceEntry') {
      if (facts.isServedElsewhere(parent, owner, ref.name)) return [];
      const denied = deniedByService(parent, owner, ref.name, facts);
      return [{ index, ref, others: [], ...(denied && { denied }) }];
    }
    const listeners = facts.listeners(parent, owner, ref.name) ?? [];
    return listeners.map((listener) => {
      const denied = deniedByListener({ kind, namespace, hostnames: spec.hostnames ?? ['*'] }, ref, listener);
      return { index, ref, listener, others: otherHostnames(listener, listeners), ...(denied && { denied }) };
    });
  });
  return attachments.sort((a, b) => compareStrings(text(a.ref, namespace), text(b.ref, namespace)));
}

/** Those that hold, in order of Gateways. */
export function accepted(attachments: readonly Attachment[]): readonly Attachment[] {
  return attachments
    .filter(({ denied }) => denied === undefined)
    .sort((a, b) => compareStrings(a.listener?.gateway ?? 'mesh', b.listener?.gateway ?? 'mesh'));
}

function otherHostnames(own: ParentListener, all: readonly ParentListener[]): readonly Hostname[] {
  const rivals = all.filter(
    (other) =>
      other !== own && other.port === own.port && other.protocol === own.protocol && other.hostname !== own.hostname,
  );
  return [...new Set(rivals.map(({ hostname }) => hostname))];
}

type Denied = NonNullable<Attachment['denied']>;

function deniedByService(
  kind: 'Service' | 'ServiceEntry',
  namespace: string,
  name: string,
  facts: ParentFacts,
): Denied | undefined {
  const isKnown =
    kind === 'Service' ? facts.hasService(namespace, name) : facts.entryHosts(namespace, name) !== undefined;
  return isKnown ? undefined : { reason: 'NoMatchingParent', message: `there is no ${kind} "${namespace}/${name}"` };
}

interface AskingRoute {
  readonly kind: string;
  readonly namespace: string;
  readonly hostnames: readonly Hostname[];
}

function deniedByListener(
  { kind, namespace, hostnames }: AskingRoute,
  { port, sectionName }: ParentReference,
  listener: ParentListener,
): Denied | undefined {
  if (port !== undefined && port !== listener.port) {
    return { reason: 'NoMatchingParent', message: `no listener has the port ${port}` };
  }
  if (sectionName !== undefined && sectionName !== listener.section) {
    return { reason: 'NoMatchingParent', message: `there is no listener "${sectionName}"` };
  }
  const matching = listener.hosts.filter((host) => {
    const own = host.slice(host.indexOf('/') + 1);
    return hostnames.some((hostname) => hostsOverlap(own, hostname));
  });
  if (matching.length === 0) {
    const message = `the listener "${listener.section}" serves "${listener.hostname}", which is none of the route's hostnames`;
    return { reason: 'NoMatchingListenerHostname', message };
  }
  const isOpen = matching.some((host) => !host.includes('/') || ['*', namespace].includes(host.split('/', 1)[0] ?? ''));
  if (!isOpen) {
    const message = `the listener "${listener.section}" takes no routes of the namespace ${namespace}: see its "allowedRoutes"`;
    return { reason: 'NotAllowedByListeners', message };
  }
  if (listener.kinds.includes(kind)) return undefined;
  return { reason: 'NotAllowedByListeners', message: `the listener "${listener.section}" takes no ${kind}` };
}

/**
 * Whether a listener serves a host of a route that is attached to it: not where another listener of the port is more specific.
 * @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `hostnameAllowedByIsolation`
 */
export function servesHost({ listener, others }: Attachment, host: Hostname): boolean {
  const own = listener?.hostname ?? '';
  if (own !== '' && !isWildcardHost(own)) return true;
  if (own !== '' && !hostsOverlap(host, own)) return false;
  return !others.some((other) => own.length <= other.length && isSubsetOfHost(host, other));
}

/** Of the reasons why no listener of a parent takes a route that which comes nearest. */
const NEAREST = ['NotAllowedByListeners', 'NoMatchingListenerHostname', 'NoMatchingParent'] as const;

/**
 * Why a reference of a route holds nowhere; undefined where it does, or where nobody knows the parent.
 *
 * @param index which of the route's `parentRefs`
 */
export function deniedParent(index: number, attachments: readonly Attachment[]): Problem | undefined {
  const own = attachments.filter((attachment) => attachment.index === index);
  if (own.length === 0 || own.some(({ denied }) => denied === undefined)) return undefined;
  const reasons = own.flatMap(({ denied }) => denied ?? []);
  const nearest = NEAREST.flatMap((reason) => reasons.find((denied) => denied.reason === reason) ?? [])[0];
  return nearest && { ...nearest, path: ['spec', 'parentRefs', index] };
}
