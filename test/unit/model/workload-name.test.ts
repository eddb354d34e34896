import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '#generated/config/specs.ts';
import type { Config } from '../../../src/config/config.ts';
import { parseFile } from '../../../src/config/parse.ts';
import { workloadNameOfPod } from '../../../src/model/workload-name.ts';

/** The name of the workload of a pod `web-1` with this metadata. */
function nameOf(metadata: string): string {
  const text = `{apiVersion: v1, kind: Pod, metadata: {name: web-1, ${metadata}}, spec: {containers: []}}`;
  const { configs } = parseFile('pod.yaml', text, { source: 'test', namespace: 'shop', strict: false });
  return workloadNameOfPod(configs[0] as Config<Pod>);
}

function madeBy(kind: string, name: string, labels = ''): string {
  return `generateName: web-, labels: {${labels}}, ownerReferences: [{kind: ${kind}, name: ${name}, controller: true}]`;
}

const CASES: readonly (readonly [metadata: string, workload: string])[] = [
  [madeBy('ReplicaSet', 'web-6dc78b', 'pod-template-hash: 6dc78b'), 'web'],
  [madeBy('ReplicaSet', 'web-6dc78b', 'rollouts-pod-template-hash: 6dc78b'), 'web'],
  [madeBy('ReplicaSet', 'web-6dc78b', 'pod-template-hash: other'), 'web-6dc78b'],
  [madeBy('ReplicationController', 'web-7', 'deploymentconfig: web'), 'web'],
  [madeBy('Job', 'sweep-27893434'), 'sweep'],
  [madeBy('Job', 'sweep-7'), 'sweep-7'],
  [madeBy('StatefulSet', 'store'), 'store'],
  [madeBy('StatefulSet', 'store', 'service.istio.io/workload-name: said'), 'said'],
  ['ownerReferences: [{kind: StatefulSet, name: store, controller: true}]', 'web-1'],
  ['generateName: web-, ownerReferences: [{kind: StatefulSet, name: store}]', 'web-1'],
];

for (const [metadata, workload] of CASES) {
  test(`a pod with ${metadata} is of the workload ${workload}`, () => {
    assert.equal(nameOf(metadata), workload);
  });
}
