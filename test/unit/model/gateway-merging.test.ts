import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server, ServerTLSSettings } from '#generated/config/specs.ts';
import { type GatewayOfProxy, type MergeStyle, mergeGateways } from '../../../src/model/merged-gateway.ts';

interface Written {
  readonly port: number;
  readonly protocol?: string;
  readonly hosts?: readonly string[];
  readonly bind?: string;
  readonly tls?: ServerTLSSettings;
}

const SIMPLE: ServerTLSSettings = { mode: 'SIMPLE', credentialName: 'cert' };
const PASSED: ServerTLSSettings = { mode: 'PASSTHROUGH' };

function gateway(
  name: string,
  servers: readonly Written[],
  listenPorts: GatewayOfProxy['listenPorts'] = (port) => [port],
): GatewayOfProxy {
  const written = servers.map(
    ({ port, protocol = 'HTTP', hosts = ['*'], bind, tls }, i): Server => ({
      port: { number: port, name: `p${i}`, protocol },
      hosts,
      ...(bind && { bind }),
      ...(tls && { tls }),
    }),
  );
  return { gateway: { key: name, namespace: 'edge', name, spec: { servers: written } }, listenPorts };
}

/** `bind:port protocol: gateway hosts; …` of each place, then `route: hosts; …`, then `! gateway.server hosts`. */
function merged(style: MergeStyle, ...gateways: readonly GatewayOfProxy[]): readonly string[] {
  const { ports, routes, conflicts } = mergeGateways(gateways, style);
  return [
    ...ports.map(({ bind, port, protocol, servers }) => {
      const text = servers.map(({ gateway: from, hosts }) => `${from.replace('edge/', '')} ${hosts.join()}`);
      return `${bind}:${port} ${protocol}: ${text.join('; ')}`;
    }),
    ...[...routes].map(([route, servers]) => `${route}: ${servers.map(({ hosts }) => hosts.join()).join('; ')}`),
    ...conflicts.map(({ gateway: of, server, hosts = ['all'], by }) => `! ${of}.${server} ${hosts.join()} by ${by}`),
  ];
}

const BOTH: readonly MergeStyle[] = ['istiod', 'widest'];

interface Case {
  readonly name: string;
  readonly gateways: readonly (readonly Written[])[];
  readonly istiod: readonly string[];
  /** Where it differs. */
  readonly widest?: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'HTTP servers of a port are one',
    gateways: [[{ port: 80, hosts: ['a.com'] }], [{ port: 80, protocol: 'GRPC', hosts: ['a.com', 'b.com'] }]],
    istiod: [':80 HTTP: g0 a.com; g1 a.com,b.com', 'http.80: a.com; a.com,b.com'],
  },
  {
    name: 'HTTPS servers of a port have routes each',
    gateways: [
      [
        { port: 443, protocol: 'HTTPS', hosts: ['a.com'], tls: SIMPLE },
        { port: 443, protocol: 'HTTPS', hosts: ['b.com'], tls: SIMPLE },
      ],
    ],
    istiod: [':443 HTTPS: g0 a.com; g0 b.com', 'https.443.p0.g0.edge: a.com', 'https.443.p1.g0.edge: b.com'],
  },
  {
    name: 'HTTPS that is passed on has no routes for requests, and stands beside HTTPS that ends here',
    gateways: [
      [
        { port: 443, protocol: 'HTTPS', hosts: ['a.com'], tls: SIMPLE },
        { port: 443, protocol: 'TLS', hosts: ['b.com'], tls: PASSED },
        { port: 443, protocol: 'HTTPS', hosts: ['c.com'], tls: PASSED },
      ],
    ],
    istiod: [':443 HTTPS: g0 a.com; g0 c.com', ':443 TLS: g0 b.com', 'https.443.p0.g0.edge: a.com'],
  },
  {
    name: 'of two TLS servers of a port with the same host the earlier has it',
    gateways: [
      [{ port: 443, protocol: 'HTTPS', hosts: ['a.com'], tls: SIMPLE }],
      [{ port: 443, protocol: 'HTTPS', hosts: ['a.com', 'b.com'], tls: SIMPLE }],
    ],
    istiod: [':443 HTTPS: g0 a.com', 'https.443.p0.g0.edge: a.com', '! g1.0 a.com by edge/g0'],
    widest: [
      ':443 HTTPS: g0 a.com; g1 b.com',
      'https.443.p0.g0.edge: a.com',
      'https.443.p0.g1.edge: b.com',
      '! g1.0 a.com by edge/g0',
    ],
  },
  {
    name: 'hosts of several namespaces are one name to clients, but for istiod',
    gateways: [
      [
        { port: 443, protocol: 'HTTPS', hosts: ['shop/a.com'], tls: SIMPLE },
        { port: 443, protocol: 'HTTPS', hosts: ['a.com'], tls: SIMPLE },
      ],
    ],
    istiod: [':443 HTTPS: g0 shop/a.com; g0 a.com', 'https.443.p0.g0.edge: shop/a.com', 'https.443.p1.g0.edge: a.com'],
    widest: [':443 HTTPS: g0 shop/a.com', 'https.443.p0.g0.edge: shop/a.com', '! g0.1 a.com by edge/g0'],
  },
  {
    name: 'the same host is served at several addresses',
    gateways: [
      [
        { port: 443, protocol: 'HTTPS', hosts: ['a.com'], bind: '10.0.0.1', tls: SIMPLE },
        { port: 443, protocol: 'HTTPS', hosts: ['a.com'], bind: '10.0.0.2', tls: SIMPLE },
      ],
    ],
    istiod: [
      '10.0.0.1:443 HTTPS: g0 a.com',
      '10.0.0.2:443 HTTPS: g0 a.com',
      'https.443.p0.g0.edge.10.0.0.1: a.com',
      'https.443.p1.g0.edge.10.0.0.2: a.com',
    ],
  },
  {
    name: 'plaintext servers of different protocols can not share a port, but for HTTP',
    gateways: [
      [{ port: 80 }],
      [
        { port: 80, protocol: 'TCP' },
        { port: 80, protocol: 'HTTPS', tls: SIMPLE },
      ],
    ],
    istiod: [':80 HTTP: g0 *', 'http.80: *', '! g1.0 all by edge/g0', '! g1.1 all by edge/g0'],
  },
  {
    name: 'a plaintext server after a TLS server shares its port',
    gateways: [[{ port: 443, protocol: 'HTTPS', hosts: ['a.com'], tls: SIMPLE }], [{ port: 443 }]],
    istiod: [':443 HTTPS: g0 a.com', ':443 HTTP: g1 *', 'https.443.p0.g0.edge: a.com', 'http.443: *'],
  },
  {
    name: 'servers at other addresses are no conflict',
    gateways: [[{ port: 80 }, { port: 80, protocol: 'TCP', bind: '127.0.0.1' }]],
    istiod: [':80 HTTP: g0 *', '127.0.0.1:80 TCP: g0 *', 'http.80: *'],
  },
  {
    name: 'a third server at the first address joins the first',
    gateways: [
      [
        { port: 80, hosts: ['a.com'] },
        { port: 80, bind: '127.0.0.1' },
        { port: 80, hosts: ['b.com'] },
      ],
    ],
    istiod: [
      ':80 HTTP: g0 a.com; g0 b.com',
      '127.0.0.1:80 HTTP: g0 *',
      'http.80: a.com; b.com',
      'http.80.127.0.0.1: *',
    ],
  },
  {
    name: 'a third server of another protocol at the first address takes the routes from it in istiod alone',
    gateways: [
      [
        { port: 80, hosts: ['a.com'] },
        { port: 80, bind: '127.0.0.1' },
        { port: 80, protocol: 'GRPC', hosts: ['b.com'] },
      ],
    ],
    istiod: [
      ':80 HTTP: g0 a.com',
      '127.0.0.1:80 HTTP: g0 *',
      ':80 GRPC: g0 b.com',
      'http.80: b.com',
      'http.80.127.0.0.1: *',
    ],
    widest: [
      ':80 HTTP: g0 a.com; g0 b.com',
      '127.0.0.1:80 HTTP: g0 *',
      'http.80: a.com; b.com',
      'http.80.127.0.0.1: *',
    ],
  },
  {
    name: 'plaintext servers that redirect share hosts, but not in istiod',
    gateways: [
      [{ port: 80, hosts: ['a.com'], tls: { httpsRedirect: true } }],
      [{ port: 80, hosts: ['a.com'], tls: { httpsRedirect: true } }],
    ],
    istiod: [':80 HTTP: g0 a.com', 'http.80: a.com', '! g1.0 a.com by edge/g0'],
    widest: [':80 HTTP: g0 a.com; g1 a.com', 'http.80: a.com; a.com'],
  },
  {
    name: 'namespaces before hosts are written out',
    gateways: [
      [
        { port: 80, hosts: ['./a.com', '*/b.com', 'shop/c.com'] },
        { port: 81, hosts: ['x/y.com', '*/*'] },
      ],
    ],
    istiod: [
      ':80 HTTP: g0 edge/a.com,b.com,shop/c.com',
      ':81 HTTP: g0 *',
      'http.80: edge/a.com,b.com,shop/c.com',
      'http.81: *',
    ],
  },
];

for (const { name, gateways, istiod, widest = istiod } of CASES) {
  test(name, () => {
    const all = gateways.map((servers, i) => gateway(`g${i}`, servers));
    assert.deepEqual(merged('istiod', ...all), istiod);
    assert.deepEqual(merged('widest', ...all), widest);
  });
}

test('a proxy listens where its Service leads a port; names of HTTPS routes keep the port as written', () => {
  const servers = [{ port: 80 }, { port: 443, protocol: 'HTTPS', hosts: ['a.com'], tls: SIMPLE }];
  const listenPorts = (port: number) => [port + 8000];
  for (const style of BOTH) {
    assert.deepEqual(merged(style, gateway('g', servers, listenPorts)), [
      ':8080 HTTP: g *',
      ':8443 HTTPS: g a.com',
      'http.8080: *',
      'https.443.p1.g.edge: a.com',
    ]);
  }
});

test('a port that no Service has is not listened on where a Gateway names its Services', () => {
  for (const style of BOTH)
    assert.deepEqual(
      merged(
        style,
        gateway('g', [{ port: 80 }], () => []),
      ),
      [],
    );
});

test('mutual TLS that is passed on by SNI is told of', () => {
  const servers = [{ port: 15443, protocol: 'TLS', hosts: ['*.local'], tls: { mode: 'AUTO_PASSTHROUGH' as const } }];
  for (const style of BOTH) assert.equal(mergeGateways([gateway('g', servers)], style).autoPassthrough, true);
});
