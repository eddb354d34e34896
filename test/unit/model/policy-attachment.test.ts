import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isAttached, type TargetedSpec, targetsOf } from '../../../src/model/policy-attachment.ts';

const GATEWAY = { group: 'gateway.networking.k8s.io', kind: 'Gateway' };
const EDGE = { namespace: 'edge', labels: { app: 'a', 'gateway.networking.k8s.io/gateway-name': 'web' } };

function isFor(spec: TargetedSpec, workload: Parameters<typeof isAttached>[1], namespace = 'edge'): boolean {
  return isAttached(targetsOf(namespace, spec), workload);
}

test('a policy is for the workloads whose labels it names', () => {
  const workload = { namespace: 'edge', labels: { app: 'a', version: '1' } };
  assert.ok(isFor({}, workload));
  assert.ok(isFor({ selector: {} }, workload));
  assert.ok(isFor({ selector: { matchLabels: { app: 'a' } } }, workload));
  assert.ok(!isFor({ selector: { matchLabels: { app: 'b' } } }, workload));
  assert.ok(isFor({ selector: { matchLabels: { app: 'a' } } }, EDGE), 'an instance of a Gateway is a workload too');
});

test('a policy with targets is for instances of the Gateway that it names in its own namespace, and nobody else', () => {
  const web = { ...GATEWAY, name: 'web' };
  assert.ok(isFor({ targetRefs: [{ kind: 'Service', name: 'x' }, web] }, EDGE));
  assert.ok(isFor({ targetRef: web }, EDGE));
  assert.ok(!isFor({ targetRef: web, targetRefs: [{ ...GATEWAY, name: 'other' }] }, EDGE), 'targetRefs count alone');
  assert.ok(!isFor({ targetRefs: [web] }, EDGE, 'istio-system'));
  assert.ok(!isFor({ targetRefs: [{ ...web, namespace: 'other' }] }, EDGE));
  assert.ok(!isFor({ targetRefs: [{ kind: 'Gateway', name: 'web' }] }, EDGE), 'another group has another Gateway');
  assert.ok(!isFor({ targetRefs: [web] }, { namespace: 'edge', labels: { app: 'a' } }));
});
