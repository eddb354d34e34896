import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validateSpec } from '../../../../src/config/kind.ts';
import { SERVICE } from '../../../../src/config/kinds/kubernetes.ts';

type Texts = Readonly<Record<string, string>>;

function found(labels: Texts, port: number, annotations: Texts = {}): readonly string[] {
  const spec = { type: 'NodePort', ports: [{ name: 'tls', port }] };
  const meta = { name: 'door', namespace: 'shop', labels, annotations };
  return validateSpec(SERVICE, spec, meta, { strict: false }).findings.map(({ path }) => path.join(' '));
}

test('a Service that is to be the gateway of a network needs the port at which it takes its traffic', () => {
  const network = { 'topology.istio.io/network': 'home' };
  const port = (value: string) => ({ ...network, 'networking.istio.io/gatewayPort': value });
  assert.deepEqual(found(network, 15443), []);
  assert.deepEqual(found(port('16443'), 16443), []);
  assert.deepEqual(found({}, 80), []);
  assert.deepEqual(found(network, 80), ['metadata labels topology.istio.io/network']);
  assert.deepEqual(found(port('16443'), 15443), ['metadata labels topology.istio.io/network']);
  assert.deepEqual(found(port('tls'), 15443), ['metadata labels networking.istio.io/gatewayPort']);
});

test('nodes are chosen by a JSON object of texts, or all are', () => {
  const chosenBy = (value: string) => found({}, 80, { 'traffic.istio.io/nodeSelector': value });
  assert.deepEqual(chosenBy('{"door": "yes"}'), []);
  assert.deepEqual(chosenBy(''), []);
  assert.deepEqual(chosenBy('{"door": 1}'), ['metadata annotations traffic.istio.io/nodeSelector']);
  assert.deepEqual(chosenBy('door=yes'), ['metadata annotations traffic.istio.io/nodeSelector']);
});
