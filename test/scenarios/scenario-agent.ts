import type { ScenarioNode } from './scenario.ts';

/** What an agent is told so that it is the agent of a node. */
export function agentEnvironment(
  { type, ip, name, namespace, labels = {}, serviceAccount = 'default', metadata = {} }: ScenarioNode,
  { socket, upstream }: { readonly socket: string; readonly upstream: string },
): Readonly<Record<string, string>> {
  const fields = Object.entries(metadata).map(([field, value]) => [`ISTIO_META_${field}`, String(value)]);
  return {
    ...Object.fromEntries(fields),
    ISTIO_ADDRESS: `unix:${socket}`,
    PROXY_TYPE: type,
    POD_NAME: name,
    POD_NAMESPACE: namespace,
    INSTANCE_IP: ip,
    SERVICE_ACCOUNT: serviceAccount,
    ISTIO_METAJSON_LABELS: JSON.stringify(labels),
    DNS_UPSTREAM: upstream,
    DISABLE_ENVOY: 'true',
  };
}
