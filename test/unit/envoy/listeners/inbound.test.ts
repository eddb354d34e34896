import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IstioIngressListener } from '#generated/config/specs.ts';
import { NO_ACCESS_LOGS } from '../../../../src/envoy/filters/access-log.ts';
import { UNTRACED } from '../../../../src/envoy/filters/tracing.ts';
import {
  boundInboundListener,
  type InboundSettings,
  virtualInboundListener,
} from '../../../../src/envoy/listeners/inbound.ts';
import {
  catchAllPorts,
  type InboundPort,
  type InboundPortsInput,
  inboundPorts,
} from '../../../../src/envoy/listeners/inbound-ports.ts';
import { DEFAULT_LISTENER_SWITCHES } from '../../../../src/envoy/listeners/switches.ts';
import type { MtlsMode } from '../../../../src/model/authentication.ts';
import { NO_AUTHORIZATION_POLICIES } from '../../../../src/model/authorization.ts';
import type { Protocol } from '../../../../src/model/protocol.ts';
import type { Service, ServiceTarget } from '../../../../src/model/service.ts';

const INPUT: InboundPortsInput = {
  targets: [],
  mergesServicePorts: false,
  sidecarTls: false,
  policy: { mode: 'PERMISSIVE', ports: [] },
  interceptionMode: 'REDIRECT',
  families: 'IPv4',
  ips: ['127.0.0.1', '10.0.0.1'],
  limits: { unprivileged: false, reserved: [15006, 15021], wildcard: '0.0.0.0' },
  virtualPorts: [15006],
};

function target(hostname: string, targetPort: number, protocol: Protocol = 'HTTP'): ServiceTarget {
  const service = { hostname, registry: 'External', name: hostname, namespace: 'a' } as Service;
  return { service, port: { name: 'p', port: 80, protocol }, targetPort };
}

function sidecar(...ingress: readonly IstioIngressListener[]): NonNullable<InboundPortsInput['sidecar']> {
  return { name: 'sc', namespace: 'a', path: '/sc', ingress };
}

const summary = ({ targetPort, binds, toPort, hostname, port, mode }: InboundPort) =>
  `${binds.join()} ${targetPort} ${port.protocol} ${mode}${toPort ? ' bound' : ''} ${hostname}`.trimEnd();

test('each port of the workload counts once, for its oldest service, in order of numbers', () => {
  const targets = [target('old', 9000, 'TCP'), target('new', 9000), target('new', 8080), target('own', 15021)];
  assert.deepEqual(inboundPorts({ ...INPUT, targets }).map(summary), [
    '0.0.0.0 8080 HTTP PERMISSIVE new',
    '0.0.0.0 9000 TCP PERMISSIVE old',
  ]);
});

test('without redirection the workload has its ports itself', () => {
  assert.deepEqual(inboundPorts({ ...INPUT, interceptionMode: 'NONE', targets: [target('a', 8080)] }), []);
});

test('ingress of a Sidecar takes the place of the services, bound where nothing is redirected', () => {
  const ingress = sidecar(
    { port: { number: 9080, protocol: 'HTTP', name: 'http' } },
    { port: { number: 9090, protocol: 'TLS', name: 'tls' }, bind: '10.0.0.7', captureMode: 'NONE' },
    { port: { number: 15006, protocol: 'TCP', name: 'tcp' }, bind: '0.0.0.0' },
  );
  const targets = [target('a', 8080)];
  assert.deepEqual(inboundPorts({ ...INPUT, targets, sidecar: ingress }).map(summary), [
    '10.0.0.1 9080 HTTP PERMISSIVE sc.a',
    '10.0.0.7 9090 TLS PERMISSIVE bound sc.a',
    '0.0.0.0 15006 TCP PERMISSIVE sc.a',
  ]);
  const none = inboundPorts({ ...INPUT, targets, sidecar: ingress, interceptionMode: 'NONE' });
  assert.ok(none.every(({ toPort }) => toPort));
  const merged = inboundPorts({ ...INPUT, targets, sidecar: ingress, mergesServicePorts: true });
  assert.deepEqual(
    merged.map(({ targetPort }) => targetPort),
    [8080, 9080, 9090, 15006],
  );
});

test('a port with a mode of its own that nothing serves is caught apart from the others', () => {
  const policy = {
    mode: 'STRICT' as const,
    ports: [
      { port: 8080, mode: 'DISABLE' as const },
      { port: 9999, mode: 'DISABLE' as const },
    ],
  };
  const input = { ...INPUT, policy, targets: [target('a', 8080)] };
  assert.deepEqual(catchAllPorts(input).map(summary), [
    '0.0.0.0 0 Unsupported STRICT',
    '0.0.0.0 9999 Unsupported DISABLE',
  ]);
  assert.deepEqual(inboundPorts(input).map(summary), ['0.0.0.0 8080 HTTP DISABLE a']);
});

const SETTINGS: InboundSettings = {
  http: {
    accessLogs: NO_ACCESS_LOGS,
    statsFilters: [],
    switches: DEFAULT_LISTENER_SWITCHES,
    dnsLookupFamily: 'V4_ONLY',
    connectionExtensions: [],
    requestExtensions: [],
    istioExtensions: true,
    proxy: {},
    pathNormalization: undefined,
    networks: {},
    http10: false,
    tracing: UNTRACED,
  },
  access: {
    authorization: { policies: NO_AUTHORIZATION_POLICIES, trustDomains: ['cluster.local'] },
    custom: { policies: [], authorizers: new Map(), several: false, trustDomains: ['cluster.local'] },
    tokens: [],
  },
  tls: {
    meshMtls: undefined,
    defaults: undefined,
    trustDomains: ['cluster.local'],
    serverFiles: { certificate: '', privateKey: '', roots: '' },
    sockets: { credential: false, files: false },
    peerExchange: true,
  },
  statPattern: '',
  retry: undefined,
  detectionTimeout: '0s',
  exactBalance: false,
  dualStack: false,
};

function port(targetPort: number, protocol: Protocol, mode: MtlsMode, more: Partial<InboundPort> = {}): InboundPort {
  return {
    targetPort,
    port: { name: 'p', port: 80, protocol },
    binds: ['0.0.0.0'],
    toPort: false,
    cluster: `inbound|${targetPort}||`,
    hostname: 'a.example.com',
    mode,
    ...more,
  };
}

function listener(ports: readonly InboundPort[], settings: InboundSettings = SETTINGS) {
  return virtualInboundListener({ interceptionMode: 'REDIRECT', wildcards: ['0.0.0.0'], port: 15006, ports, settings });
}

/** Of each chain: what it matches, whether TLS ends there, and the last filter. */
function chains(ports: readonly InboundPort[], settings: InboundSettings = SETTINGS): readonly string[] {
  return (listener(ports, settings).filterChains ?? []).slice(1).map((chain) => {
    const { transportProtocol = 'any', applicationProtocols = [] } = chain.filterChainMatch ?? {};
    const last = chain.filters?.at(-1)?.name?.replace('envoy.filters.network.', '');
    const alpn = applicationProtocols.length > 0 ? ` ${applicationProtocols[0]}` : '';
    return `${transportProtocol}${alpn}${chain.transportSocket ? ' ends' : ''}: ${last}`;
  });
}

test('chains of a port follow from its protocol and its mode', () => {
  const http = 'http_connection_manager';
  const cases: readonly (readonly [Protocol, MtlsMode, readonly string[]])[] = [
    ['HTTP', 'STRICT', [`tls ends: ${http}`]],
    ['HTTP', 'PERMISSIVE', [`tls istio ends: ${http}`, `raw_buffer: ${http}`]],
    ['HTTP', 'DISABLE', [`raw_buffer: ${http}`]],
    ['TCP', 'STRICT', ['tls ends: tcp_proxy']],
    ['HTTPS', 'PERMISSIVE', ['tls istio ends: tcp_proxy', 'tls: tcp_proxy', 'raw_buffer: tcp_proxy']],
    ['UDP', 'DISABLE', ['raw_buffer: tcp_proxy']],
    ['Unsupported', 'STRICT', [`tls istio-http/1.0 ends: ${http}`, 'tls ends: tcp_proxy']],
    ['Unsupported', 'DISABLE', [`raw_buffer http/1.1: ${http}`, 'raw_buffer: tcp_proxy']],
    [
      'Unsupported',
      'PERMISSIVE',
      [
        `tls istio-http/1.0 ends: ${http}`,
        `raw_buffer http/1.1: ${http}`,
        'tls istio-peer-exchange ends: tcp_proxy',
        'raw_buffer: tcp_proxy',
        'tls: tcp_proxy',
      ],
    ],
  ];
  for (const [protocol, mode, expected] of cases) assert.deepEqual(chains([port(8080, protocol, mode)]), expected);
});

test('names of statistics have the port of the service, and the pattern of the target as it stands', () => {
  const settings = { ...SETTINGS, statPattern: '%SERVICE_FQDN%_%SERVICE_PORT%_%TARGET_PORT%' };
  const [, chain] = listener([port(9000, 'TCP', 'DISABLE')], settings).filterChains ?? [];
  const proxy = chain?.filters?.at(-1)?.typedConfig as { readonly statPrefix?: string };
  assert.equal(proxy.statPrefix, 'a.example.com_80_%TARGET_PORT%');
});

test('a node that can have no certificate takes plaintext, and where that is forbidden ends every connection', () => {
  const settings = { ...SETTINGS, tls: undefined };
  assert.deepEqual(chains([port(8080, 'HTTP', 'PERMISSIVE')], settings), ['raw_buffer: http_connection_manager']);
  const [, refused] = listener([port(8080, 'HTTP', 'STRICT')], settings).filterChains ?? [];
  assert.deepEqual(refused?.filterChainMatch, { destinationPort: 8080 });
  assert.equal(refused?.filters?.[0]?.typedConfig?.['cluster'], 'BlackHoleCluster');
});

test("a Sidecar's own TLS ends where the mesh's is off, and is left out where it is not", () => {
  const tls = { mode: 'SIMPLE' as const, serverCertificate: '/c.pem', privateKey: '/k.pem' };
  assert.deepEqual(chains([port(8080, 'HTTP', 'DISABLE', { tls })]), ['tls ends: http_connection_manager']);
  assert.deepEqual(chains([port(8080, 'HTTP', 'STRICT', { tls })]), ['tls ends: http_connection_manager']);
  const [, own] = listener([port(8080, 'HTTP', 'DISABLE', { tls })]).filterChains ?? [];
  assert.match(JSON.stringify(own?.transportSocket), /file-cert:\/c\.pem~\/k\.pem/);
});

test('inspectors work only where a chain of the port asks for them', () => {
  const ports = [port(0, 'Unsupported', 'PERMISSIVE'), port(9000, 'TCP', 'DISABLE'), port(8080, 'HTTP', 'PERMISSIVE')];
  const { listenerFilters = [] } = listener(ports);
  const range = (start: number) => ({ destinationPortRange: { start, end: start + 1 } });
  assert.deepEqual(
    listenerFilters.map(({ name, filterDisabled }) => [name?.replace('envoy.filters.listener.', ''), filterDisabled]),
    [
      ['original_dst', undefined],
      ['tls_inspector', { orMatch: { rules: [range(9000), range(15006)] } }],
      ['http_inspector', { orMatch: { rules: [range(8080), range(9000), range(15006)] } }],
    ],
  );
});

test('a bound listener looks for TLS on its port alone', () => {
  const { listenerFilters, name, transparent } = boundInboundListener(
    port(9000, 'TCP', 'PERMISSIVE', { toPort: true, binds: ['10.0.0.1'] }),
    SETTINGS,
  );
  assert.equal(name, '10.0.0.1_9000');
  assert.equal(transparent, undefined);
  const range = { destinationPortRange: { start: 9000, end: 9001 } };
  assert.deepEqual(
    listenerFilters?.map(({ filterDisabled }) => filterDisabled),
    [{ notMatch: range }],
  );
});

test('TPROXY keeps the addresses of both ends', () => {
  const { transparent, listenerFilters = [] } = virtualInboundListener({
    interceptionMode: 'TPROXY',
    wildcards: ['::'],
    port: 15006,
    ports: [],
    settings: SETTINGS,
  });
  assert.equal(transparent, true);
  assert.deepEqual(
    listenerFilters.map(({ name }) => name),
    ['envoy.filters.listener.original_dst', 'envoy.filters.listener.original_src'],
  );
});

test('an Envoy without Istio’s filters is sent none', () => {
  const settings = { ...SETTINGS, http: { ...SETTINGS.http, istioExtensions: false } };
  const all = JSON.stringify(listener([port(0, 'Unsupported', 'PERMISSIVE'), port(80, 'HTTP', 'STRICT')], settings));
  assert.doesNotMatch(all, /metadata_exchange|TypedStruct/);
});
