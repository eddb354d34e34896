import assert from 'node:assert/strict';
import { test } from 'node:test';
import { identity } from '../../../src/agent/identity.ts';
import { proxyOfNode } from '../../../src/model/node.ts';

const MACHINE = { hostname: 'vm-1.example.com', addresses: ['10.0.0.5', 'fd00::5'] };

function of(env: Readonly<Record<string, string>>, machine = MACHINE) {
  return identity({ env, proxyConfig: {} }, machine);
}

test('a machine that says nothing has its host name, its addresses and the default namespace', () => {
  const { namespace, node } = of({});
  assert.equal(namespace, 'default');
  assert.deepEqual(node, {
    id: 'sidecar~10.0.0.5~vm-1.default~default.svc.cluster.local',
    cluster: 'istio-proxy.default',
    metadata: {
      NAME: 'vm-1',
      NAMESPACE: 'default',
      SERVICE_ACCOUNT: 'default',
      INSTANCE_IPS: '10.0.0.5,fd00::5',
      LABELS: {},
    },
  });
  assert.equal(
    of({}, { hostname: 'x', addresses: [] }).node['id'],
    'sidecar~127.0.0.1~x.default~default.svc.cluster.local',
  );
});

test('what the variables say is what the control plane reads', () => {
  const { node } = of({
    POD_NAME: 'ratings-1',
    POD_NAMESPACE: 'shop',
    INSTANCE_IP: '192.0.2.1',
    SERVICE_ACCOUNT: 'ratings',
    PROXY_TYPE: 'router',
    ISTIO_METAJSON_LABELS: '{"app":"ratings","istio-locality":"eu.west.a"}',
    ISTIO_METAJSON_MORE: '{"OWNER":"me"}',
    ISTIO_META_NETWORK: 'vm',
    ISTIO_META_CLUSTER_ID: 'Kubernetes',
    ISTIO_META_DNS_CAPTURE: 'true',
    ISTIO_META_ISTIO_REVISION: 'canary',
    ISTIO_META_INTERCEPTION_MODE: 'NONE',
  });
  const { id, cluster, metadata, locality } = node as {
    id: string;
    cluster: string;
    metadata: Record<string, string>;
    locality: object;
  };
  assert.equal(cluster, 'ratings.shop');
  assert.equal(metadata['OWNER'], 'me');
  const proxy = proxyOfNode({ id, cluster, metadata, locality, extensions: [] });
  assert.ok(!('refused' in proxy));
  const { type, ips, namespace, labels, network, clusterId, serviceAccount, revision, interceptionMode } = proxy;
  assert.deepEqual(
    { id: proxy.id, type, ips, namespace, labels, network, clusterId, serviceAccount, revision, interceptionMode },
    {
      id: 'ratings-1.shop',
      type: 'router',
      ips: ['192.0.2.1', '10.0.0.5', 'fd00::5'],
      namespace: 'shop',
      labels: { app: 'ratings', 'istio-locality': 'eu.west.a' },
      network: 'vm',
      clusterId: 'Kubernetes',
      serviceAccount: 'ratings',
      revision: 'canary',
      interceptionMode: 'NONE',
    },
  );
  assert.deepEqual(proxy.locality, { region: 'eu', zone: 'west', subZone: 'a' });
});

test('the service that it is of is named, or comes from its labels', () => {
  const cluster = (env: Readonly<Record<string, string>>) => of(env).node['cluster'];
  assert.equal(cluster({ ISTIO_SERVICE: 'ratings.shop' }), 'ratings.shop');
  assert.equal(cluster({ ISTIO_META_WORKLOAD_NAME: 'vm' }), 'vm.default');
  assert.equal(identity({ env: {}, proxyConfig: { serviceCluster: 'legacy' } }, MACHINE).node['cluster'], 'legacy');
});
