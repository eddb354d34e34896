import type { PolicyPortSelector, VmConfig } from '#generated/config/specs.ts';
import type { Finding, Place } from '../finding.ts';
import { problem } from './names.ts';

const SCHEMES = ['oci', 'https', 'http', 'file'];

function urlProblem(url: string): string | undefined {
  const [, scheme] = /^([a-zA-Z][a-zA-Z0-9+.-]*):/.exec(url) ?? [];
  if (scheme !== undefined && !SCHEMES.includes(scheme.toLowerCase())) {
    return `"${url}" must begin with one of ${SCHEMES.map((name) => `${name}://`).join(', ')}`;
  }
  // Without scheme an image is meant, whose first part is a host, or else a path.
  const complete = scheme === undefined ? `http://${url}` : url;
  const valid = !/\s/.test(url) && (url.startsWith('/') || /^[\w.-]+(?:[:/]|$)/.test(url) || URL.canParse(complete));
  return valid ? undefined : `"${url}" is not a URL`;
}

function* environmentFindings(at: Place, { env = [] }: VmConfig): Generator<Finding> {
  const seen = new Set<string>();
  for (const [i, { name, valueFrom = 'INLINE', value = '' }] of env.entries()) {
    if (seen.has(name)) yield at.at('env', i, 'name').error(`"${name}" stands before: remove one of them`);
    seen.add(name);
    if (valueFrom !== 'INLINE' && value !== '') {
      yield at.at('env', i, 'value').error('the value comes from the proxy: remove it, or write "valueFrom: INLINE"');
    }
  }
}

/** @see istio/istio pkg/config/validation/validation.go `ValidateWasmPlugin` */
export function* wasmModuleFindings(
  at: Place,
  { url, vmConfig }: { readonly url: string; readonly vmConfig?: VmConfig },
): Generator<Finding> {
  yield* problem(at.at('url'), urlProblem(url));
  if (vmConfig !== undefined) yield* environmentFindings(at.at('vmConfig'), vmConfig);
}

/** Ports of the traffic that a module sees: each may stand once. */
export function* selectedPortsFindings(
  at: Place,
  selectors: readonly { readonly ports?: readonly PolicyPortSelector[] }[] | undefined,
): Generator<Finding> {
  for (const [i, { ports = [] }] of (selectors ?? []).entries()) {
    for (const [j, { number }] of ports.entries()) {
      const repeated = ports.slice(0, j).some((port) => port.number === number);
      if (repeated) yield at.at(i, 'ports', j).error(`port ${number} stands before: remove it`);
    }
  }
}
