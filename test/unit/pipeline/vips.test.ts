import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Config } from '../../../src/config/config.ts';
import type { StoredVip, VipStorage } from '../../../src/config/vip-storage.ts';
import type { AddressAllocation } from '../../../src/model/vip.ts';
import { LISTENER_TYPE, NAME_TABLE_TYPE, ROUTE_TYPE } from '../../../src/proto/type-urls.ts';
import { type Client, type MeshFixture, meshFixture, object } from '../../support/mesh-fixture.ts';

function tcp(name: string, namespace = 'shop', spec: object = {}): Config {
  const ports = [{ number: 9000, name: 'tcp', protocol: 'TCP' }];
  const endpoints = [{ address: '10.31.0.1' }];
  return object(
    'ServiceEntry',
    name,
    { hosts: [`${name}.ext`], ports, resolution: 'STATIC', endpoints, ...spec },
    namespace,
  );
}

const HTTP = { ports: [{ number: 80, name: 'http', protocol: 'HTTP' }] };

class Memory implements VipStorage {
  stored: readonly StoredVip[] = [];
  saves = 0;

  load(): readonly StoredVip[] {
    return this.stored;
  }

  save(vips: () => readonly StoredVip[]): void {
    this.stored = vips();
    this.saves++;
  }
}

const CAPTURES: Client = { metadata: { DNS_CAPTURE: 'true' } };

function started(configs: readonly Config[], memory: Memory, counted: readonly string[] = []): MeshFixture {
  const mesh = meshFixture(configs, counted);
  mesh.pipeline.mesh.vips.hold(memory);
  mesh.connect('client', CAPTURES);
  return mesh;
}

function addresses(mesh: MeshFixture, client = 'client'): Readonly<Record<string, readonly string[]>> {
  const table = mesh.resources(client, NAME_TABLE_TYPE).get(NAME_TABLE_TYPE)?.['table'] ?? {};
  const infos = table as Record<string, { readonly ips: readonly string[] }>;
  return Object.fromEntries(Object.entries(infos).map(([host, { ips }]) => [host, ips]));
}

test('an address stays over additions, deletions and restarts, and comes back with its host', () => {
  const memory = new Memory();
  const mesh = started([tcp('s1'), tcp('s2'), tcp('s3')], memory);
  const before = addresses(mesh);
  assert.deepEqual(Object.keys(before), ['s1.ext', 's2.ext', 's3.ext']);
  mesh.edit(tcp('a', 'pay'), tcp('z', 'pay'));
  mesh.remove(tcp('s1'));
  const { 'a.ext': _a, 'z.ext': _z, ...rest } = addresses(mesh);
  assert.deepEqual(rest, { 's2.ext': before['s2.ext'], 's3.ext': before['s3.ext'] });
  assert.deepEqual(memory.stored.at(-1), { host: 'shop/s1.ext', address: before['s1.ext']?.[0], reserved: true });
  const restarted = started([tcp('s3'), tcp('s2')], memory);
  assert.deepEqual(addresses(restarted), rest);
  restarted.edit(tcp('s1'));
  assert.deepEqual(addresses(restarted), before);
});

test('an address that an earlier process gave counts before the one that the name says', () => {
  const memory = new Memory();
  memory.stored = [{ host: 'shop/s1.ext', address: '240.240.9.9', reserved: false }];
  const mesh = started([tcp('s1')], memory);
  assert.deepEqual(addresses(mesh), { 's1.ext': ['240.240.9.9'] });
  assert.equal(memory.saves, 0);
});

test('from nothing, the same configuration gives the same addresses in any order', () => {
  const all = ['c', 'a', 'b'].map((name) => tcp(name));
  const one = started(all, new Memory());
  const other = started([], new Memory());
  other.edit(...all.toReversed());
  assert.deepEqual(addresses(one), addresses(other));
});

test('one host in one namespace has one address, however many objects name it', () => {
  const twice = tcp('again', 'shop', { hosts: ['s1.ext'] });
  const mesh = started([tcp('s1'), twice], new Memory());
  // The table says it once for each object, as istiod's does.
  assert.equal(new Set(addresses(mesh)['s1.ext']).size, 1);
});

test('each TCP service has a listener at its address, and HTTP routes know theirs, where names are resolved', () => {
  const mesh = started([tcp('s1'), tcp('s2'), tcp('web', 'shop', HTTP)], new Memory());
  const { 's1.ext': s1, 's2.ext': s2, 'web.ext': web } = addresses(mesh);
  mesh.connect('plain');
  const tcpListeners = (client: string) =>
    [...mesh.resources(client, LISTENER_TYPE).keys()].filter((name) => name.endsWith('_9000'));
  assert.deepEqual(tcpListeners('client'), [`${s1}_9000`, `${s2}_9000`].sort());
  assert.deepEqual(tcpListeners('plain'), ['0.0.0.0_9000']);
  const routes = (client: string) => JSON.stringify(mesh.resources(client, ROUTE_TYPE).get('80'));
  assert.ok(routes('client').includes(`"${web}"`));
  assert.ok(!routes('plain').includes('240.240.'));
});

test('a proxy on IPv6 has the address of that family', () => {
  const mesh = started([tcp('s1')], new Memory());
  mesh.connect('six', { ...CAPTURES, ip: '2001:db8::9' });
  assert.match(addresses(mesh, 'six')['s1.ext']?.join() ?? '', /^2001:2::f0f0:[0-9a-f]+$/);
});

for (const [allocation, metadata, expected] of [
  ['status-first', { DNS_CAPTURE: true }, true],
  ['status-first', { DNS_AUTO_ALLOCATE: 'true' }, false],
  ['table-only', { DNS_CAPTURE: 'true' }, false],
  ['table-only', { DNS_CAPTURE: 'true', DNS_AUTO_ALLOCATE: 'true' }, true],
  ['status-only', { DNS_CAPTURE: 'true', DNS_AUTO_ALLOCATE: 'true' }, false],
] as const satisfies readonly (readonly [AddressAllocation, object, boolean])[]) {
  test(`${allocation}: a proxy with ${Object.keys(metadata)} ${expected ? 'has' : 'has no'} allocated addresses`, () => {
    const mesh = meshFixture([tcp('s1')], [], { addressAllocation: allocation });
    mesh.pipeline.mesh.vips.hold(new Memory());
    mesh.connect('client', { metadata });
    assert.equal('s1.ext' in addresses(mesh), expected);
  });
}

test('an edit of one host looks at the addresses of no other', () => {
  const many = Array.from({ length: 50 }, (_, i) => tcp(`s${i}`));
  const mesh = started(many, new Memory(), ['vip', 'vips', 'wantedVips']);
  const watch = mesh.graph.watch(mesh.pipeline.mesh.servicesOfHost, 's1.ext');
  const all = mesh.graph.watch(mesh.pipeline.mesh.visibleServices, '');
  mesh.ran();
  mesh.edit(tcp('s1', 'shop', { endpoints: [{ address: '10.31.0.2' }] }));
  assert.deepEqual(mesh.ran(), []);
  mesh.edit(tcp('new'));
  assert.ok(mesh.ran().filter((name) => name === 'vip').length <= 2);
  watch.stop();
  all.stop();
});
