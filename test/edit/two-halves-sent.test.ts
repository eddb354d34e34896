import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLUSTER_TYPE, ENDPOINT_TYPE } from '../../src/proto/type-urls.ts';
import { AdsClient } from '../support/ads-client.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { nodeJson } from '../support/node.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

const OBJECTS = 300;
/** Set ROUNDS=50 for the long run. */
const ROUNDS = Number(process.env['ROUNDS'] ?? 3);
/** Between the halves; less than the time that a file must be still. */
const BETWEEN = 120;

function service(i: number, round: number): string {
  return `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: s${i}}
spec:
  hosts: [s${i}.shop.internal]
  location: MESH_INTERNAL
  resolution: STATIC
  addresses: [240.1.${i >> 8}.${i & 255}]
  ports: [{number: 80, name: http, protocol: HTTP}]
  endpoints: [{address: 10.1.${round}.${(i % 250) + 1}}]
`;
}

test('a proxy is sent no removal while a file of 300 objects is written in two halves, again and again', async (t) => {
  const dir = new WorkDir('halves');
  t.after(() => dir.remove('.'));
  const file = 'etc/istio/conf/shop/all.yaml';
  const whole = (round: number) => Array.from({ length: OBJECTS }, (_, i) => service(i, round)).join('---\n');
  dir.write(file, whole(0));
  const istiod = await IstiodProcess.start({ root: dir.path });
  t.after(() => istiod.stop());
  const node = nodeJson({ id: 'client-1.shop', namespace: 'shop', ips: ['10.9.0.1'] });
  const client = new AdsClient({ address: istiod.addresses.grpc, node });
  t.after(() => client.close());
  const isAt = (round: number) => {
    const text = JSON.stringify([...client.resources(ENDPOINT_TYPE).values()]);
    return text.split(`"10.1.${round}.`).length - 1 === OBJECTS;
  };
  await waitFor(() => isAt(0), { what: 'all endpoints', withinMs: 20_000 });
  const before = client.log.length;
  for (let round = 1; round <= ROUNDS; round++) {
    const bytes = Buffer.from(whole(round));
    const half = round % 2 === 0 ? bytes.length >> 1 : bytes.indexOf('---\n', bytes.length >> 1);
    const handle = openSync(dir.at(file), 'w');
    writeSync(handle, bytes, 0, half);
    await sleep(BETWEEN);
    writeSync(handle, bytes, half);
    closeSync(handle);
    await waitFor(() => isAt(round), { what: `round ${round}`, withinMs: 20_000 });
  }
  const removed = client.log.slice(before).flatMap((received) => received.removed);
  assert.deepEqual(removed, []);
  assert.equal(client.type(CLUSTER_TYPE).held.size > OBJECTS, true);
});
