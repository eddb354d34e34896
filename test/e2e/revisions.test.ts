import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CLUSTER_TYPE } from '../../src/proto/type-urls.ts';
import { AdsStream } from '../support/ads-stream.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { nodeJson } from '../support/node.ts';
import { WorkDir } from '../support/work-dir.ts';

const service = (port: number, labels: string): string => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: orders, labels: {${labels}}}
spec:
  hosts: [orders.mesh.internal]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: ${port}, name: http, protocol: HTTP}]
`;

/** Names of the clusters to services that a node is sent, or why it is refused. */
async function answer(
  address: string,
  metadata: Readonly<Record<string, string>>,
): Promise<readonly string[] | string> {
  const node = nodeJson({ id: 'web-1.shop', namespace: 'shop', metadata });
  let stream: AdsStream | undefined;
  try {
    return await new Promise<readonly string[] | string>((resolve, reject) => {
      stream = new AdsStream(address, 'sotw', ({ resources }) =>
        resolve(resources.map(({ name }) => name).filter((name) => name.startsWith('outbound|'))),
      );
      stream.ended.then(({ details }) => resolve(details), reject);
      stream.sotw({ node, typeUrl: CLUSTER_TYPE });
    });
  } finally {
    stream?.close();
  }
}

test('two control planes of two revisions serve the same files, each its own version of an object and its own proxies', async () => {
  using dir = new WorkDir('revisions');
  dir.write('etc/istio/conf/shop/orders.yaml', service(8080, ''));
  dir.write('etc/istio/conf/shop/orders-canary.yaml', service(9090, 'istio.io/rev: canary'));
  using other = WorkDir.copyOf(dir.path, 'revisions');
  await using first = await IstiodProcess.start({ root: dir.path });
  await using canary = await IstiodProcess.start({ root: other.path, settings: 'revision: canary\n' });
  const [stable, early] = [['outbound|8080||orders.mesh.internal'], ['outbound|9090||orders.mesh.internal']];
  assert.deepEqual(await answer(first.addresses.grpc, {}), stable);
  assert.deepEqual(await answer(canary.addresses.grpc, {}), early);
  assert.deepEqual(await answer(canary.addresses.grpc, { ISTIO_REVISION: 'canary' }), early);
  assert.match(String(await answer(first.addresses.grpc, { ISTIO_REVISION: 'canary' })), /wants the revision canary/);
});
