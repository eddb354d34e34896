import type { KindDefinition } from '../kind.ts';
import { AUTHORIZATION_POLICY } from './authorization-policy.ts';
import { DESTINATION_RULE } from './destination-rule.ts';
import { ENVOY_FILTER } from './envoy-filter.ts';
import { GATEWAY } from './gateway.ts';
import { GATEWAY_API_KINDS } from './gateway-api.ts';
import { INGRESS_KINDS } from './ingress.ts';
import { KUBERNETES_KINDS } from './kubernetes.ts';
import { PEER_AUTHENTICATION } from './peer-authentication.ts';
import { PROXY_CONFIG } from './proxy-config.ts';
import { REQUEST_AUTHENTICATION } from './request-authentication.ts';
import { SERVICE_ENTRY } from './service-entry.ts';
import { SIDECAR } from './sidecar.ts';
import { TELEMETRY } from './telemetry.ts';
import { TRAFFIC_EXTENSION } from './traffic-extension.ts';
import { VIRTUAL_SERVICE } from './virtual-service.ts';
import { WASM_PLUGIN } from './wasm-plugin.ts';
import { WORKLOAD_ENTRY } from './workload-entry.ts';
import { WORKLOAD_GROUP } from './workload-group.ts';

/** Every kind that is read, the one list. MeshConfig and MeshNetworks are files, not objects: see mesh-config.ts. */
export const KINDS: readonly KindDefinition[] = [
  VIRTUAL_SERVICE,
  DESTINATION_RULE,
  SERVICE_ENTRY,
  WORKLOAD_ENTRY,
  WORKLOAD_GROUP,
  SIDECAR,
  GATEWAY,
  ENVOY_FILTER,
  PROXY_CONFIG,
  PEER_AUTHENTICATION,
  REQUEST_AUTHENTICATION,
  AUTHORIZATION_POLICY,
  TELEMETRY,
  WASM_PLUGIN,
  TRAFFIC_EXTENSION,
  ...KUBERNETES_KINDS,
  ...INGRESS_KINDS,
  ...GATEWAY_API_KINDS,
];

/** Groups whose objects are known, but of which nothing is made yet. */
const UNTRANSLATED_GROUPS: ReadonlySet<string> = new Set([
  'gateway.networking.k8s.io',
  'gateway.networking.x-k8s.io',
  'inference.networking.k8s.io',
]);

const BY_NAME: ReadonlyMap<string, KindDefinition> = new Map(KINDS.map((kind) => [`${kind.group}/${kind.kind}`, kind]));

/** The definition of a kind; undefined when it is not read. */
export function kindOf(group: string, kind: string): KindDefinition | undefined {
  return BY_NAME.get(`${group}/${kind}`);
}

/** Whether objects of this kind are expected in a mesh's configuration, though they are not read yet. */
export function isUntranslated(group: string, kind: string): boolean {
  return UNTRANSLATED_GROUPS.has(group) && kindOf(group, kind) === undefined;
}
