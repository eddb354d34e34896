import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceEntry } from '#generated/config/specs.ts';
import type { Config } from '../../../src/config/config.ts';
import { hostsToAllocate, ownVipNumbers, statusAddresses } from '../../../src/model/vip.ts';
import { vipNumber } from '../../../src/model/vip-address.ts';
import { object } from '../../support/mesh-fixture.ts';

const ALL = ['a.internal', '*.b.internal'];

function entry(spec: object, more: Partial<Config> = {}): Config<ServiceEntry> {
  return { ...object('ServiceEntry', 'e', { hosts: ALL, ...spec }), ...more } as Config<ServiceEntry>;
}

const LABEL = { 'networking.istio.io/enable-autoallocate-ip': 'False' };
const STATUS = {
  addresses: [
    { host: 'a.internal', value: '240.240.7.7' },
    { host: 'a.internal', value: '2001:2::7' },
    { host: 'a.internal', value: 'nonsense' },
  ],
};

for (const [what, config, first, only] of [
  ['hosts without addresses', entry({ resolution: 'STATIC' }), ['a.internal'], ['a.internal']],
  ['wildcards that DYNAMIC_DNS resolves', entry({ resolution: 'DYNAMIC_DNS' }), ALL, ['a.internal']],
  ['hosts with addresses', entry({ resolution: 'STATIC', addresses: ['10.0.0.1'] }), [], []],
  ['hosts without resolution', entry({ resolution: 'NONE' }), [], []],
  ['hosts without a word about resolution', entry({}), [], []],
  ['hosts of an object that opts out', entry({ resolution: 'DNS' }, { labels: LABEL }), [], ['a.internal']],
  ['hosts with an address in the status', entry({ resolution: 'DNS' }, { status: STATUS }), [], ['a.internal']],
] as const) {
  test(`${what}: who needs an address of the table`, () => {
    assert.deepEqual(hostsToAllocate(config, 'status-first'), first);
    assert.deepEqual(hostsToAllocate(config, 'table-only'), only);
    assert.deepEqual(hostsToAllocate(config, 'status-only'), []);
  });
}

test('a status gives addresses to hosts that may have them', () => {
  const given = new Map([['a.internal', { v4: '240.240.7.7', v6: '2001:2::7' }]]);
  assert.deepEqual(statusAddresses(entry({ resolution: 'DNS' }, { status: STATUS })), given);
  assert.deepEqual(statusAddresses(entry({ resolution: 'NONE' }, { status: STATUS })), new Map());
  assert.deepEqual(statusAddresses(entry({ resolution: 'DNS' }, { status: { addresses: 'x' } })), new Map());
});

test('addresses of the automatic range that an object names are known as such', () => {
  const config = entry({ resolution: 'STATIC', addresses: ['240.240.1.1/32', '10.0.0.1'] }, { status: STATUS });
  assert.deepEqual(ownVipNumbers(config), [vipNumber('240.240.1.1'), vipNumber('240.240.7.7')]);
});
