import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { HTTPMatchRequest, HTTPRoute, VirtualService } from '#generated/config/specs.ts';
import { type Config, configKey } from '../../../src/config/config.ts';
import { withDelegates } from '../../../src/model/delegate.ts';
import {
  fullHostname,
  gatewayKey,
  resolveVirtualService,
  virtualServiceDestinations,
} from '../../../src/model/virtual-service.ts';

function virtualService(
  spec: VirtualService,
  { namespace = 'default', name = 'vs', annotations = {} }: Partial<Config> = {},
): Config<VirtualService> {
  const group = 'networking.istio.io';
  return {
    key: configKey(group, 'VirtualService', namespace, name),
    group,
    version: 'v1',
    kind: 'VirtualService',
    namespace,
    name,
    labels: {},
    annotations,
    creationTime: 0,
    spec,
    location: { file: 'test.yaml', line: 1, column: 1 },
    document: { file: 'test.yaml', line: 1, text: '' },
    hash: `${name}:${JSON.stringify(spec)}`,
    source: 'test',
  };
}

test('a host without a dot is a service of the namespace', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['reviews', 'reviews.ns.svc.cluster.local'],
    ['reviews.other', 'reviews.other'],
    ['*', '*'],
    ['*.example.com', '*.example.com'],
    ['10.0.0.1', '10.0.0.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['', ''],
  ];
  for (const [written, full] of cases) assert.equal(fullHostname(written, 'ns', 'cluster.local'), full);
});

test('a gateway is named with its namespace, however it is written', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['mesh', 'mesh'],
    ['gw', 'ns/gw'],
    ['./gw', 'ns/gw'],
    ['other/gw', 'other/gw'],
    ['gw.other', 'other/gw'],
    ['gw.other.svc.cluster.local', 'other/gw'],
  ];
  for (const [written, key] of cases) assert.equal(gatewayKey(written, 'ns'), key);
});

test('names are resolved wherever they stand, and nothing else changes', () => {
  const spec: VirtualService = {
    hosts: ['reviews'],
    gateways: ['mesh', 'gw'],
    http: [
      {
        name: 'r',
        match: [{ gateways: ['./gw'], uri: { prefix: '/' } }, { port: 80 }],
        route: [{ destination: { host: 'a', subset: 'v1' }, weight: 1 }],
        mirror: { host: 'm' },
        mirrors: [{ destination: { host: 'n' } }],
      },
    ],
    tcp: [{ match: [{ gateways: ['gw'] }], route: [{ destination: { host: 'a' } }] }],
    tls: [{ match: [{ sniHosts: ['x'], gateways: ['gw'] }], route: [{ destination: { host: 'a' } }] }],
  };
  const full = (name: string) => `${name}.default.svc.cluster.local`;
  assert.deepEqual(resolveVirtualService(virtualService(spec), 'cluster.local').spec, {
    hosts: [full('reviews')],
    gateways: ['mesh', 'default/gw'],
    http: [
      {
        name: 'r',
        match: [{ gateways: ['default/gw'], uri: { prefix: '/' } }, { port: 80 }],
        route: [{ destination: { host: full('a'), subset: 'v1' }, weight: 1 }],
        mirror: { host: full('m') },
        mirrors: [{ destination: { host: full('n') } }],
      },
    ],
    tcp: [{ match: [{ gateways: ['default/gw'] }], route: [{ destination: { host: full('a') } }] }],
    tls: [{ match: [{ sniHosts: ['x'], gateways: ['default/gw'] }], route: [{ destination: { host: full('a') } }] }],
  });
});

test('routes made from the Gateway API have full names already', () => {
  const made = virtualService(
    { hosts: ['reviews'] },
    { annotations: { 'internal.istio.io/route-semantics': 'gateway' } },
  );
  assert.equal(resolveVirtualService(made, 'cluster.local'), made);
});

test('destinations are those of all protocols, each with its ports, without routes of other namespaces', () => {
  const spec: VirtualService = {
    http: [
      {
        match: [{ sourceNamespace: 'a' }, { uri: { exact: '/' } }],
        route: [{ destination: { host: 'only-a', port: { number: 80 } } }],
      },
      {
        route: [{ destination: { host: 'b' } }, { destination: { host: 'b', port: { number: 81 } } }],
        mirror: { host: 'm' },
      },
    ],
    tcp: [{ route: [{ destination: { host: 't', port: { number: 9 } } }] }],
  };
  const ports = (client: string) =>
    [...virtualServiceDestinations(spec, client)].map(([host, numbers]) => [host, [...numbers]]);
  const common = [
    ['b', [0, 81]],
    ['m', [0]],
    ['t', [9]],
  ];
  assert.deepEqual(ports(''), [['only-a', [80]], ...common]);
  assert.deepEqual(ports('a'), [['only-a', [80]], ...common]);
  assert.deepEqual(ports('z'), common);
});

const root = (route: HTTPRoute, delegate: HTTPRoute['delegate'] = { name: 'part' }) =>
  virtualService({ hosts: ['a.example.com'], http: [{ ...route, delegate }] } as VirtualService, { name: 'root' });
const part = (http: readonly HTTPRoute[], more: VirtualService = {}) =>
  virtualService({ ...more, http }, { name: 'part' });
const merged = (outer: Config<VirtualService>, inner: Config<VirtualService>, defaultExportTo?: readonly string[]) =>
  withDelegates(
    outer,
    (namespace, name) => (inner.namespace === namespace && inner.name === name ? inner : undefined),
    defaultExportTo,
  ).spec.http;
const toA: HTTPRoute = { route: [{ destination: { host: 'a' } }] };

test("a delegate's route takes what it lacks from the root's, and both names", () => {
  const outer = root({ name: 'r', timeout: '5s', retries: { attempts: 3 }, rewrite: { uri: '/r' } });
  assert.deepEqual(merged(outer, part([{ ...toA, name: 'p', timeout: '1s' }, toA])), [
    { ...toA, name: 'r-p', timeout: '1s', retries: { attempts: 3 }, rewrite: { uri: '/r' }, match: [] },
    { ...toA, name: 'r', timeout: '5s', retries: { attempts: 3 }, rewrite: { uri: '/r' }, match: [] },
  ]);
});

test('a delegate may narrow the matches of its root, and a route of it that does not is left out', () => {
  const cases: readonly (readonly [HTTPMatchRequest, HTTPMatchRequest, HTTPMatchRequest | undefined])[] = [
    [{ uri: { prefix: '/a' } }, { uri: { prefix: '/a/b' } }, { uri: { prefix: '/a/b' } }],
    [{ uri: { prefix: '/a' } }, { uri: { exact: '/a/b' } }, { uri: { exact: '/a/b' } }],
    [{ uri: { prefix: '/a' } }, { uri: { prefix: '/b' } }, undefined],
    [{ uri: { exact: '/a' } }, { uri: { prefix: '/a' } }, undefined],
    [{ uri: { exact: '/a' } }, { uri: { exact: '/a' } }, { uri: { exact: '/a' } }],
    [{ uri: { regex: '/a.*' } }, { uri: { exact: '/ab' } }, undefined],
    [{ uri: { prefix: '/a' } }, { uri: { regex: '/a.*' } }, undefined],
    [
      { headers: { x: { exact: '1' } }, port: 80 },
      { headers: { y: { exact: '2' } } },
      { headers: { x: { exact: '1' }, y: { exact: '2' } }, port: 80 },
    ],
    [{ headers: { x: { exact: '1' } } }, { headers: { x: { exact: '2' } } }, undefined],
    [{ port: 80 }, { port: 81 }, undefined],
    [{ ignoreUriCase: true }, {}, undefined],
    [{ sourceNamespace: 'a' }, {}, undefined],
    [{ sourceNamespace: 'a' }, { sourceNamespace: 'a' }, { sourceNamespace: 'a' }],
    [{ sourceLabels: { a: '1' } }, { sourceLabels: { b: '2' } }, { sourceLabels: { a: '1', b: '2' } }],
    [{ sourceLabels: { a: '1' } }, { sourceLabels: { a: '2' } }, undefined],
    [{ gateways: ['x', 'y'] }, { gateways: ['y'] }, { gateways: ['y'] }],
    [{ gateways: ['x', 'y'] }, { gateways: ['z'] }, undefined],
    [{ name: 'r', statPrefix: 's' }, { name: 'p' }, { name: 'r-p', statPrefix: 's' }],
  ];
  for (const [outer, inner, expected] of cases) {
    const http = merged(root({ match: [outer] }), part([{ ...toA, match: [inner] }]));
    const message = `${JSON.stringify(outer)} with ${JSON.stringify(inner)}`;
    assert.deepEqual(http, expected === undefined ? [] : [{ ...toA, match: [expected] }], message);
  }
});

test('every match of a delegate is combined with every match of the root that it fits', () => {
  const outer = root({ match: [{ uri: { prefix: '/a' } }, { uri: { prefix: '/' } }] });
  const [route] = merged(outer, part([{ ...toA, match: [{ uri: { prefix: '/a/b' }, port: 80 }, { port: 81 }] }])) ?? [];
  assert.deepEqual(route?.match, [
    { uri: { prefix: '/a/b' }, port: 80 },
    { uri: { prefix: '/a/b' }, port: 80 },
    { uri: { prefix: '/a' }, port: 81 },
    { uri: { prefix: '/' }, port: 81 },
  ]);
});

test('a delegate counts only where it exists, has no hosts of its own and is exported to the root', () => {
  const outer = root({});
  assert.equal(merged(outer, part([toA]))?.length, 1);
  assert.deepEqual(merged(root({}, { name: 'missing' }), part([toA])), []);
  assert.deepEqual(merged(root({}, { name: 'part', namespace: 'other' }), part([toA])), []);
  assert.deepEqual(merged(outer, part([toA], { hosts: ['b.example.com'] })), []);
  assert.deepEqual(merged(outer, part([toA], { exportTo: ['elsewhere'] })), []);
  assert.equal(merged(outer, part([toA], { exportTo: ['.'] }))?.length, 1);
  assert.deepEqual(merged(outer, part([toA]), ['elsewhere']), []);
});
