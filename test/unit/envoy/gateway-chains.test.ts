import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Server, ServerTLSSettings, VirtualService } from '#generated/config/specs.ts';
import type { Config } from '../../../src/config/config.ts';
import { type GatewayChain, gatewayChains, type PassedCluster } from '../../../src/envoy/gateways/chains.ts';
import { type MergeStyle, mergeGateways } from '../../../src/model/merged-gateway.ts';
import { object } from '../../support/mesh-fixture.ts';

interface Written {
  readonly protocol?: string;
  readonly hosts?: readonly string[];
  readonly tls?: ServerTLSSettings;
  readonly name?: string;
}

const SIMPLE: ServerTLSSettings = { mode: 'SIMPLE', credentialName: 'cert' };
const PASSED: ServerTLSSettings = { mode: 'PASSTHROUGH' };
const AUTO: ServerTLSSettings = { mode: 'AUTO_PASSTHROUGH' };

const to = (host: string) => [{ destination: { host } }];

function bound(name: string, spec: VirtualService, namespace = 'default'): Config<VirtualService> {
  return object('VirtualService', name, { gateways: ['default/g'], ...spec }, namespace) as Config<VirtualService>;
}

const passed = (serverName: string): PassedCluster => ({
  host: 'a.local',
  serverName,
  protocol: 'HTTP',
  tcp: { statPrefix: serverName, clusters: serverName },
});

function text(chain: GatewayChain): string {
  const { serverNames = [], applicationProtocols } = chain.match;
  const names = [...serverNames, ...(applicationProtocols ? ['mesh'] : [])].join();
  const target =
    chain.kind === 'http'
      ? `route ${chain.route}${chain.name && ` as ${chain.name}`}${chain.grpcWeb ? ' grpc-web' : ''}`
      : `to ${chain.tcp.clusters}`;
  return `[${names}]${chain.tls ? ' tls' : ''} ${target}`;
}

function chains(
  servers: readonly Written[],
  virtualServices: readonly Config<VirtualService>[] = [],
  style: MergeStyle = 'widest',
): readonly string[] {
  const written = servers.map(
    ({ protocol = 'HTTP', hosts = ['*'], tls, name = '' }, i): Server => ({
      port: { number: 443, name: `p${i}`, protocol },
      name,
      hosts,
      ...(tls && { tls }),
    }),
  );
  const gateway = { key: 'g', namespace: 'default', name: 'g', spec: { servers: written } };
  const { ports } = mergeGateways([{ gateway, listenPorts: () => [8443] }], style);
  const found = gatewayChains({
    ports,
    style,
    virtualServices: () => virtualServices,
    destination: ({ route }, { port }) => {
      const clusters = `${route[0]?.destination.host}:${port}`;
      return { statPrefix: clusters, clusters };
    },
    passedClusters: (hosts) => (hosts.some((host) => host.endsWith('local')) ? [passed('x'), passed('y')] : []),
  });
  return found.map(text);
}

interface Case {
  readonly name: string;
  readonly servers: readonly Written[];
  readonly virtualServices?: readonly Config<VirtualService>[];
  readonly expected: readonly string[];
  /** Where it differs. */
  readonly istiod?: readonly string[];
}

const CASES: readonly Case[] = [
  {
    name: 'plaintext HTTP servers share a chain for all',
    servers: [
      { hosts: ['a.com'], protocol: 'GRPC-WEB' },
      { hosts: ['b.com'], name: 'named' },
    ],
    expected: ['[] route http.8443 grpc-web'],
  },
  {
    name: 'each HTTPS server has a chain for its names, which stand without namespaces',
    servers: [
      { protocol: 'HTTPS', hosts: ['shop/b.com', 'a.com'], tls: SIMPLE, name: 'named' },
      { protocol: 'HTTPS', hosts: ['c.com'], tls: { mode: 'ISTIO_MUTUAL' } },
    ],
    expected: ['[a.com,b.com] tls route https.443.p0.g.default as named', '[c.com] tls route https.443.p1.g.default'],
  },
  {
    name: 'connections of a TCP server go by the first tcp route that is for its host, port and gateway',
    servers: [{ protocol: 'TCP', hosts: ['a.com'] }],
    virtualServices: [
      bound('other-host', { hosts: ['b.com'], tcp: [{ route: to('b') }] }),
      bound('other-port', { hosts: ['a.com'], tcp: [{ match: [{ port: 8443 }], route: to('c') }] }),
      bound('other-gateway', { hosts: ['a.com'], tcp: [{ match: [{ gateways: ['default/h'] }], route: to('d') }] }),
      bound('empty', { hosts: ['a.com'], tcp: [{}] }),
      bound('labels', {
        hosts: ['*.com'],
        tcp: [{ match: [{ port: 443, sourceLabels: { a: 'b' } }], route: to('e') }],
      }),
      bound('late', { hosts: ['a.com'], tcp: [{ route: to('f') }] }),
    ],
    expected: ['[] to e:443'],
  },
  {
    name: 'a TCP server without a route has no chain',
    servers: [{ protocol: 'TCP' }, { protocol: 'TLS', tls: SIMPLE }],
    expected: [],
  },
  {
    name: 'TLS that ends at a server of connections has a chain for its names',
    servers: [{ protocol: 'TLS', hosts: ['a.com'], tls: SIMPLE }],
    virtualServices: [bound('v', { hosts: ['a.com'], tcp: [{ route: to('a') }] })],
    expected: ['[a.com] tls to a:443'],
  },
  {
    name: 'TLS that is passed on has a chain for each match of a tls route',
    servers: [{ protocol: 'HTTPS', hosts: ['*.com'], tls: PASSED }],
    virtualServices: [
      bound('v', {
        hosts: ['a.com', 'b.com'],
        tls: [
          { match: [{ sniHosts: ['a.com'] }, { sniHosts: ['b.com'], port: 1 }], route: to('a') },
          { match: [{ sniHosts: ['c.com'] }], route: to('c') },
        ],
      }),
    ],
    expected: ['[a.com] to a:443', '[c.com] to c:443'],
  },
  {
    name: 'hosts of a namespace are for VirtualServices of that namespace',
    servers: [{ protocol: 'TLS', hosts: ['shop/a.com'], tls: PASSED }],
    virtualServices: [
      bound('v', { hosts: ['a.com'], tls: [{ match: [{ sniHosts: ['a.com'] }], route: to('default') }] }),
      bound('v', { hosts: ['a.com'], tls: [{ match: [{ sniHosts: ['a.com'] }], route: to('shop') }] }, 'shop'),
    ],
    expected: ['[a.com] to shop:443'],
  },
  {
    name: 'of two matches with the same name the first has it',
    servers: [{ protocol: 'TLS', hosts: ['*.com'], tls: PASSED }],
    virtualServices: [
      bound('v', {
        hosts: ['*.com'],
        tls: [
          { match: [{ sniHosts: ['a.com', 'b.com'] }], route: to('first') },
          { match: [{ sniHosts: ['b.com', 'c.com'] }], route: to('second') },
        ],
      }),
    ],
    expected: ['[a.com,b.com] to first:443', '[c.com] to second:443'],
    istiod: ['[a.com,b.com] to first:443'],
  },
  {
    name: 'a name whose TLS ends here is not passed on as well',
    servers: [
      { protocol: 'HTTPS', hosts: ['a.com'], tls: SIMPLE },
      { protocol: 'TLS', hosts: ['*.com'], tls: PASSED },
    ],
    virtualServices: [
      bound('v', { hosts: ['*.com'], tls: [{ match: [{ sniHosts: ['a.com', 'b.com'] }], route: to('v') }] }),
    ],
    expected: ['[a.com] tls route https.443.p0.g.default', '[b.com] to v:443'],
    istiod: ['[a.com] tls route https.443.p0.g.default', '[a.com,b.com] to v:443'],
  },
  {
    name: 'wildcards of parts of labels are unknown to Envoy',
    servers: [{ protocol: 'HTTPS', hosts: ['*a.com', '*.a.com'], tls: SIMPLE }],
    expected: ['[*.a.com] tls route https.443.p0.g.default'],
    istiod: ['[*.a.com,*a.com] tls route https.443.p0.g.default'],
  },
  {
    name: 'mutual TLS of the mesh is passed on by the names of clusters, once each',
    servers: [
      { protocol: 'TLS', hosts: ['*.local'], tls: AUTO },
      { protocol: 'TLS', hosts: ['a.local'], tls: AUTO },
    ],
    expected: ['[x,mesh] to x', '[y,mesh] to y'],
    istiod: ['[x,mesh] to x', '[y,mesh] to y', '[x,mesh] to x', '[y,mesh] to y'],
  },
];

for (const { name, servers, virtualServices, expected, istiod = expected } of CASES) {
  test(name, () => {
    assert.deepEqual(chains(servers, virtualServices), expected);
    assert.deepEqual(chains(servers, virtualServices, 'istiod'), istiod);
  });
}
