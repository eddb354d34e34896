/** Of proxies that do not say: newer than all. */
const NEWEST = 1000;

/**
 * The minor version of Istio that a proxy is of.
 *
 * @param version as its metadata `ISTIO_VERSION` has it; may be empty
 * @see istio/istio pilot/pkg/model/context.go `ParseIstioVersion`
 */
export function istioMinorVersion(version: string): number {
  const minor = /^1\.(\d+)/.exec(version)?.[1];
  return minor === undefined ? NEWEST : Number(minor);
}
