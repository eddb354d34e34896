import fc from 'fast-check';
import { type Config, type ConfigKey, configKey } from '../../src/config/config.ts';
import { object } from './mesh-fixture.ts';

type Spec = Readonly<Record<string, unknown>>;

/** An object that is written, or taken away. */
export interface RandomEdit {
  readonly key: ConfigKey;
  readonly config: Config | undefined;
}

const NAMESPACES = ['a', 'edge'] as const;
const SERVICES = ['x.com', 'y.com', 'z.local'] as const;

const namespace = fc.constantFrom(...NAMESPACES);
const host = fc.constantFrom('x.com', 'www.x.com', '*.com', '*', 'Y.com', 'z.local');
const serverHost = fc.oneof(
  host,
  fc.tuple(fc.constantFrom('.', '*', 'a', 'edge'), host).map(([ns, name]) => `${ns}/${name}`),
);
const port = fc.constantFrom(80, 443, 9000);

const certificates = fc.constantFrom<Spec>(
  { credentialName: 'c' },
  { credentialNames: ['c', 'd'], subjectAltNames: ['n.com'] },
  { serverCertificate: '/c.pem', privateKey: '/c.key', caCertificates: '/ca.pem', minProtocolVersion: 'TLSV1_2' },
);
const ended = fc
  .tuple(fc.constantFrom('SIMPLE', 'MUTUAL', 'OPTIONAL_MUTUAL', 'ISTIO_MUTUAL'), certificates)
  .map(([mode, more]): Spec => (mode === 'ISTIO_MUTUAL' ? { mode } : { mode, ...more }));
const passed = fc.constantFrom<Spec>({ mode: 'PASSTHROUGH' }, { mode: 'AUTO_PASSTHROUGH' });

/** Protocols with what of TLS goes with them. */
const spoken = fc.oneof(
  fc.record({ protocol: fc.constantFrom('HTTP', 'GRPC', 'HTTP2', 'GRPC-WEB', 'TCP', 'MONGO') }),
  fc.record({ protocol: fc.constantFrom('HTTP', 'GRPC'), tls: fc.constant<Spec>({ httpsRedirect: true }) }),
  fc.record({ protocol: fc.constantFrom('HTTPS', 'TLS'), tls: fc.oneof(ended, passed) }),
);
const server = fc.record(
  {
    spoken,
    number: port,
    bind: fc.constantFrom('127.0.0.1', '10.9.9.9'),
    hosts: fc.uniqueArray(serverHost, { minLength: 1, maxLength: 3 }),
    name: fc.constant('named'),
  },
  { requiredKeys: ['spoken', 'number', 'hosts'] },
);
const gateway = fc
  .record({
    selector: fc.constantFrom({}, { app: 'p' }, { app: 'p', tier: 't' }),
    servers: fc.array(server, { minLength: 1, maxLength: 5 }),
  })
  .map(({ selector, servers }): Spec => {
    const written = servers.map(({ spoken: { protocol, ...tls }, number, ...more }, i) => ({
      ...more,
      ...tls,
      port: { number, protocol, name: `p${i}` },
    }));
    return { selector, servers: written };
  });

const gateways = fc.subarray(['a/one', 'edge/one', 'edge/two', 'mesh'], { minLength: 1 });
const route = fc.array(
  fc.record({
    destination: fc.record(
      {
        host: fc.constantFrom(...SERVICES, 'unknown.com'),
        subset: fc.constant('v1'),
        port: fc.constant({ number: 80 }),
      },
      { requiredKeys: ['host'] },
    ),
    weight: fc.constantFrom(10, 90),
  }),
  { minLength: 1, maxLength: 2 },
);
const l4Match = fc.record({ port, gateways }, { requiredKeys: [] });
const virtualService = fc.record(
  {
    hosts: fc.uniqueArray(host, { minLength: 1, maxLength: 3 }),
    gateways,
    exportTo: fc.constantFrom(['*'], ['.'], ['edge']),
    http: fc.array(
      fc.record(
        {
          match: fc.array(
            fc.record(
              {
                port,
                gateways,
                uri: fc.constantFrom({ prefix: '/' }, { prefix: '/a' }),
                sourceLabels: fc.constant({ app: 'p' }),
              },
              { requiredKeys: [] },
            ),
            { maxLength: 2 },
          ),
          route,
        },
        { requiredKeys: ['route'] },
      ),
      { maxLength: 2 },
    ),
    tcp: fc.array(fc.record({ match: fc.array(l4Match, { maxLength: 2 }), route }), { maxLength: 2 }),
    tls: fc.array(
      fc.record({
        match: fc.array(
          fc
            .tuple(l4Match, fc.uniqueArray(fc.constantFrom('x.com', 'www.x.com', '*.com'), { minLength: 1 }))
            .map(([match, sniHosts]): Spec => ({ ...match, sniHosts })),
          { minLength: 1, maxLength: 2 },
        ),
        route,
      }),
      { maxLength: 2 },
    ),
  },
  { requiredKeys: ['hosts', 'gateways'] },
);
const serviceEntry = fc.record({
  hosts: fc.uniqueArray(fc.constantFrom(...SERVICES), { minLength: 1, maxLength: 2 }),
  exportTo: fc.constantFrom(['*'], ['.']),
  location: fc.constantFrom('MESH_INTERNAL', 'MESH_EXTERNAL'),
  resolution: fc.constantFrom('STATIC', 'DNS'),
  ports: fc.constantFrom(
    [{ number: 80, name: 'http', protocol: 'HTTP' }],
    [
      { number: 80, name: 'http', protocol: 'HTTP' },
      { number: 9000, name: 'tcp', protocol: 'TCP' },
    ],
  ),
  endpoints: fc.constantFrom([{ address: '10.1.0.1' }], [{ address: '10.1.0.2', labels: { version: 'v1' } }]),
});
const destinationRule = fc.record({
  host: fc.constantFrom(...SERVICES, '*.com'),
  subsets: fc.constantFrom([], [{ name: 'v1', labels: { version: 'v1' } }]),
  trafficPolicy: fc.constantFrom<Spec>(
    {},
    { loadBalancer: { consistentHash: { useSourceIp: true } } },
    { connectionPool: { tcp: { idleTimeout: '7s' } } },
  ),
});

const KINDS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  Gateway: gateway,
  VirtualService: virtualService,
  ServiceEntry: serviceEntry,
  DestinationRule: destinationRule,
};

/** Edits of Gateways and of what they lead to, in few names, so that they meet. */
export const randomGatewayEdit: fc.Arbitrary<RandomEdit> = fc
  .constantFrom('Gateway', 'Gateway', 'VirtualService', 'VirtualService', 'ServiceEntry', 'DestinationRule')
  .chain((kind) =>
    fc
      .tuple(namespace, fc.constantFrom('one', 'two'), fc.option(KINDS[kind] ?? fc.constant({}), { freq: 5 }))
      .map(([ns, name, spec]) => ({
        key: configKey('networking.istio.io', kind, ns, name),
        config: spec === null ? undefined : object(kind, name, spec as Spec, ns),
      })),
  );
