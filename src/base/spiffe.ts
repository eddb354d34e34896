/** Who a workload is: the parts of `spiffe://<trust domain>/ns/<namespace>/sa/<service account>`. */
export interface WorkloadIdentity {
  readonly trustDomain: string;
  readonly namespace: string;
  readonly serviceAccount: string;
}

/** Of the characters that the standard of SPIFFE allows in a segment. */
const IDENTITY = /^spiffe:\/\/([\w.-]+)\/ns\/([\w.-]+)\/sa\/([\w.-]+)$/;

/** The URI of an identity. */
export function spiffeId(trustDomain: string, namespace: string, serviceAccount: string): string {
  return `spiffe://${trustDomain}/ns/${namespace}/sa/${serviceAccount}`;
}

/** @returns undefined when the URI is no identity of a workload. @see istio/istio pkg/spiffe/spiffe.go `ParseIdentity` */
export function workloadIdentity(uri: string): WorkloadIdentity | undefined {
  const [, trustDomain, namespace, serviceAccount] = IDENTITY.exec(uri) ?? [];
  return trustDomain === undefined || namespace === undefined || serviceAccount === undefined
    ? undefined
    : { trustDomain, namespace, serviceAccount };
}
