import type { KubeGateway, KubeListener, NamespaceSelector, Server } from '#generated/config/specs.ts';
import type { Path } from '../../config/finding.ts';
import type { Problem } from '../problem.ts';
import { type Condition, fails, holds, unless } from './conditions.ts';
import { AUTHORITY_REASONS, type CertificateFacts, type ListenerOwner, listenerTls } from './listener-tls.ts';
import { GATEWAY_API } from './references.ts';

export interface ListenerFacts extends CertificateFacts {
  /** Names of the namespaces that have such labels, sorted. */
  namespaces(selector: NamespaceSelector): readonly string[];
}

/** What became of a listener. */
export interface ListenerStatus {
  readonly name: string;
  readonly supportedKinds: readonly { readonly group: string; readonly kind: string }[];
  readonly conditions: readonly Condition[];
}

export interface ConvertedListener {
  readonly listener: KubeListener;
  readonly kinds: readonly string[];
  /** Absent where there is nothing to make a server of. */
  readonly server?: Server;
  /** It is served; else routes may be attached to it, and nothing more. */
  readonly isValid: boolean;
  readonly status: ListenerStatus;
  readonly problems: readonly Problem[];
}

/** Why a listener has to make way for another one of its Gateway. */
export interface ListenerConflict {
  readonly reason: 'ProtocolConflict' | 'HostnameConflict';
  /** `Kind namespace/name listener` of the other one. */
  readonly by: string;
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  HTTP: ['HTTPRoute', 'GRPCRoute'],
  HTTPS: ['HTTPRoute', 'GRPCRoute'],
  TCP: ['TCPRoute'],
};

/** Kinds of routes that may attach, and whether all that are asked for can. */
function supportedKinds({ protocol, tls, allowedRoutes }: KubeListener): readonly [readonly string[], boolean] {
  const ofTls = tls?.mode === 'Terminate' ? ['TLSRoute', 'TCPRoute'] : ['TLSRoute'];
  const supported = protocol === 'TLS' ? ofTls : (KINDS[protocol] ?? []);
  const asked = allowedRoutes?.kinds;
  if (asked === undefined) return [supported, true];
  const kinds = supported.filter((name) => asked.some(({ group, kind }) => kind === name && group === GATEWAY_API));
  return [kinds, kinds.length === asked.length];
}

/** `namespace/host` for each namespace from which routes may attach. A `~` stands for none: the place is kept all the same. */
function serverHosts(
  { hostname = '*', allowedRoutes }: KubeListener,
  own: string,
  facts: ListenerFacts,
): readonly string[] {
  const { from = 'Same', selector } = allowedRoutes?.namespaces ?? {};
  const chosen =
    from === 'Same' ? [own] : from === 'All' || selector === undefined ? ['*'] : facts.namespaces(selector);
  return chosen.length === 0 ? [`~/${hostname}`] : chosen.map((namespace) => `${namespace}/${hostname}`);
}

const PROTOCOLS: readonly string[] = ['HTTP', 'HTTPS', 'TLS', 'TCP'];

function protocolProblem({ protocol }: KubeListener, path: Path): Problem | undefined {
  if (PROTOCOLS.includes(protocol)) return undefined;
  const near = PROTOCOLS.find((known) => known === protocol.toUpperCase());
  const advice = near === undefined ? `write one of ${PROTOCOLS.join(', ')}` : `did you mean "${near}"?`;
  const message = `protocol "${protocol}" is not served here: ${advice}`;
  return { reason: 'UnsupportedProtocol', message, path: [...path, 'protocol'] };
}

/** @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `buildListener` */
export function convertedListener(
  listener: KubeListener,
  index: number,
  owner: ListenerOwner,
  gatewayTls: KubeGateway['tls'],
  facts: ListenerFacts,
): ConvertedListener {
  const path = ['spec', 'listeners', index];
  const [kinds, allKinds] = supportedKinds(listener);
  const { settings, problems: ofTls } = listenerTls(listener, path, owner, gatewayTls, facts);
  const [tlsProblem] = ofTls;
  const lacksTls = listener.tls === undefined && ['HTTPS', 'TLS'].includes(listener.protocol);
  const missing = lacksTls ? missingTls(listener, owner, path) : undefined;
  const protocol = protocolProblem(listener, path) ?? (owner.kind === 'ListenerSet' ? missing : undefined);
  const kindsProblem = allKinds ? undefined : unsupportedKinds(listener, kinds, path);
  const authority = ofTls.find(({ reason }) => AUTHORITY_REASONS.has(reason));
  const accepted = protocol ?? (authority && { ...authority, reason: 'NoValidCACertificate' });
  const incomplete = tlsProblem ?? (protocol && missing);
  const badTls = incomplete && { reason: 'Invalid', message: `its TLS is not complete: ${incomplete.message}` };
  const conditions: readonly Condition[] = [
    unless('Accepted', accepted, 'the listener is right'),
    fails('Conflicted', 'NoConflicts', 'no other listener has its place'),
    unless('Programmed', badTls, 'the listener is served'),
    unless('ResolvedRefs', kindsProblem ?? tlsProblem, 'all that it refers to is there'),
  ];
  const port = { name: 'default', number: listener.port, protocol: listener.protocol };
  const server: Server = {
    port,
    hosts: serverHosts(listener, owner.namespace, facts),
    ...(settings && { tls: settings }),
  };
  return {
    listener,
    kinds,
    ...(lacksTls ? {} : { server }),
    isValid: tlsProblem === undefined && protocol === undefined,
    status: { name: listener.name, supportedKinds: kinds.map(ofGatewayApi), conditions },
    problems: [...ofTls, protocol ?? missing, kindsProblem].flatMap((problem) => problem ?? []),
  };
}

function ofGatewayApi(kind: string): ListenerStatus['supportedKinds'][number] {
  return { group: GATEWAY_API, kind };
}

/** A Gateway may leave TLS to its ListenerSets, which need it. */
function missingTls({ protocol }: KubeListener, { kind }: ListenerOwner, path: Path): Problem {
  const reason = kind === 'ListenerSet' ? 'UnsupportedProtocol' : 'NotServed';
  return { reason, message: `nothing is served here, as protocol ${protocol} needs "tls"`, path };
}

function unsupportedKinds({ protocol }: KubeListener, kinds: readonly string[], path: Path): Problem {
  const message = `routes of other kinds can not attach to protocol ${protocol}: ${kinds.join(', ') || 'none of these'}`;
  return { reason: 'InvalidRouteKinds', message, path: [...path, 'allowedRoutes', 'kinds'] };
}

/** A listener whose place another one has. */
export function conflictedListener(
  listener: KubeListener,
  index: number,
  { reason, by }: ListenerConflict,
): ConvertedListener {
  const [kinds, allKinds] = supportedKinds(listener);
  const path = ['spec', 'listeners', index];
  const what = reason === 'HostnameConflict' ? 'the same hostname on this port' : 'this port with another protocol';
  const message = `is not served, as ${by} has ${what}`;
  const kindsProblem = allKinds ? undefined : unsupportedKinds(listener, kinds, path);
  return {
    listener,
    kinds,
    isValid: false,
    status: {
      name: listener.name,
      supportedKinds: kinds.map(ofGatewayApi),
      conditions: [
        fails('Accepted', reason, message),
        holds('Conflicted', message, reason),
        fails('Programmed', reason, message),
        ...(kindsProblem ? [fails('ResolvedRefs', kindsProblem.reason, kindsProblem.message)] : []),
      ],
    },
    problems: [{ reason, message, path }],
  };
}
