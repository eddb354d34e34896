import { type ChannelCredentials, type ChannelOptions, Client, Metadata } from '@grpc/grpc-js';

/** A client of a control plane: one that vanished is noticed within 40 s, and a response is as large as the mesh. */
export function controlPlaneClient(
  address: string,
  credentials: ChannelCredentials,
  channel: ChannelOptions = {},
): Client {
  return new Client(address, credentials, {
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_timeout_ms': 10_000,
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
    ...channel,
  });
}

/** Headers of a call. */
export function metadataOf(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return metadata;
}
