import { Counter, Gauge, type Registry } from 'prom-client';

/** Until when what signs certificates holds. Milliseconds since 1970. */
export interface AuthorityTimes {
  /** Of the signing certificate and those between it and the root. */
  readonly chain: number;
  readonly root: number;
}

/** Told of requests for certificates. */
export interface CertificateEvents {
  onRequest(): void;
  onIssued(): void;
  /** Nobody knows who asks, or it asks for a certificate of somebody else. */
  onUnauthenticated(): void;
  onFailure(failure: string): void;
}

/**
 * What the certificate authority does, by istiod's names.
 * @param times undefined while nothing signs
 * @see istio/istio security/pkg/server/ca/monitoring.go
 */
export function certificateMetrics(registry: Registry, times: () => AuthorityTimes | undefined): CertificateEvents {
  const registers = [registry];
  const counter = (name: string, help: string) => new Counter({ name, help, registers });
  const requests = counter('citadel_server_csr_count', 'Requests for certificates.');
  const unauthenticated = counter(
    'citadel_server_authentication_failure_count',
    'Requests for certificates of callers who did not prove to be those for whom they ask.',
  );
  const unreadable = counter('citadel_server_csr_parsing_err_count', 'Requests for certificates that can not be read.');
  const failures = new Counter({
    name: 'citadel_server_csr_sign_err_count',
    help: 'Requests for certificates that were not signed, by the reason.',
    labelNames: ['error'],
    registers,
  });
  const issued = counter('citadel_server_success_cert_issuance_count', 'Certificates that were issued.');
  const expiry = (part: 'root' | 'chain', prefix: string, what: string): void => {
    const gauge = (name: string, help: string, value: (until: number) => number) =>
      new Gauge({
        name,
        help,
        registers,
        collect() {
          const until = times()?.[part];
          if (until === undefined) this.reset();
          else this.set(value(until));
        },
      });
    gauge(`${prefix}_expiry_timestamp`, `When ${what} ends, in seconds since 1970.`, (until) => until / 1000);
    gauge(
      `${prefix}_expiry_seconds`,
      `Seconds until ${what} ends; below zero when it has.`,
      (until) => (until - Date.now()) / 1000,
    );
  };
  expiry('root', 'citadel_server_root_cert', 'the root certificate of the authority');
  expiry('chain', 'citadel_server_cert_chain', 'the signing certificate of the authority, or one above it,');
  return {
    onRequest: () => requests.inc(),
    onIssued: () => issued.inc(),
    onUnauthenticated: () => unauthenticated.inc(),
    onFailure: (error) => {
      if (error === 'CSR_ERROR') unreadable.inc();
      failures.inc({ error });
    },
  };
}
