import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NAME_TABLE_TYPE } from '../../../src/proto/type-urls.ts';
import { type MeshFixture, meshFixture, object } from '../../support/mesh-fixture.ts';

const PORTS = [{ number: 80, name: 'http', protocol: 'HTTP' }];

const entry = (name: string, spec: object, namespace = 'default') =>
  object('ServiceEntry', name, { ports: PORTS, resolution: 'NONE', ...spec }, namespace);
const a = entry('a', { hosts: ['a.ext'], addresses: ['10.0.0.1'] });

function names(mesh: MeshFixture, client: string): readonly string[] {
  const table = mesh.resources(client, NAME_TABLE_TYPE).get(NAME_TABLE_TYPE)?.['table'];
  return Object.keys((table ?? {}) as object);
}

test('a proxy has the names of the services that it sees, and no others', () => {
  const own = entry('own', { hosts: ['own.ext'], addresses: ['10.0.0.2'], exportTo: ['.'] }, 'other');
  const chosen = object('Sidecar', 'sidecar', { egress: [{ hosts: ['./*'] }] }, 'other');
  const mesh = meshFixture([a, own]);
  mesh.connect('here');
  mesh.connect('there', { namespace: 'other' });
  assert.deepEqual([names(mesh, 'here'), names(mesh, 'there')], [['a.ext'], ['a.ext', 'own.ext']]);
  mesh.edit(chosen);
  assert.deepEqual([names(mesh, 'here'), names(mesh, 'there')], [['a.ext'], ['own.ext']]);
});

test('proxies that see the same share one table, and only what it holds makes it anew', () => {
  const mesh = meshFixture([a], ['nameTable']);
  const scopes = [mesh.connect('one'), mesh.connect('two', { namespace: 'other', labels: { app: 'two' } })];
  const tables = mesh.pipeline.resources.get(NAME_TABLE_TYPE);
  assert.ok(tables);
  const [one, two] = scopes.map((scope) => mesh.graph.watch(tables, scope).value);
  assert.ok(one && two);
  assert.equal(one.get(NAME_TABLE_TYPE)?.bytes, two.get(NAME_TABLE_TYPE)?.bytes);
  assert.deepEqual(mesh.ran(), ['nameTable']);
  const before = one.revision;
  const route = [{ destination: { host: 'a.ext' } }];
  mesh.edit(object('VirtualService', 'v', { hosts: ['a.ext'], http: [{ route }] }));
  mesh.edit(object('DestinationRule', 'd', { host: 'a.ext' }));
  assert.deepEqual([mesh.ran(), one.revision], [[], before]);
  mesh.edit(entry('b', { hosts: ['b.ext'], addresses: ['10.0.0.3'] }));
  assert.deepEqual(mesh.ran(), ['nameTable']);
  assert.ok(one.revision > before);
});

test('a table without names is a table all the same', () => {
  const mesh = meshFixture([]);
  mesh.connect('one');
  assert.deepEqual([...mesh.resources('one', NAME_TABLE_TYPE)], [[NAME_TABLE_TYPE, {}]]);
});
