import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import type { JsonObject } from '../../src/base/json.ts';
import { decodeMessage } from '../../src/proto/decode.ts';
import { type DiscoveryResponse, decodeDiscoveryResponse, encodeDiscoveryRequest } from '../../src/proto/discovery.ts';
import { encodeMessage } from '../../src/proto/message.ts';
import { CLUSTER_TYPE, messageName } from '../../src/proto/type-urls.ts';
import { AdsClient } from '../support/ads-client.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { nodeJson } from '../support/node.ts';
import { WorkDir } from '../support/work-dir.ts';

const ADS = '/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources';
const CSDS = '/envoy.service.status.v3.ClientStatusDiscoveryService/FetchClientStatus';
/** As istioctl calls itself. */
const NODE = { id: 'debug~0.0.0.0~istioctl~cluster.local' };

const SERVICE = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: orders}
spec:
  hosts: [orders.mesh.internal]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 8080, name: http, protocol: HTTP}]
  endpoints: [{address: 10.20.0.1}]
`;

const same = (bytes: Buffer): Buffer => bytes;

function ask(address: string, typeUrl: string, ...resourceNames: readonly string[]): Promise<DiscoveryResponse> {
  const client = new Client(address, credentials.createInsecure());
  const call = client.makeBidiStreamRequest(ADS, same, same);
  call.write(Buffer.from(encodeDiscoveryRequest({ node: NODE, typeUrl, resourceNames })));
  return new Promise<DiscoveryResponse>((resolve, reject) => {
    call.on('data', (bytes: Buffer) => {
      resolve(decodeDiscoveryResponse(bytes));
      call.cancel();
    });
    call.on('error', reject);
  }).finally(() => client.close());
}

const messages = ({ resources }: DiscoveryResponse): readonly JsonObject[] =>
  resources.map(({ typeUrl, value }) => ({ '@type': typeUrl, ...decodeMessage(messageName(typeUrl), value) }));
const text = ({ resources: [first] }: DiscoveryResponse): string => Buffer.from(first?.value ?? []).toString('utf8');

test('istioctl reads over xDS which proxies there are, how they stand and what they have', async () => {
  using dir = new WorkDir('istioctl');
  dir.write('etc/istio/conf/shop/orders.yaml', SERVICE);
  await using istiod = await IstiodProcess.start({ root: dir.path });
  const { grpc } = istiod.addresses;
  const metadata = { ISTIO_VERSION: '1.32.0', CLUSTER_ID: 'Kubernetes' };
  using proxy = new AdsClient({ address: grpc, node: nodeJson({ id: 'web-1.shop', namespace: 'shop', metadata }) });
  await proxy.settled();

  const state = await ask(grpc, 'istio.io/debug/syncz');
  assert.match(state.controlPlane?.identifier ?? '', /"Component":"istiod".*"version"/);
  const [client, ...others] = messages(state);
  assert.deepEqual(others, []);
  assert.deepEqual(client?.['node'], {
    id: 'web-1.shop',
    metadata: { CLUSTER_ID: 'Kubernetes', NAMESPACE: 'shop', ISTIO_VERSION: '1.32.0' },
  });
  const entries = client?.['genericXdsConfigs'] as readonly { typeUrl: string; configStatus: string }[];
  assert.equal(entries.find(({ typeUrl }) => typeUrl === CLUSTER_TYPE)?.configStatus, 'SYNCED');

  const dump = messages(await ask(grpc, 'istio.io/debug/config_dump', 'web-1.shop'));
  const kinds = dump.map((part) => messageName(String(part['@type'])).split('.').at(-1));
  assert.deepEqual(kinds.slice(0, 3), ['BootstrapConfigDump', 'ClustersConfigDump', 'ListenersConfigDump']);
  assert.match(JSON.stringify(dump), /outbound\|8080\|\|orders\.mesh\.internal/);
  assert.deepEqual(messages(await ask(grpc, 'istio.io/debug/config_dump', 'nobody')), []);

  const pages = JSON.parse(text(await ask(grpc, 'istio.io/debug', 'list'))) as readonly string[];
  assert.ok(pages.includes('syncz'));
  assert.match(text(await ask(grpc, 'istio.io/debug', 'config_dump?proxyID=web-1.shop')), /orders\.mesh\.internal/);
  assert.match(text(await ask(grpc, 'istio.io/debug', 'nosuch')), /^404 page not found/);
  await assert.rejects(ask(grpc, 'istio.io/debug'), { code: 3 });

  const [connected] = messages(await ask(grpc, 'istio.io/connections'));
  assert.match(String(connected?.['id']), /~web-1\.shop~/);
});

test('a client status service tells what each proxy has, resource by resource', async () => {
  using dir = new WorkDir('csds');
  dir.write('etc/istio/conf/shop/orders.yaml', SERVICE);
  await using istiod = await IstiodProcess.start({ root: dir.path });
  const { grpc } = istiod.addresses;
  using proxy = new AdsClient({ address: grpc, node: nodeJson({ id: 'web-1.shop', namespace: 'shop' }) });
  await proxy.settled();
  const client = new Client(grpc, credentials.createInsecure());
  const bytes = await new Promise<Buffer>((resolve, reject) => {
    const done = (error: ServiceError | null, reply?: Buffer): void => (reply ? resolve(reply) : reject(error));
    const request = encodeMessage('envoy.service.status.v3.ClientStatusRequest', {});
    client.makeUnaryRequest(CSDS, same, same, Buffer.from(request), done);
  }).finally(() => client.close());
  const { config } = decodeMessage('envoy.service.status.v3.ClientStatusResponse', bytes);
  const [only] = config as readonly { readonly genericXdsConfigs: readonly JsonObject[] }[];
  const orders = only?.genericXdsConfigs.find(({ name }) => name === 'outbound|8080||orders.mesh.internal');
  assert.equal(orders?.['clientStatus'], 'ACKED');
  assert.match(JSON.stringify(orders?.['xdsConfig']), /"type":"EDS"/);
});
