/** Of proxies that do not say: newer than all. */
const NEWEST = 1000;

/** Istio 1.29 came with Envoy 1.37, and so on. */
const ENVOY_AHEAD = 8;

/**
 * The minor version of Istio that a proxy is of. An upstream Envoy, which says none, is taken for the Istio that came with it.
 *
 * @param version as its metadata `ISTIO_VERSION` has it; may be empty
 * @param envoyMinor of its Envoy; undefined: it does not say
 * @see istio/istio pilot/pkg/model/context.go `ParseIstioVersion`
 */
export function istioMinorVersion(version: string, envoyMinor?: number): number {
  const minor = /^1\.(\d+)/.exec(version)?.[1];
  if (minor !== undefined) return Number(minor);
  return version === '' && envoyMinor !== undefined ? envoyMinor - ENVOY_AHEAD : NEWEST;
}
