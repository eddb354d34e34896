import { isIpAddress } from '../../base/address.ts';
import type { Finding, Place } from '../finding.ts';
import { isDnsLabel, partialWildcardProblem, problem, wildcardHostProblem } from './names.ts';

function hostPartProblem(host: string, mayBeIp: boolean): string | undefined {
  if (host !== '*' && !host.includes('.')) {
    return `"${host}" must be a full host name, as "${host === '' ? 'name' : host}.example.com"`;
  }
  if (mayBeIp && isIpAddress(host)) return undefined;
  return wildcardHostProblem(host) ?? partialWildcardProblem(host);
}

/**
 * Hosts of a gateway: `host` or `namespace/host`.
 *
 * @see istio/istio pkg/config/validation/agent/validation.go `ValidateNamespaceSlashWildcardHostname`
 */
export function* gatewayHostFindings(at: Place, text: string): Generator<Finding> {
  const slash = text.indexOf('/');
  const namespace = text.slice(0, Math.max(0, slash));
  if (slash >= 0 && namespace !== '*' && namespace !== '.' && !isDnsLabel(namespace)) {
    yield at.error(`"${namespace}" is not a namespace, nor "." (the gateway's own) or "*" (all)`);
  }
  yield* problem(at, hostPartProblem(text.slice(slash + 1), true));
}

/** Hosts of a Sidecar, and services that mesh.yaml names: `namespace/host`. `~` before it excludes them. */
export function* namespacedHostFindings(at: Place, text: string): Generator<Finding> {
  const slash = text.indexOf('/');
  if (slash < 0) {
    yield at.error(`"${text}" must have the form namespace/host, as "./${text}" or "*/${text}"`);
    return;
  }
  const namespace = text.slice(0, slash).replace(/^~/, '');
  if (slash === 0) yield at.error(`"${text}" has no namespace: write "./" for the own one, "*/" for all`);
  if (namespace !== '' && namespace !== '*' && namespace !== '.' && !isDnsLabel(namespace)) {
    yield at.error(`"${namespace}" is not a namespace, nor "." (the own one) or "*" (all)`);
  }
  yield* problem(at, hostPartProblem(text.slice(slash + 1), false));
}
