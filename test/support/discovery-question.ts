import { Buffer } from 'node:buffer';
import { Client, credentials, Metadata, status } from '@grpc/grpc-js';
import { decodeDiscoveryResponse, encodeDiscoveryRequest } from '../../src/proto/discovery.ts';
import { CLUSTER_TYPE } from '../../src/proto/type-urls.ts';
import type { Certificate } from './certificates.ts';
import { nodeJson } from './node.ts';

export interface DiscoveryQuestion {
  /** `host:port`, or `unix:…`. */
  readonly address: string;
  /** Whom the client believes, in PEM; absent: over plaintext. */
  readonly roots?: string;
  /** The name that the server's certificate has to be for; the host by default. */
  readonly servername?: string;
  /** The client's own certificate. */
  readonly client?: Certificate;
  readonly token?: string;
  /** That the client says to be of; `shop` by default. */
  readonly namespace?: string;
}

const METHOD = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';
const asIs = (bytes: Buffer): Buffer => bytes;

/** What one request for clusters is answered with: `served`, or the status and its words. */
export function askClusters(question: DiscoveryQuestion): Promise<string> {
  const { address, roots, servername, client, token, namespace = 'shop' } = question;
  const [key, chain] = client === undefined ? [null, null] : [Buffer.from(client.key), Buffer.from(client.chain)];
  const channel = new Client(
    address,
    roots === undefined ? credentials.createInsecure() : credentials.createSsl(Buffer.from(roots), key, chain),
    servername === undefined ? {} : { 'grpc.ssl_target_name_override': servername },
  );
  const headers = new Metadata();
  if (token !== undefined) headers.set('authorization', `Bearer ${token}`);
  const call = channel.makeBidiStreamRequest(METHOD, asIs, asIs, headers);
  const node = nodeJson({ id: `client.${namespace}`, namespace });
  call.write(Buffer.from(encodeDiscoveryRequest({ node, typeUrl: CLUSTER_TYPE })));
  return new Promise((resolve) => {
    const end = (answer: string): void => {
      channel.close();
      resolve(answer);
    };
    call.on('data', (bytes: Buffer) => {
      call.cancel();
      end(decodeDiscoveryResponse(bytes).typeUrl === CLUSTER_TYPE ? 'served' : 'something else');
    });
    call.on('error', () => {});
    call.on('status', ({ code, details }) => end(`${status[code]}: ${details}`));
  });
}
