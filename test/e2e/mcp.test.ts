import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ENDPOINT_TYPE } from '../../src/proto/type-urls.ts';
import { AdsClient } from '../support/ads-client.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { nodeJson } from '../support/node.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

const CLUSTER = 'outbound|8080||orders.mesh.internal';

const service = (address: string): string => `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: orders}
spec:
  hosts: [orders.mesh.internal]
  location: MESH_INTERNAL
  resolution: STATIC
  ports: [{number: 8080, name: http, protocol: HTTP}]
  endpoints: [{address: ${address}}]
`;

const sources = (address: string): string => `
configSources:
- address: fs://./etc/istio/conf
- address: xds://${address}
`;

test("a control plane serves another one's configuration, and follows its files", async (t) => {
  using first = new WorkDir('mcp');
  using second = new WorkDir('mcp');
  first.write('etc/istio/conf/shop/orders.yaml', service('10.40.0.1'));
  await using server = await IstiodProcess.start({ root: first.path });
  second.write('etc/istio/mesh.yaml', sources(server.addresses.grpc));
  await using reader = await IstiodProcess.start({ root: second.path });
  using proxy = new AdsClient({
    address: reader.addresses.grpc,
    node: nodeJson({ id: 'web-1.shop', namespace: 'shop' }),
  });
  await proxy.settled();
  const has = (address: string) => () => JSON.stringify(proxy.resources(ENDPOINT_TYPE).get(CLUSTER))?.includes(address);
  await waitFor(has('10.40.0.1'), { what: 'endpoint of the other control plane' });
  const since = performance.now();
  first.write('etc/istio/conf/shop/orders.yaml', service('10.40.0.2'));
  await waitFor(has('10.40.0.2'), { what: 'endpoint that moved there', everyMs: 1 });
  t.diagnostic(`an endpoint that moved there is here after ${(performance.now() - since).toFixed(0)} ms`);
  const told = await reader.json<readonly { readonly source: string; readonly objects: number }[]>('/debug/sourcesz');
  assert.deepEqual(
    told.map(({ source, objects }) => [source.split(':')[0], objects]),
    [
      ['file', 1],
      ['xds', 1],
    ],
  );
  second.write('etc/istio/conf/shop/orders.yaml', service('10.40.0.9'));
  await waitFor(has('10.40.0.9'), { what: 'own version of the object, which comes first' });
});
