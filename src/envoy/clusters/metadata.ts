import type { ClientTLSSettingsTLSmode } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Config } from '../../config/config.ts';
import type { Service } from '../../model/service.ts';
import { ALPN_METADATA, configPath } from '../names.ts';

export type ConfigName = Pick<Config, 'group' | 'kind' | 'namespace' | 'name'>;

export interface ClusterMetadataInput {
  /** For telemetry: the services behind the cluster. Absent where they are not said. */
  readonly services?: readonly Pick<Service, 'hostname' | 'name' | 'namespace'>[];
  readonly external?: boolean;
  /** The DestinationRule that shaped it. */
  readonly rule?: ConfigName | undefined;
  readonly subset?: string;
  readonly tlsMode?: ClientTLSSettingsTLSmode | undefined;
  /** What requests offer as ALPN. */
  readonly alpn?: string | undefined;
}

/** `filterMetadata.istio` of a cluster; absent when there is nothing to say. */
export function clusterMetadata(input: ClusterMetadataInput): { metadata?: envoy.config.core.v3.Metadata } {
  const { services, external, rule, subset, tlsMode, alpn } = input;
  const istio: JsonObject = {
    ...(services
      ? { services: services.map(({ hostname, name, namespace }) => ({ host: hostname, name, namespace })) }
      : {}),
    ...(external ? { external: true } : {}),
    ...(rule ? { config: configPath(rule) } : {}),
    ...(subset ? { subset } : {}),
    // Tells Istio's ALPN filter to leave TLS alone that does not end at a proxy of the mesh.
    ...(rule && (tlsMode === 'SIMPLE' || tlsMode === 'MUTUAL') ? { alpn_override: 'false' } : {}),
    ...(alpn === undefined ? {} : { [ALPN_METADATA]: alpn }),
  };
  return Object.keys(istio).length > 0 ? { metadata: { filterMetadata: { istio } } } : {};
}
