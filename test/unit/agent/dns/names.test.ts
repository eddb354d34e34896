import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Names, type Place } from '../../../../src/agent/dns/names.ts';
import type { JsonObject } from '../../../../src/base/json.ts';

const PLACE: Place = { namespace: 'shop', domain: 'svc.cluster.local', search: [] };

function names(table: JsonObject, place: Partial<Place> = {}): Names {
  return new Names({ table }, { ...PLACE, ...place });
}

/** `canonical: addresses`, or undefined. */
function found(all: Names, name: string): string | undefined {
  const one = all.find(name);
  if (one === undefined) return undefined;
  const addresses = [...one.v4, ...one.v6].map((bytes) => [...bytes].join('.')).join(' ');
  return one.canonical === undefined ? addresses : `${one.canonical}: ${addresses}`;
}

const external = (...ips: readonly string[]): JsonObject => ({ ips, registry: 'External' });
const kubernetes = (shortname: string, namespace: string, ip: string, more: JsonObject = {}): JsonObject => ({
  ips: [ip],
  registry: 'Kubernetes',
  shortname,
  namespace,
  ...more,
});

test('a host has its addresses of both families, whatever its case in the table', () => {
  const all = names({ 'Orders.Mesh.Internal.': external('240.0.0.1', 'fd00::1', '10.0.0.9') });
  const { v4, v6 } = all.find('orders.mesh.internal') ?? {};
  assert.deepEqual(
    v4?.map((bytes) => [...bytes]),
    [
      [240, 0, 0, 1],
      [10, 0, 0, 9],
    ],
  );
  assert.equal(Buffer.from(v6?.[0] ?? []).toString('hex'), 'fd000000000000000000000000000001');
  assert.equal(all.find('mesh.internal'), undefined);
});

test('a Service of Kubernetes is found by its shorter names, by the shortest in its own namespace alone', () => {
  const all = names({
    'web.shop.svc.cluster.local': kubernetes('web', 'shop', '10.0.0.1', { altHosts: ['web.alias'] }),
    'db.data.svc.cluster.local': kubernetes('db', 'data', '10.0.0.2'),
    'far.shop.svc.other.domain': kubernetes('far', 'shop', '10.0.0.3'),
    'plain.shop': external('10.0.0.4'),
  });
  for (const name of ['web', 'web.shop', 'web.shop.svc', 'web.shop.svc.cluster.local', 'web.alias'])
    assert.equal(found(all, name), '10.0.0.1', name);
  for (const name of ['db.data', 'db.data.svc', 'db.data.svc.cluster.local'])
    assert.equal(found(all, name), '10.0.0.2', name);
  for (const name of ['db', 'far', 'far.shop', 'plain']) assert.equal(found(all, name), undefined, name);
  assert.equal(found(all, 'far.shop.svc.other.domain'), '10.0.0.3');
});

test('a wildcard stands for all names below it, the nearest one counts, and a name of its own goes before', () => {
  const all = names({
    '*.ext.internal': external('240.0.0.1'),
    '*.files.ext.internal': external('240.0.0.2'),
    'own.files.ext.internal': external('240.0.0.3'),
  });
  assert.equal(found(all, 'a.ext.internal'), '240.0.0.1');
  assert.equal(found(all, 'a.b.files.ext.internal'), '240.0.0.2');
  assert.equal(found(all, 'own.files.ext.internal'), '240.0.0.3');
  assert.equal(found(all, 'ext.internal'), undefined);
  assert.equal(found(all, '*.ext.internal'), '240.0.0.1');
});

test('a name with the first search domain behind it stands for the name itself', () => {
  const search = ['shop.svc.cluster.local', 'example.com'];
  const all = names(
    {
      'web.shop.svc.cluster.local': kubernetes('web', 'shop', '10.0.0.1'),
      'orders.mesh.internal': external('240.0.0.1'),
      '*.ext.internal': external('240.0.0.2'),
    },
    { search },
  );
  assert.equal(found(all, 'web.shop.svc.cluster.local'), '10.0.0.1');
  const end = '.shop.svc.cluster.local';
  assert.equal(found(all, `orders.mesh.internal${end}`), 'orders.mesh.internal: 240.0.0.1');
  assert.equal(found(all, `a.ext.internal${end}`), 'a.ext.internal: 240.0.0.2');
  assert.equal(found(all, 'orders.mesh.internal.example.com'), undefined);
  assert.equal(found(all, `web${end}${end}`), undefined);
  assert.equal(found(all, end.slice(1)), undefined);
});

test('what is no address is passed over, and a name without one is not known', () => {
  const all = names({
    a: external('nonsense', '10.0.0.1'),
    b: external(),
    c: external('10.0.0.0/8'),
    d: external('fe80::1%eth0'),
    e: { ips: 'x' },
    f: 'x',
  });
  assert.equal(found(all, 'a'), '10.0.0.1');
  assert.equal(all.size, 1);
  assert.equal(new Names({}, PLACE).size, 0);
});
