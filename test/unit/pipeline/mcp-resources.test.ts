import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meshFixture, object } from '../../support/mesh-fixture.ts';

const TYPE = 'networking.istio.io/v1/ServiceEntry';

const entry = (name: string, address: string) =>
  object('ServiceEntry', name, {
    hosts: [`${name}.example.com`],
    resolution: 'STATIC',
    ports: [{ number: 80, name: 'http', protocol: 'HTTP' }],
    endpoints: [{ address }],
  });

function started() {
  const fixture = meshFixture([entry('a', '10.0.0.1'), entry('b', '10.0.0.2')], ['mcpResource']);
  fixture.connect('reader', { metadata: { GENERATOR: 'api' } });
  fixture.connect('sidecar');
  const names = (client: string, typeUrl: string): readonly string[] => {
    const scope = fixture.pipeline.mesh.scopeOf.get(client);
    const view = scope && fixture.pipeline.resources.get(typeUrl)?.get(scope);
    return [...(view?.entries() ?? [])].map(([name]) => name);
  };
  return { ...fixture, names };
}

test('a reader of configuration is sent the objects of a kind, whatever version it asks for', () => {
  const { names } = started();
  for (const version of ['v1', 'v1beta1', 'v1alpha3']) {
    assert.deepEqual(names('reader', `networking.istio.io/${version}/ServiceEntry`), ['default/a', 'default/b']);
  }
  assert.deepEqual(names('reader', 'networking.istio.io/v1/VirtualService'), []);
});

test('a proxy is sent no objects', () => {
  assert.deepEqual(started().names('sidecar', TYPE), []);
});

test('an edit of an object encodes that object again, and no other', () => {
  const { graph, pipeline, edit, ran } = started();
  const scope = pipeline.mesh.scopeOf.get('reader');
  const collection = pipeline.resources.get(TYPE);
  assert.ok(scope && collection);
  const watch = graph.watch(collection, scope);
  ran();
  edit(entry('a', '10.0.0.9'));
  assert.deepEqual(ran(), ['mcpResource']);
  edit(object('VirtualService', 'v', { hosts: ['a.example.com'], http: [{ route: [] }] }));
  assert.deepEqual(ran(), []);
  watch.stop();
});
