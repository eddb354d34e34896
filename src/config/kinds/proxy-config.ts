import type { ProxyConfigSpec } from '#generated/config/specs.ts';
import { defineKind, type KindDefinition } from '../kind.ts';
import { ProxyConfigSpec as schema } from '../schema/proxy-config.ts';
import { policySelectorFindings } from './selectors.ts';

/** @see istio/istio pkg/config/validation/validation.go `ValidateProxyConfig` */
export const PROXY_CONFIG: KindDefinition<ProxyConfigSpec> = defineKind({
  group: 'networking.istio.io',
  versions: ['v1beta1'],
  kind: 'ProxyConfig',
  plural: 'proxyconfigs',
  scope: 'Namespaced',
  specField: 'spec',
  schema,
  *validate({ spec, at }) {
    yield* policySelectorFindings(at('selector'), spec.selector);
  },
});
