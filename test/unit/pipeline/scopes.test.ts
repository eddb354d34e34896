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
