import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProxySessions } from '../../../src/pipeline/session.ts';
import { stillHeld } from '../../support/garbage.ts';
import { fileMesh } from '../../support/mesh-files.ts';

const ENTRY = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: web}
spec: {hosts: [web.mesh], resolution: STATIC, ports: [{number: 80, name: http, protocol: HTTP}], endpoints: [{address: 10.0.0.1}]}
`;

test('nothing is kept of proxies that have left, however many come each with labels of its own', async () => {
  const mesh = fileMesh({ 'shop/web.yaml': ENTRY });
  const sessions = new ProxySessions(mesh.pipeline);
  const serve = (i: number): WeakRef<object> => {
    const session = sessions.connect({
      id: `sidecar~10.9.0.${i}~m${i}.shop~shop.svc.cluster.local`,
      metadata: { NAMESPACE: 'shop', LABELS: { app: 'web', machine: `m${i}` }, SDS: 'true' },
      extensions: [],
    });
    if ('refused' in session) throw new Error(session.refused);
    const sizes = [...mesh.pipeline.resources.keys()].map((typeUrl) => session.resources(typeUrl)?.size ?? 0);
    assert(Math.max(...sizes) > 0);
    session.close();
    return new WeakRef(session.scope);
  };
  const scopes = Array.from({ length: 20 }, (_, i) => serve(i));
  mesh.graph.sweep();
  assert.equal(await stillHeld(scopes), 0);
});
