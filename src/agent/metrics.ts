import type { WorkloadCertificate } from './certificates/workload-certificate.ts';

export interface AgentState {
  readonly certificate: WorkloadCertificate | undefined;
  /** Of Envoy; undefined: there is none. */
  readonly restarts: number | undefined;
  /** Names of the mesh; undefined: they are not known. */
  readonly names: number | undefined;
  /** Whether Envoy is served by istiod. */
  readonly isLive: boolean;
}

/** The agent's own metrics in the text format of Prometheus. Seconds. */
export function agentMetrics({ certificate, restarts, names, isLive }: AgentState, now: number = Date.now()): string {
  const lines: string[] = [];
  const add = (name: string, type: string, help: string, value: number | undefined, labels = ''): void => {
    if (value !== undefined)
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, `${name}${labels} ${value}`);
  };
  const left = certificate && Math.round((certificate.until - now) / 1000);
  const resource = '{resource_name="default"}';
  add('istio_agent_cert_expiry_seconds', 'gauge', 'Time until the certificate of the workload ends.', left, resource);
  add('istio_agent_dns_names', 'gauge', 'Names of the mesh that DNS knows.', names);
  add('istio_agent_envoy_restarts_total', 'counter', 'How often Envoy ended and was started again.', restarts);
  if (restarts !== undefined)
    add('istio_agent_control_plane_connected', 'gauge', 'Whether Envoy is served by istiod.', isLive ? 1 : 0);
  return lines.map((line) => `${line}\n`).join('');
}
