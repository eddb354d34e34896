import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ProxySession, ProxySessions } from '../../../src/pipeline/session.ts';
import { decodeMessage } from '../../../src/proto/decode.ts';
import { CLUSTER_TYPE, ENDPOINT_TYPE, LISTENER_TYPE, messageName, ROUTE_TYPE } from '../../../src/proto/type-urls.ts';
import { meshFixture, object } from '../../support/mesh-fixture.ts';

type Spec = Readonly<Record<string, unknown>>;

const DERIVATIONS = ['grpcCluster', 'grpcClientListener', 'grpcClusters', 'grpcListeners', 'grpcRoutes', 'cluster'];
const SEEN = [...DERIVATIONS, 'grpcLoadAssignment', 'loadAssignment', 'outboundPlan', 'virtualHost'];

const entry = (name: string, more: Spec = {}, namespace = 'default') =>
  object(
    'ServiceEntry',
    name,
    {
      hosts: [`${name}.example.com`],
      location: 'MESH_INTERNAL',
      resolution: 'STATIC',
      ports: [{ number: 7070, name: 'grpc', protocol: 'GRPC' }],
      endpoints: [{ address: '10.0.0.1' }, { address: '10.0.0.2' }],
      ...more,
    },
    namespace,
  );
const rule = (spec: Spec) => object('DestinationRule', 'web', { host: 'web.example.com', ...spec });

function started(...configs: readonly ReturnType<typeof object>[]) {
  const fixture = meshFixture(configs, SEEN);
  const sessions = new ProxySessions(fixture.pipeline);
  const connect = (metadata: Spec = {}): ProxySession => {
    const session = sessions.connect({
      id: 'sidecar~10.9.9.9~client.default~default.svc.cluster.local',
      metadata: {
        NAMESPACE: 'default',
        CLUSTER_ID: 'Kubernetes',
        GENERATOR: 'grpc',
        ...(metadata as Record<string, never>),
      },
      extensions: [],
    });
    if ('refused' in session) throw new Error(session.refused);
    return session;
  };
  return { ...fixture, connect };
}

const ask = (session: ProxySession, typeUrl: string, ...names: readonly string[]) =>
  session.ask(typeUrl, new Set(names), false);
const names = (session: ProxySession, typeUrl: string) =>
  [...(session.resources(typeUrl)?.values() ?? [])].map(({ name }) => name);
const resource = (session: ProxySession, typeUrl: string, name: string) => {
  const bytes = session.resources(typeUrl)?.get(name)?.bytes;
  assert.ok(bytes, `there is no ${name}`);
  return decodeMessage(messageName(typeUrl), bytes);
};

const WEB = 'outbound|7070||web.example.com';

test('only what is asked for is made, and it goes when nobody asks any more', () => {
  const { connect, ran } = started(entry('web'), entry('other'));
  const [one, two] = [connect(), connect()];
  ran();
  ask(one, CLUSTER_TYPE, WEB);
  ask(two, CLUSTER_TYPE, WEB, 'outbound|7070||other.example.com');
  assert.deepEqual(names(one, CLUSTER_TYPE), ['outbound|7070||other.example.com', WEB]);
  assert.deepEqual(
    ran().filter((name) => name === 'grpcCluster' || name === 'cluster' || name === 'outboundPlan'),
    ['grpcCluster', 'grpcCluster'],
  );
  ask(two, CLUSTER_TYPE);
  assert.deepEqual(names(one, CLUSTER_TYPE), [WEB]);
  one.close();
  assert.deepEqual(names(two, CLUSTER_TYPE), []);
});

test('a moved endpoint makes one load assignment, which Envoys share, and nothing else', () => {
  const { connect, edit, ran } = started(entry('web'), entry('other'));
  const [grpc, envoy] = [connect(), connect({ GENERATOR: '' })];
  ask(grpc, LISTENER_TYPE, 'web.example.com:7070');
  ask(grpc, ROUTE_TYPE, WEB);
  ask(grpc, CLUSTER_TYPE, WEB);
  ask(grpc, ENDPOINT_TYPE, WEB);
  for (const session of [grpc, envoy]) {
    for (const type of [LISTENER_TYPE, ROUTE_TYPE, CLUSTER_TYPE, ENDPOINT_TYPE]) session.resources(type);
  }
  const bytes = (session: ProxySession) => session.resources(ENDPOINT_TYPE)?.get(WEB)?.bytes;
  assert.equal(bytes(grpc), bytes(envoy));
  ran();
  edit(entry('web', { endpoints: [{ address: '10.0.0.3' }] }));
  assert.deepEqual([...ran()].sort(), ['grpcLoadAssignment', 'loadAssignment']);
  assert.equal(bytes(grpc), bytes(envoy));
});

test('an address that stands there twice is sent once, and a Unix socket not at all: gRPC would refuse them all', () => {
  const twice = [{ address: '10.0.0.1' }, { address: '10.0.0.1', locality: 'eu/west' }, { address: '10.0.0.2' }];
  const { connect } = started(
    entry('web', { endpoints: twice }),
    entry('local', { endpoints: [{ address: 'unix:///run/web.sock' }, { address: '10.0.0.3' }] }),
  );
  const session = connect();
  const LOCAL = 'outbound|7070||local.example.com';
  ask(session, ENDPOINT_TYPE, WEB, LOCAL);
  const addresses = (name: string) =>
    [...JSON.stringify(resource(session, ENDPOINT_TYPE, name)).matchAll(/"address":"([^"]*)"/g)].map(([, ip]) => ip);
  assert.deepEqual(addresses(WEB), ['10.0.0.1', '10.0.0.2']);
  assert.deepEqual(addresses(LOCAL), ['10.0.0.3']);
});

test('a client that moves to another scope keeps what it asked for, as far as it sees it there', () => {
  const { connect, edit } = started(entry('web'), entry('other', {}, 'elsewhere'));
  const session = connect();
  ask(session, CLUSTER_TYPE, WEB, 'outbound|7070||other.example.com');
  const before = session.scope;
  edit(object('Sidecar', 'own', { egress: [{ hosts: ['./*'] }] }));
  assert.notEqual(session.scope, before);
  assert.deepEqual(names(session, CLUSTER_TYPE), [WEB]);
});

test('a subset that a rule stops naming goes, and one that it begins to name comes', () => {
  const V1 = 'outbound|7070|v1|web.example.com';
  const { connect, edit } = started(entry('web'));
  const session = connect();
  ask(session, CLUSTER_TYPE, V1);
  assert.deepEqual(names(session, CLUSTER_TYPE), []);
  edit(rule({ subsets: [{ name: 'v1', labels: { version: 'v1' } }] }));
  assert.deepEqual(names(session, CLUSTER_TYPE), [V1]);
  edit(rule({ subsets: [{ name: 'v2' }] }));
  assert.deepEqual(names(session, CLUSTER_TYPE), []);
});

test('of a rule counts what gRPC can do: other ways to choose an endpoint are its own, and a hash is a ring', () => {
  const { connect, edit } = started(entry('web'));
  const session = connect();
  ask(session, CLUSTER_TYPE, WEB);
  const policy = (loadBalancer: Spec) => {
    edit(rule({ trafficPolicy: { loadBalancer } }));
    return resource(session, CLUSTER_TYPE, WEB)['lbPolicy'];
  };
  assert.equal(policy({ simple: 'RANDOM' }), undefined);
  assert.equal(policy({ simple: 'LEAST_REQUEST' }), 'LEAST_REQUEST');
  assert.equal(policy({ consistentHash: { httpHeaderName: 'x-user', maglev: {} } }), 'RING_HASH');
});

test('the SANs that a rule names are the ones to expect of its servers', () => {
  const { connect, edit } = started(entry('web', { subjectAltNames: ['spiffe://cluster.local/ns/default/sa/web'] }));
  const session = connect();
  ask(session, CLUSTER_TYPE, WEB);
  const expected = (tls: Spec) => {
    edit(rule({ trafficPolicy: { tls } }));
    return JSON.stringify(resource(session, CLUSTER_TYPE, WEB)).match(/"exact":"[^"]*"/g);
  };
  assert.deepEqual(expected({ mode: 'ISTIO_MUTUAL' }), ['"exact":"spiffe://cluster.local/ns/default/sa/web"']);
  assert.deepEqual(expected({ mode: 'ISTIO_MUTUAL', subjectAltNames: ['spiffe://own'] }), ['"exact":"spiffe://own"']);
  assert.deepEqual(expected({ mode: 'DISABLE' }), null);
});

test('a service that would have to be resolved has no endpoints, and an unknown one none to speak of', () => {
  const { connect } = started(entry('dns', { resolution: 'DNS', endpoints: [{ address: 'a.example.org' }] }));
  const session = connect();
  const DNS = 'outbound|7070||dns.example.com';
  ask(session, ENDPOINT_TYPE, DNS, 'outbound|7070||none.example.com');
  assert.deepEqual(names(session, ENDPOINT_TYPE), [DNS]);
  assert.deepEqual(resource(session, ENDPOINT_TYPE, DNS), { clusterName: DNS });
});

test('a listener is found by the names that are short for its service, and by none of another namespace', () => {
  const full = (name: string, namespace: string) =>
    entry(name, { hosts: [`${name}.${namespace}.svc.cluster.local`] }, namespace);
  const { connect } = started(full('greeter', 'default'), full('greeter', 'other'));
  const session = connect();
  ask(session, LISTENER_TYPE, 'greeter:7070', 'greeter.other:7070', 'greeter.default.svc:7070', 'greeter:1');
  assert.deepEqual(names(session, LISTENER_TYPE), ['greeter.default.svc:7070', 'greeter:7070']);
  assert.match(
    JSON.stringify(resource(session, LISTENER_TYPE, 'greeter:7070')),
    /outbound\|7070\|\|greeter\.default\.svc\.cluster\.local/,
  );
});

test('a wildcard asks for the listeners of all services by their own names', () => {
  const { connect } = started(entry('web'), entry('other'));
  const session = connect();
  session.ask(LISTENER_TYPE, new Set(), true);
  assert.deepEqual(names(session, LISTENER_TYPE), ['other.example.com:7070', 'web.example.com:7070']);
});

test('a listener is answered under the xdstp name by which it is asked for', () => {
  const { connect } = started(entry('web'));
  const session = connect();
  const name = 'xdstp://mesh/envoy.config.listener.v3.Listener/web.example.com:7070';
  ask(session, LISTENER_TYPE, name);
  assert.equal(resource(session, LISTENER_TYPE, name)['name'], name);
});

test('routes hold the virtual hosts of their host alone; those of an unknown one none', () => {
  const { connect } = started(entry('web'), entry('other'));
  const session = connect();
  ask(session, ROUTE_TYPE, WEB, 'outbound|7070||none.example.com', '7070');
  assert.deepEqual(names(session, ROUTE_TYPE), ['outbound|7070||none.example.com', WEB]);
  const hosts = resource(session, ROUTE_TYPE, WEB)['virtualHosts'] as readonly { readonly name: string }[];
  assert.deepEqual(
    hosts.map(({ name }) => name),
    ['web.example.com:7070'],
  );
  assert.equal(resource(session, ROUTE_TYPE, 'outbound|7070||none.example.com')['virtualHosts'], undefined);
});

test('a server on a port of its workload is told how connections come; on another port it is told nothing', () => {
  const server = entry('server', { endpoints: [{ address: '10.9.9.9', labels: { app: 'server' } }] });
  const { connect, edit } = started(server);
  const session = connect({ LABELS: { app: 'server' } });
  const name = (port: number) => `xds.istio.io/grpc/lds/inbound/0.0.0.0:${port}`;
  ask(session, LISTENER_TYPE, name(7070), name(7071));
  assert.deepEqual(names(session, LISTENER_TYPE), [name(7070)]);
  const kind = () =>
    JSON.stringify(resource(session, LISTENER_TYPE, name(7070))).match(/"name":"inbound-(mtls|plaintext)"/)?.[0];
  assert.equal(kind(), '"name":"inbound-plaintext"');
  edit(object('PeerAuthentication', 'strict', { mtls: { mode: 'STRICT' } }));
  assert.equal(kind(), '"name":"inbound-mtls"');
});
