import assert from 'node:assert/strict';
import { test } from 'node:test';
import { meshFixture, object } from '../../support/mesh-fixture.ts';

test('of a host in two namespaces sidecars see their own, routers the first', () => {
  const entry = (namespace: string, number: number) => {
    const ports = [{ number, name: 'http', protocol: 'HTTP' }];
    const spec = { hosts: ['api.example.com'], resolution: 'STATIC', ports, endpoints: [{ address: '10.9.0.1' }] };
    return object('ServiceEntry', 'api', spec, namespace);
  };
  const { connect, pipeline } = meshFixture([entry('default', 80), entry('a', 81)]);
  const portsSeenBy = (type: 'sidecar' | 'router') => {
    const scope = connect(type, { ip: '10.0.0.1', type });
    const service = pipeline.mesh.sidecarScope.get(scope).servicesByHostname.get('api.example.com');
    return service?.ports.map(({ port }) => port);
  };
  assert.deepEqual(portsSeenBy('sidecar'), [80]);
  assert.deepEqual(portsSeenBy('router'), [81]);
});

test('a Kubernetes Service takes the place of an entry of its host, which for routers stays where the entry stood', () => {
  const entry = (namespace: string, name: string, host: string) =>
    object('ServiceEntry', name, { hosts: [host], ports: [{ number: 80, name: 'http', protocol: 'HTTP' }] }, namespace);
  const service = object('Service', 'web', { ports: [{ name: 'http', port: 80 }] }, 'b');
  const { connect, pipeline } = meshFixture([
    entry('a', 'first', 'web.b.svc.cluster.local'),
    { ...entry('a', 'second', 'second.example.com'), creationTime: 1 },
    { ...service, creationTime: 2 },
  ]);
  const seenBy = (type: 'sidecar' | 'router') =>
    pipeline.mesh.sidecarScope
      .get(connect(type, { type, namespace: 'c' }))
      .services.map(({ name, registry }) => `${registry} ${name}`);
  assert.deepEqual(seenBy('sidecar'), ['External second.example.com', 'Kubernetes web']);
  assert.deepEqual(seenBy('router'), ['Kubernetes web', 'External second.example.com']);
});
