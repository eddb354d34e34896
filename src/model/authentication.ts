import type { MutualTLS, PeerAuthentication } from '#generated/config/specs.ts';
import { type Labels, selects } from '../base/labels.ts';
import type { Config } from '../config/config.ts';

/** How a workload takes connections: plaintext only, both, or mutual TLS only. */
export type MtlsMode = 'DISABLE' | 'PERMISSIVE' | 'STRICT';

/** What holds for the ports of one workload. */
export interface PeerPolicy {
  readonly mode: MtlsMode;
  /** Ports of the workload (not of a service) with a mode of their own, in order of numbers. */
  readonly ports: readonly { readonly port: number; readonly mode: MtlsMode }[];
}

/** Where no policy says otherwise. */
const DEFAULT_MODE: MtlsMode = 'PERMISSIVE';

/** @returns undefined when the policy leaves the mode to its parent */
function explicitMode(mtls: MutualTLS | undefined): MtlsMode | undefined {
  return mtls?.mode === undefined || mtls.mode === 'UNSET' ? undefined : mtls.mode;
}

function selectsWorkloads(policy: Config<PeerAuthentication>): boolean {
  return Object.keys(policy.spec.selector?.matchLabels ?? {}).length > 0;
}

function namespaceWide(policies: readonly Config<PeerAuthentication>[]): Config<PeerAuthentication> | undefined {
  return policies.find((policy) => !selectsWorkloads(policy));
}

export interface PeerPolicyInput {
  /** Of the root namespace, oldest first. Those with a selector are not looked at. */
  readonly root: readonly Config<PeerAuthentication>[];
  /** Of the workload's namespace, oldest first; none when that is the root namespace. */
  readonly namespace: readonly Config<PeerAuthentication>[];
  readonly labels: Labels;
}

/**
 * What the policies of the mesh, the namespace and the workload come to. In each of the three the oldest policy counts;
 * a mode that is unset is that of the wider one; only the workload's policy names ports.
 *
 * @see istio/istio pilot/pkg/security/authn/policy_applier.go `ComposePeerAuthentication`
 */
export function peerPolicy({ root, namespace, labels }: PeerPolicyInput): PeerPolicy {
  const workload = namespace.find(
    (policy) => selectsWorkloads(policy) && selects(policy.spec.selector?.matchLabels, labels),
  );
  const mode = explicitMode(workload?.spec.mtls) ?? namespaceMtlsMode(root, namespace) ?? DEFAULT_MODE;
  const ports = Object.entries(workload?.spec.portLevelMtls ?? {})
    .map(([port, mtls]) => ({ port: Number(port), mode: explicitMode(mtls) ?? mode }))
    .sort((a, b) => a.port - b.port);
  return { mode, ports };
}

/** The mode that the policy gives a port. */
export function modeOfPort(policy: PeerPolicy, port: number): MtlsMode {
  return policy.ports.find((entry) => entry.port === port)?.mode ?? policy.mode;
}

/**
 * The mode of a whole namespace: what a client may guess of a server whose workloads it does not look at.
 *
 * @param root policies of the root namespace, oldest first
 * @param namespace policies of the namespace, oldest first; none when it is the root namespace
 * @returns undefined when neither has a policy for the whole namespace
 * @see istio/istio pilot/pkg/model/authentication.go `GetNamespaceMutualTLSMode`
 */
export function namespaceMtlsMode(
  root: readonly Config<PeerAuthentication>[],
  namespace: readonly Config<PeerAuthentication>[],
): MtlsMode | undefined {
  const mesh = namespaceWide(root);
  const own = namespaceWide(namespace);
  const inherited = mesh === undefined ? undefined : (explicitMode(mesh.spec.mtls) ?? DEFAULT_MODE);
  return own === undefined ? inherited : (explicitMode(own.spec.mtls) ?? inherited ?? DEFAULT_MODE);
}
