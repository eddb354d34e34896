import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/base/json.ts';
import { proxyOfNode } from '../../../src/model/node.ts';
import type { Proxy } from '../../../src/model/proxy.ts';
import { askedByTracers, tracedAs } from '../../../src/model/traced-as.ts';

function proxy(metadata: JsonObject, more: { readonly id?: string; readonly envoyMinor?: number } = {}): Proxy {
  const { id = 'web-1.shop', ...rest } = more;
  const node = { id: `sidecar~10.0.0.1~${id}~shop.svc.cluster.local`, cluster: 'web.shop', metadata, extensions: [] };
  const made = proxyOfNode({ ...node, ...rest });
  assert(!('refused' in made));
  return made;
}
const OTEL = askedByTracers([{ opentelemetry: { serviceAttributeEnrichment: 'OTEL_SEMANTIC_CONVENTIONS' } }]);

test('what no tracer asks for is no part of a scope', () => {
  assert.deepEqual(tracedAs(proxy({}), {}, askedByTracers([{ prometheus: {} }])), {});
  const asked = (provider: Parameters<typeof askedByTracers>[0][number]) =>
    Object.keys(tracedAs(proxy({}), {}, askedByTracers([provider])).tracedAs ?? {});
  assert.deepEqual(asked({ zipkin: {} }), ['istioMinor']);
  assert.deepEqual(asked({ datadog: {} }), ['istioMinor', 'service']);
  assert.deepEqual(asked({ opentelemetry: {} }), ['istioMinor', 'service']);
  assert.deepEqual(Object.keys(tracedAs(proxy({}), {}, OTEL).tracedAs ?? {}), ['istioMinor', 'conventional']);
});

test('a service is named by what the workload says, then its labels, its owner, itself', () => {
  const named = (metadata: JsonObject, labels = {}, id?: string) =>
    tracedAs(proxy(metadata, id === undefined ? {} : { id }), labels, OTEL).tracedAs?.conventional;
  const said = { ANNOTATIONS: { 'resource.opentelemetry.io/service.name': 'said' }, WORKLOAD_NAME: 'owner' };
  const labels = { 'app.kubernetes.io/instance': 'instance', 'app.kubernetes.io/name': 'name' };
  assert.equal(named(said, labels), 'said');
  assert.equal(named({ WORKLOAD_NAME: 'owner' }, labels), 'instance');
  assert.equal(named({ WORKLOAD_NAME: 'owner' }, { 'app.kubernetes.io/name': 'name' }), 'name');
  assert.equal(named({ WORKLOAD_NAME: 'owner' }), 'owner');
  assert.equal(named({}), 'web-1');
  assert.equal(named({ APP_CONTAINERS: 'app' }, {}, 'nodot'), 'app');
  assert.equal(named({ APP_CONTAINERS: 'app,more' }, {}, 'nodot'), 'unknown_service');
});

test('a proxy understands what the Istio of its version does; an upstream Envoy, what came with it', () => {
  const minor = (metadata: JsonObject, envoyMinor?: number) =>
    proxy(metadata, envoyMinor === undefined ? {} : { envoyMinor }).istioMinor;
  assert.equal(minor({ ISTIO_VERSION: '1.27.3' }, 40), 27);
  assert.equal(minor({}, 36), 28);
  assert.equal(minor({}, 40), 32);
  assert.ok(minor({}) > 100);
  assert.ok(minor({ ISTIO_VERSION: 'dev' }, 36) > 100);
});
