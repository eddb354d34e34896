import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PROXY_CONFIG_TYPE, SECRET_TYPE } from '../../../src/proto/type-urls.ts';
import { meshFixture, object } from '../../support/mesh-fixture.ts';

const mesh = (...pems: readonly string[]) =>
  object('MeshConfig', '', {
    caCertificates: [...pems.map((pem) => ({ pem })), { spiffeBundleUrl: 'https://x.test' }],
  });

function told(multiRootMesh: boolean, ...pems: readonly string[]): unknown {
  const { connect, resources } = meshFixture([mesh(...pems)], [], { multiRootMesh });
  connect('agent');
  return resources('agent', PROXY_CONFIG_TYPE).get(PROXY_CONFIG_TYPE);
}

test('agents of a mesh with several roots are told of all of them, each once', () => {
  assert.deepEqual(told(true, 'one', 'two', 'one'), { caCertificatesPem: ['one', 'two'] });
});

test('roots of the own authority come first, and are the ROOTCA of proxies with the others', () => {
  const { connect, resources, graph, pipeline, edit } = meshFixture([mesh('two')], [], { multiRootMesh: true });
  connect('agent');
  const rootca = () => {
    const secret = resources('agent', SECRET_TYPE).get('ROOTCA') as
      | { readonly validationContext: { readonly trustedCa: { readonly inlineBytes: string } } }
      | undefined;
    return secret && Buffer.from(secret.validationContext.trustedCa.inlineBytes, 'base64').toString();
  };
  assert.equal(rootca(), undefined, 'a mesh without an authority leaves it to agents');
  graph.batch(() => pipeline.mesh.roots.own.set('', ['one']));
  const bundle = resources('agent', PROXY_CONFIG_TYPE).get(PROXY_CONFIG_TYPE);
  assert.deepEqual(bundle, { caCertificatesPem: ['one', 'two'] });
  assert.equal(rootca(), 'one\ntwo\n');
  graph.batch(() => pipeline.mesh.roots.own.set('', ['new', 'one']));
  edit(mesh('three'));
  assert.equal(rootca(), 'new\none\nthree\n');
});

test('agents of any other mesh are told of none', () => {
  assert.equal(told(false, 'one'), undefined);
  assert.equal(told(true), undefined);
});

test('a root that comes makes one new bundle for all agents', () => {
  const { connect, edit, ran, pipeline } = meshFixture([mesh('one')], ['trustBundle'], { multiRootMesh: true });
  const scopes = [connect('a', { namespace: 'a' }), connect('b', { namespace: 'b' })];
  const bundle = (scope: (typeof scopes)[number]) =>
    pipeline.resources.get(PROXY_CONFIG_TYPE)?.get(scope).get(PROXY_CONFIG_TYPE)?.bytes;
  const [first, second] = scopes.map(bundle);
  assert.equal(first, second);
  ran();
  edit(mesh('one', 'two'));
  assert.notDeepEqual(scopes.map(bundle)[0], first);
  assert.deepEqual(ran(), ['trustBundle']);
});
