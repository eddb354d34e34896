import type { ProxyConfigSpec } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { ProxyConfigSpec as schema } from '../schema/proxy-config.ts';

export const PROXY_CONFIG: KindDefinition<ProxyConfigSpec> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1beta1'],
  kind: 'ProxyConfig',
  plural: 'proxyconfigs',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
});
