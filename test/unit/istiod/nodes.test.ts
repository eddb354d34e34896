import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodesInFile } from '../../../src/istiod/diff/nodes.ts';
import { WorkDir } from '../../support/work-dir.ts';

test('what a running istiod tells of its proxies is read however many they are', (t) => {
  const dir = new WorkDir('nodes');
  t.after(() => dir.remove('.'));
  const clients = Array.from({ length: 2000 }, (_, i) => ({
    nodeId: `sidecar~10.0.0.1~web-${i}.shop~shop.svc.cluster.local`,
    metadata: { NAMESPACE: 'shop', LABELS: { app: 'web', version: 'v1' } },
  }));
  dir.write('proxies.json', JSON.stringify({ clients }));
  assert.equal(nodesInFile(dir.at('proxies.json')).length, 2000);
});

test('nodes that are written by hand are YAML', (t) => {
  const dir = new WorkDir('nodes');
  t.after(() => dir.remove('.'));
  dir.write('proxies.yaml', '- {id: a, metadata: {NAMESPACE: shop}}\n- node: {id: b}\n');
  assert.deepEqual(
    nodesInFile(dir.at('proxies.yaml')).map(({ id }) => id),
    ['a', 'b'],
  );
});
