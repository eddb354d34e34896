import type { VirtualService } from '#generated/config/specs.ts';
import { type Config, configKey } from '../../../../src/config/config.ts';
import type { Protocol } from '../../../../src/model/protocol.ts';
import type { Service } from '../../../../src/model/service.ts';

type ServiceFields = Partial<Omit<Service, 'ports'>> & { readonly ports?: Readonly<Record<number, Protocol>> };

/** A service with HTTP on port 80, unless told otherwise. */
export function service(hostname: string, { ports = { 80: 'HTTP' }, ...fields }: ServiceFields = {}): Service {
  return {
    id: `default/${hostname}/${hostname}/`,
    hostname,
    namespace: 'default',
    name: hostname,
    objectName: hostname,
    registry: 'External',
    resolution: 'ClientSideLB',
    meshExternal: false,
    address: '0.0.0.0',
    vips: [],
    labels: {},
    serviceAccounts: [],
    aliases: [],
    creationTime: 0,
    config: configKey('networking.istio.io', 'ServiceEntry', 'default', hostname),
    ports: Object.entries(ports).map(([port, protocol]) => ({ name: `p${port}`, port: Number(port), protocol })),
    ...fields,
  };
}

export function virtualService(
  spec: VirtualService,
  { name = 'vs', namespace = 'default', annotations = {} }: Partial<Config> = {},
): Config<VirtualService> {
  const group = 'networking.istio.io';
  return {
    key: configKey(group, 'VirtualService', namespace, name),
    group,
    version: 'v1beta1',
    kind: 'VirtualService',
    namespace,
    name,
    labels: {},
    annotations,
    creationTime: 0,
    spec,
    location: { file: 'test.yaml', line: 1, column: 1 },
    document: { file: 'test.yaml', line: 1, text: '' },
    hash: JSON.stringify(spec),
    source: 'test',
  };
}
