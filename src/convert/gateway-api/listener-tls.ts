import type {
  FrontendTls,
  GatewayObjectReference,
  KubeGateway,
  KubeListener,
  ListenerTls,
  SecretObjectReference,
  ServerTLSSettings,
} from '#generated/config/specs.ts';
import type { Labels } from '../../base/labels.ts';
import type { Path } from '../../config/finding.ts';
import { DEFAULT_GATEWAY_PORT, GATEWAY_PORT_LABEL, NETWORK_LABEL } from '../../config/network-labels.ts';
import type { Problem } from '../problem.ts';
import type { Referent, Referrer } from './references.ts';

/** What decides which certificates a listener has. */
export interface CertificateFacts {
  isGranted(from: Referrer, to: Referent): boolean;
  /** Why a Secret holds no certificate with its key; undefined: it does. */
  certificateProblem(namespace: string, name: string): string | undefined;
  /** Why a Secret or ConfigMap holds no certificates of authorities; undefined: it does. */
  authorityProblem(kind: 'Secret' | 'ConfigMap', namespace: string, name: string): string | undefined;
}

/** The object whose listener it is. */
export interface ListenerOwner {
  readonly kind: 'Gateway' | 'ListenerSet';
  readonly namespace: string;
  readonly labels: Labels;
}

/** TLS of a listener. With problems nothing is served, but for those of certificates beside one that is right. */
export interface ServerTls {
  readonly settings?: ServerTLSSettings;
  readonly problems: readonly Problem[];
}

const MODE_OPTION = 'gateway.istio.io/tls-terminate-mode';
const CIPHERS_OPTION = 'gateway.istio.io/tls-cipher-suites';
const LISTENER_OPTION = 'gateway.istio.io/listener-protocol';
/** One each for RSA and ECDSA. */
const MAX_CERTIFICATES = 2;

/** Reasons for which a listener is not accepted; with others it is, but not served. */
export const AUTHORITY_REASONS: ReadonlySet<string> = new Set([
  'InvalidCACertificateRef',
  'InvalidCACertificateKind',
  'RefNotPermitted',
]);

/** A gateway between networks passes on the mesh's own TLS. @see istio/istio pilot/pkg/serviceregistry/kube/conversion.go `IsAutoPassthrough` */
export function passesMeshTls({ tls, port }: KubeListener, labels: Labels): boolean {
  if (tls?.options?.[LISTENER_OPTION] === 'auto-passthrough') return true;
  return NETWORK_LABEL in labels && String(port) === (labels[GATEWAY_PORT_LABEL] ?? String(DEFAULT_GATEWAY_PORT));
}

/** How clients at a port show who they are. */
function frontendOf(
  { frontend }: NonNullable<KubeGateway['tls']>,
  port: number,
): readonly [FrontendTls, Path] | undefined {
  if (frontend === undefined) return undefined;
  const index = (frontend.perPort ?? []).findIndex((one) => one.port === port);
  const own = frontend.perPort?.[index];
  const path = ['spec', 'tls', 'frontend'];
  return own === undefined ? [frontend.default, [...path, 'default']] : [own.tls, [...path, 'perPort', index, 'tls']];
}

function secretProblem(
  ref: SecretObjectReference,
  path: Path,
  owner: ListenerOwner,
  facts: CertificateFacts,
): Problem | undefined {
  const { group = '', kind = 'Secret', name, namespace = owner.namespace } = ref;
  const to = { group, kind, namespace, name };
  if (namespace !== owner.namespace && !facts.isGranted(owner, to)) return notPermitted(to, path, owner);
  const wrong =
    group !== '' || kind !== 'Secret'
      ? `a certificate stands in a Secret, not in a ${kind} of "${group}"`
      : facts.certificateProblem(namespace, name);
  return wrong === undefined ? undefined : { reason: 'InvalidCertificateRef', message: wrong, path };
}

function notPermitted({ kind, namespace, name }: Referent, path: Path, owner: ListenerOwner): Problem {
  const grant = `write a ReferenceGrant in ${namespace} from ${owner.kind} in ${owner.namespace} to ${kind}`;
  const message = `${kind} ${namespace}/${name} may not be used from another namespace: ${grant}`;
  return { reason: 'RefNotPermitted', message, path };
}

/** The name of the authorities, or why there are none. */
function authorities(
  refs: readonly GatewayObjectReference[],
  path: Path,
  owner: ListenerOwner,
  facts: CertificateFacts,
): { readonly credential: string } | { readonly problem: Problem } {
  const [ref, second] = refs;
  const at = [...path, 0];
  const problem = (reason: string, message: string) => ({ problem: { reason, message, path: at } });
  if (ref === undefined || second !== undefined)
    return problem('InvalidCACertificateRef', 'only one reference is read');
  const { group, kind, name, namespace = owner.namespace } = ref;
  const to = { group, kind, namespace, name };
  if (namespace !== owner.namespace && !facts.isGranted(owner, to)) return { problem: notPermitted(to, at, owner) };
  if (group !== '' || (kind !== 'Secret' && kind !== 'ConfigMap')) {
    const message = `authorities stand in a ConfigMap or Secret, not in a ${kind} of "${group}"`;
    return problem('InvalidCACertificateKind', message);
  }
  const wrong = facts.authorityProblem(kind, namespace, name);
  if (wrong !== undefined) return problem('InvalidCACertificateRef', wrong);
  const type = kind === 'Secret' ? 'kubernetes-gateway' : 'configmap';
  return { credential: `${type}://${namespace}/${name}-cacert` };
}

function ciphers({ options = {} }: ListenerTls): Pick<ServerTLSSettings, 'cipherSuites'> {
  const suites = (options[CIPHERS_OPTION] ?? '')
    .split(',')
    .map((suite) => suite.trim())
    .filter((suite) => suite !== '');
  return suites.length === 0 ? {} : { cipherSuites: suites };
}

/**
 * TLS as a listener asks for it.
 *
 * @param path of the listener
 * @see istio/istio pilot/pkg/config/kube/gateway/conversion.go `buildTLS`
 */
export function listenerTls(
  listener: KubeListener,
  path: Path,
  owner: ListenerOwner,
  gatewayTls: KubeGateway['tls'],
  facts: CertificateFacts,
): ServerTls {
  const { tls, port } = listener;
  if (tls === undefined) return { problems: [] };
  if (tls.mode === 'Passthrough') {
    const mode = passesMeshTls(listener, owner.labels) ? 'AUTO_PASSTHROUGH' : 'PASSTHROUGH';
    return { settings: { mode, ...ciphers(tls) }, problems: [] };
  }
  const asked = tls.options?.[MODE_OPTION];
  if (asked === 'ISTIO_SIMPLE') return { settings: { mode: 'SIMPLE', credentialName: 'builtin://' }, problems: [] };
  if (asked === 'ISTIO_MUTUAL') return { settings: { mode: 'ISTIO_MUTUAL' }, problems: [] };
  const refs = tls.certificateRefs ?? [];
  const refsPath = [...path, 'tls', 'certificateRefs'];
  if (refs.length > MAX_CERTIFICATES) {
    const message = `at most ${MAX_CERTIFICATES} certificates can be served: one each for RSA and ECDSA`;
    return { problems: [{ reason: 'InvalidCertificateRef', message, path: refsPath }] };
  }
  const wrong = refs.map((ref, i) => secretProblem(ref, [...refsPath, i], owner, facts));
  const names = refs.flatMap(({ name, namespace = owner.namespace }, i) =>
    wrong[i] === undefined ? [`kubernetes-gateway://${namespace}/${name}`] : [],
  );
  const [only = ''] = names;
  const settings: ServerTLSSettings = {
    mode: asked === 'MUTUAL' || asked === 'OPTIONAL_MUTUAL' ? asked : 'SIMPLE',
    ...(names.length > 1 ? { credentialNames: names } : { credentialName: only }),
    ...ciphers(tls),
  };
  if (names.length === 0) return { settings, problems: wrong.flatMap((one) => one ?? []) };
  const [frontend, frontendPath = []] = (gatewayTls && frontendOf(gatewayTls, port)) ?? [];
  const { validation } = frontend ?? {};
  if (validation === undefined) return { settings, problems: [] };
  const refPath = [...frontendPath, 'validation', 'caCertificateRefs'];
  const found = authorities(validation.caCertificateRefs, refPath, owner, facts);
  if ('problem' in found) return { settings, problems: [found.problem] };
  const isLax = validation.mode === 'AllowInsecureFallback';
  const mode = asked === 'MUTUAL' || asked === 'OPTIONAL_MUTUAL' ? asked : isLax ? 'OPTIONAL_MUTUAL' : 'MUTUAL';
  const skipsVerification = isLax && mode !== asked;
  return {
    settings: { ...settings, mode, caCertCredentialName: found.credential, insecureSkipVerify: skipsVerification },
    problems: [],
  };
}
