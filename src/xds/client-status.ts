import type { envoy } from '#generated/proto/types.ts';
import { packedBytes } from '../proto/message.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { SECRET_TYPE } from '../proto/type-urls.ts';
import type { StreamStatus, SyncState, TypeStatus } from './events.ts';
import type { TypeState } from './protocol.ts';
import { resourceIn } from './snapshot.ts';

export type ClientConfig = envoy.service.status.v3.ClientConfig;
type GenericXdsConfig = envoy.service.status.v3.ClientConfig.GenericXdsConfig;
type ConfigStatus = NonNullable<GenericXdsConfig['configStatus']>;

/** One client's state, type by type. */
export interface Client {
  readonly status: StreamStatus;
  readonly types: readonly TypeState[];
}

const STATUS: Readonly<Record<SyncState, ConfigStatus>> = {
  unsent: 'NOT_SENT',
  pending: 'STALE',
  synced: 'SYNCED',
  nacked: 'ERROR',
};

/** What a client was sent and how it took it, one entry a type. @param node what is to be said of the client */
export function typesOfClient({ types }: StreamStatus, node: envoy.config.core.v3.Node): ClientConfig {
  const genericXdsConfigs = types
    .map((type) => ({
      typeUrl: type.typeUrl,
      configStatus: STATUS[type.state],
      ...(type.sent && { lastUpdated: timestamp(type.sent.at) }),
      ...errorOf(type),
    }))
    .sort((a, b) => (a.typeUrl < b.typeUrl ? -1 : 1));
  return { node, genericXdsConfigs };
}

/**
 * The same, one entry a resource. Of those that the client has not, there is the name. Secrets are never in it.
 * @param contents whether resources stand in it whole
 * @see envoy/service/status/v3/csds.proto
 */
export function resourcesOfClient({ status, types }: Client, contents: boolean): ClientConfig {
  const { node } = status;
  return {
    node: {
      id: node.id,
      cluster: node.cluster,
      ...(node.metadata && { metadata: node.metadata }),
      ...(node.locality && { locality: node.locality }),
      userAgentName: node.userAgentName,
    },
    genericXdsConfigs: types.flatMap((state) => {
      const about = status.types.find(({ typeUrl }) => typeUrl === state.typeUrl);
      return about === undefined ? [] : resourcesOfType(state, about, contents && state.typeUrl !== SECRET_TYPE);
    }),
  };
}

/** How many entries that is, at most. */
export function sizeOf({ types }: Client): number {
  return types.reduce(
    (sum, { holdings, subscription }) => sum + holdings.base.whole.changed.length + subscription.size,
    0,
  );
}

function resourcesOfType(state: TypeState, about: TypeStatus, contents: boolean): readonly GenericXdsConfig[] {
  const { typeUrl, subscription, holdings } = state;
  const had = holdings.base.whole.changed.filter(({ name }) => subscription.covers(name));
  const missing = [...subscription.names].filter((name) => resourceIn(holdings.base, name) === undefined);
  const lastUpdated = about.sent && timestamp(about.sent.at);
  const entry = (resource: EncodedResource): GenericXdsConfig => {
    const refused = holdings.refusals.withholds(resource);
    const pending = about.state === 'pending';
    return {
      typeUrl,
      name: resource.name,
      versionInfo: resource.version,
      ...(contents && { xdsConfig: packedBytes(typeUrl, resource.bytes) }),
      ...(lastUpdated && { lastUpdated }),
      configStatus: refused ? 'ERROR' : pending ? 'STALE' : 'SYNCED',
      clientStatus: refused ? 'NACKED' : pending ? 'REQUESTED' : 'ACKED',
      ...(refused ? errorOf(about) : {}),
    };
  };
  return [
    ...had.map(entry),
    ...missing.sort().map((name) => ({
      typeUrl,
      name,
      configStatus: 'NOT_SENT' as const,
      clientStatus: 'DOES_NOT_EXIST' as const,
    })),
  ];
}

function errorOf({ nack }: TypeStatus): Pick<GenericXdsConfig, 'errorState'> {
  return nack === undefined
    ? {}
    : { errorState: { lastUpdateAttempt: timestamp(nack.at), details: nack.message, versionInfo: nack.nonce } };
}

function timestamp(at: number): string {
  return new Date(at).toISOString();
}
