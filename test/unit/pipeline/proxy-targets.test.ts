import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meshFixture, object } from '../../support/mesh-fixture.ts';

const PORTS = [{ number: 80, name: 'http', protocol: 'HTTP' }];
const entry = (name: string, ...addresses: readonly string[]) =>
  object('ServiceEntry', name, {
    hosts: [`${name}.example.com`],
    location: 'MESH_INTERNAL',
    resolution: 'STATIC',
    ports: PORTS,
    endpoints: addresses.map((address) => ({ address })),
  });
const chooser = (name: string, app: string) =>
  object('ServiceEntry', name, {
    hosts: [`${name}.example.com`],
    location: 'MESH_INTERNAL',
    resolution: 'STATIC',
    ports: PORTS,
    workloadSelector: { labels: { app } },
  });
const selecting = chooser('web', 'web');
const workload = object('WorkloadEntry', 'web-1', { address: '10.0.0.1', labels: { app: 'web' } });

function started() {
  const fixture = meshFixture([entry('db', '10.0.0.8'), selecting, workload], ['scopeOf']);
  const hosts = (name: string): readonly string[] =>
    fixture.pipeline.mesh.scopeOf.get(name)?.targets.map(({ serviceId }) => serviceId.split('/')[2] ?? '') ?? [];
  const connect = (name: string, ip: string, labels = {}): void => {
    const scope = fixture.connect(name, { ip, labels });
    fixture.graph.watch(fixture.pipeline.mesh.scopeOf, name);
    assert.equal(scope.namespace, 'default');
  };
  connect('web', '10.0.0.1');
  connect('other', '10.0.0.2');
  fixture.ran();
  return { ...fixture, hosts, connect };
}

test('an edit of an entry with endpoints of its own looks at the proxies behind it alone', () => {
  const { edit, ran, hosts } = started();
  edit(entry('db', '10.0.0.9'));
  assert.deepEqual(ran(), []);
  edit(entry('db', '10.0.0.2'));
  assert.deepEqual(ran(), ['scopeOf']);
  assert.deepEqual(hosts('other'), ['db.example.com']);
});

test('an edit of what selects other workloads looks at no proxy', () => {
  const { edit, ran, hosts, connect } = started();
  edit(chooser('api', 'api'));
  const service = (app: string) =>
    object('Service', 'kube', { selector: { app }, ports: [{ name: 'http', port: 80 }] });
  edit(service('api'));
  assert.deepEqual(ran(), []);
  edit(chooser('api', 'web'));
  assert.deepEqual(ran(), ['scopeOf']);
  assert.deepEqual(hosts('web'), ['api.example.com', 'web.example.com']);
  connect('pod', '10.0.0.3', { app: 'web' });
  edit(service('web'));
  assert.deepEqual(hosts('pod'), ['kube.default.svc.cluster.local']);
});

test('an entry that selects workloads has those that it selects, whichever of the two comes first', () => {
  const { edit, remove, hosts } = started();
  assert.deepEqual(hosts('web'), ['web.example.com']);
  remove(selecting);
  assert.deepEqual(hosts('web'), []);
  edit(selecting);
  assert.deepEqual(hosts('web'), ['web.example.com']);
  remove(workload);
  assert.deepEqual(hosts('web'), []);
});

test('a proxy of another cluster serves no Service of Kubernetes', () => {
  const service = object('Service', 'web', { selector: { app: 'web' }, ports: [{ name: 'http', port: 80 }] });
  const { connect } = meshFixture([service], ['scopeOf']);
  const targetsOf = (name: string, CLUSTER_ID: string) =>
    connect(name, { ip: '10.0.0.5', labels: { app: 'web' }, metadata: { CLUSTER_ID } }).targets.length;
  assert.equal(targetsOf('near', 'Kubernetes'), 1);
  assert.equal(targetsOf('unsaid', ''), 1);
  assert.equal(targetsOf('far', 'elsewhere'), 0);
});

test('a proxy without a pod finds a named port in what it says of its ports, and as a machine knows none', () => {
  const port = (name: string, targetPort: string | number) => ({ name, port: 80, targetPort });
  const service = (...ports: readonly object[]) => object('Service', 'web', { selector: { app: 'web' }, ports });
  const targetPorts = (config: ReturnType<typeof service>, metadata: Readonly<Record<string, string>>) => {
    const { connect } = meshFixture([config], ['scopeOf']);
    return connect('web', { ip: '10.0.0.5', labels: { app: 'web' }, metadata }).targets.map((t) => t.targetPort);
  };
  const said = { POD_PORTS: '[{"name": "web", "containerPort": 8080}, null]' };
  assert.deepEqual(targetPorts(service(port('http', 'web'), port('tcp', 9000)), said), [8080, 9000]);
  assert.deepEqual(targetPorts(service(port('http', 'web'), port('tcp', 'other')), said), []);
  assert.deepEqual(targetPorts(service(port('http', 'web'), port('tcp', 9000)), {}), [0, 9000]);
});

test('a proxy has the labels of its pod, whatever state that is in, and its node is the one that it says itself', () => {
  const pod = { ...object('Pod', 'web-1', { nodeName: 'a', containers: [] }), labels: { app: 'web' } };
  const node = { ...object('Node', 'a', {}), labels: { 'topology.kubernetes.io/region': 'east' } };
  const { connect } = meshFixture([
    { ...pod, key: '/Pod/default/web-1', group: '' },
    { ...node, key: '/Node//a', group: '', namespace: '' },
  ]);
  const { labels } = connect('web-1', { labels: { app: 'said' } });
  assert.equal(labels['app'], 'web');
  assert.equal(labels['topology.kubernetes.io/region'], 'east');
  assert.equal(labels['kubernetes.io/hostname'], undefined);
});

test('what a proxy is labelled is said by the entry that has its address, or by itself where it is of another cluster', () => {
  const endpoints = [{ address: '10.0.0.5', labels: { app: 'db' } }];
  const spec = { hosts: ['db.example.com'], resolution: 'STATIC', ports: PORTS, endpoints };
  const { connect } = meshFixture([object('ServiceEntry', 'db', spec)]);
  const labelOf = (name: string, CLUSTER_ID: string) =>
    connect(name, { ip: '10.0.0.5', labels: { app: 'said' }, metadata: { CLUSTER_ID } }).labels['app'];
  assert.equal(labelOf('near', 'Kubernetes'), 'db');
  assert.equal(labelOf('unsaid', ''), 'db');
  assert.equal(labelOf('far', 'elsewhere'), 'said');
});
