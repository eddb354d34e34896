import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { envoy } from '#generated/proto/types.ts';
import type { Config, ConfigKey } from '../../../src/config/config.ts';
import { Graph } from '../../../src/derive/graph.ts';
import { serviceDomains } from '../../../src/envoy/routes/domains.ts';
import { registryOfPort, virtualHostPlan } from '../../../src/envoy/routes/virtual-host-plan.ts';
import { proxyOfNode } from '../../../src/model/node.ts';
import { DEFAULT_MESH_OPTIONS } from '../../../src/pipeline/options.ts';
import { createPipeline } from '../../../src/pipeline/pipeline.ts';
import { decodeMessage } from '../../../src/proto/decode.ts';
import { ROUTE_TYPE } from '../../../src/proto/type-urls.ts';
import { object } from '../../support/mesh-fixture.ts';
import { runs } from '../../support/runs.ts';

type RouteConfiguration = envoy.config.route.v3.RouteConfiguration;

const NAMESPACES = ['a', 'b', 'c'];
const DOMAIN = 'svc.cluster.local';

/** Names that are short forms of each other, of names with dots before the namespace, and of no service. */
const host = fc.oneof(
  fc.constantFrom('x', 'y', 'x.a', 'y.b.svc', 'X', 'deep.x.a.svc.cluster.local', 'other.example.com'),
  fc
    .tuple(fc.constantFrom('x', 'y', 'z', 'X'), fc.constantFrom(...NAMESPACES))
    .map(([name, ns]) => `${name}.${ns}.${DOMAIN}`),
);
const serviceEntry = fc
  .tuple(host, fc.constantFrom('HTTP', 'TCP', ''), fc.constantFrom(80, 8080))
  .map(([name, protocol, number]) => ({
    hosts: [name],
    location: 'MESH_INTERNAL',
    resolution: 'STATIC',
    ports: [{ name: 'p', number, protocol }],
    endpoints: [{ address: '10.0.0.1' }],
  }));
const virtualService = fc.tuple(host, fc.option(fc.constantFrom(...NAMESPACES))).map(([name, sourceNamespace]) => ({
  hosts: [name],
  http: [
    {
      ...(sourceNamespace ? { match: [{ sourceNamespace }] } : {}),
      route: [{ destination: { host: 'other.example.com' } }],
    },
  ],
}));
const configs = fc
  .tuple(fc.array(serviceEntry, { minLength: 1, maxLength: 8 }), fc.array(virtualService, { maxLength: 3 }))
  .map(([services, routes]) => [
    ...services.map((spec, i) => object('ServiceEntry', `s${i}`, spec, NAMESPACES[i % 3])),
    ...routes.map((spec, i) => object('VirtualService', `v${i}`, spec, NAMESPACES[i % 3])),
  ]);

test('a plan that namespaces share gives each of them the names that it would have with a plan of its own', () => {
  fc.assert(
    fc.property(configs, (objects) => {
      const graph = new Graph();
      const input = graph.input<ConfigKey, Config>('config');
      graph.batch(() => {
        for (const config of objects) input.set(config.key, config);
      });
      const { mesh, resources } = createPipeline(graph, input, DEFAULT_MESH_OPTIONS);
      for (const namespace of NAMESPACES) {
        const dnsDomain = `${namespace}.${DOMAIN}`;
        const proxy = proxyOfNode({
          id: `sidecar~10.1.0.1~app.${namespace}~${dnsDomain}`,
          metadata: { NAMESPACE: namespace, CLUSTER_ID: 'Kubernetes' } as never,
          extensions: [],
        });
        assert.ok('nodeId' in proxy);
        graph.batch(() => mesh.proxies.set(proxy.nodeId, proxy));
        const scope = mesh.scopeOf.get(proxy.nodeId);
        assert.ok(scope);
        const resource = resources.get(ROUTE_TYPE)?.get(scope).get('80');
        if (resource === undefined) continue;
        const served: RouteConfiguration = decodeMessage('envoy.config.route.v3.RouteConfiguration', resource.bytes);
        const hosts = (served.virtualHosts ?? []).filter(({ domains }) => domains?.[0] !== '*');
        assert.deepEqual(
          hosts.map(({ name, domains }) => [name, domains]),
          plannedAlone(mesh, namespace, dnsDomain),
        );
      }
    }),
    { numRuns: runs(200) },
  );
});

type Mesh = ReturnType<typeof createPipeline>['mesh'];

function plannedAlone(mesh: Mesh, namespace: string, dnsDomain: string) {
  const [egress] = mesh.sidecarScope.get({ namespace, sidecar: '' }).egress;
  assert.ok(egress);
  const services = egress.services.filter(({ ports }) => ports.some(({ port }) => port === 80));
  const admitted = egress.virtualServices.filter(({ key }) => {
    const { match = [] } = (mesh.virtualService.get(key)?.spec.http ?? [])[0] ?? {};
    return match.every(({ sourceNamespace }) => sourceNamespace === namespace);
  });
  const plan = virtualHostPlan({
    listenPort: 80,
    registry: registryOfPort(services, 80),
    virtualServices: admitted,
    mostSpecific: egress.mostSpecificVirtualService,
    clientNamespace: namespace,
    withPort: false,
    domainsOf: ({ hostname }) =>
      serviceDomains({ hostname, aliases: [], addresses: [], headless: false, port: 0, dnsDomain }),
  });
  return plan.hosts.map(({ name, domains }) => [name, domains]);
}
