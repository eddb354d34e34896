import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { envoy, google } from '#generated/proto/types.ts';
import { clusterContext, patchedCluster } from '../../../../src/envoy/patch/clusters.ts';
import type { Patch } from '../../../../src/envoy/patch/patch.ts';
import { patch } from '../../../support/patches.ts';

type Cluster = envoy.config.cluster.v3.Cluster;

const OUTBOUND: Cluster = { name: 'outbound|8000|v1|web.test', connectTimeout: '10s' };
const INBOUND: Cluster = {
  name: 'inbound|8080||',
  metadata: { filterMetadata: { istio: { services: [{ host: 'web.test' }, { host: 'web2.test' }] } } },
};

const out = (cluster: Cluster, ...patches: readonly Patch[]): Cluster | undefined =>
  patchedCluster(cluster, { patches }, clusterContext(cluster.name ?? '', false)).object;

test('clusters are matched by name, or by service, port and subset', () => {
  const removed = (cluster: Cluster, match: object, context = {}) =>
    out(cluster, patch('CLUSTER', 'REMOVE', undefined, { cluster: match, ...context })) === undefined;
  assert.equal(removed(OUTBOUND, {}), true);
  assert.equal(removed(OUTBOUND, { service: 'web.test', portNumber: 8000, subset: 'v1' }), true);
  assert.equal(removed(OUTBOUND, { service: 'web2.test' }), false);
  assert.equal(removed(OUTBOUND, { portNumber: 80 }), false);
  assert.equal(removed(OUTBOUND, { subset: 'v2' }), false);
  assert.equal(removed(OUTBOUND, { name: OUTBOUND.name, portNumber: 80 }), true);
  assert.equal(removed({ name: 'outbound_.80_._.web.test' }, { service: 'web.test', portNumber: 80 }), true);
  assert.equal(removed({ name: 'BlackHoleCluster' }, { service: 'web.test' }), false);
  assert.equal(removed(INBOUND, { service: 'web2.test', portNumber: 8080 }), true);
  assert.equal(removed(INBOUND, { service: 'other.test' }), false);
  assert.equal(removed(INBOUND, {}, { context: 'SIDECAR_OUTBOUND' }), false);
  assert.equal(removed(INBOUND, {}, { context: 'SIDECAR_INBOUND' }), true);
  assert.equal(removed({ name: 'InboundPassthroughCluster' }, {}, { context: 'SIDECAR_INBOUND' }), true);
});

const TLS = 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
const socket = (name: string, fields: object) => ({
  name,
  typedConfig: { '@type': TLS, ...fields } as google.protobuf.Any,
});
const sni = (name: string, more = {}) =>
  patch('CLUSTER', 'MERGE', { transport_socket: { name, typed_config: { '@type': TLS, sni: 'x' } }, ...more });

test('a patch of a transport socket merges into the one of its name, and is about nothing else', () => {
  const tls = { ...OUTBOUND, transportSocket: socket('tls', { allowRenegotiation: true }) };
  const merged = { ...OUTBOUND, transportSocket: socket('tls', { allowRenegotiation: true, sni: 'x' }) };
  assert.deepEqual(out(tls, sni('tls', { connect_timeout: '1s' })), merged);
  assert.deepEqual(out(tls, sni('other')), { ...OUTBOUND, transportSocket: socket('other', { sni: 'x' }) });
  assert.deepEqual(out(OUTBOUND, sni('tls')), { ...OUTBOUND, transportSocket: socket('tls', { sni: 'x' }) });
});

test('where sockets are chosen by endpoints, the one of that name is meant, or none', () => {
  const matches = (fields: object): Cluster => ({
    ...OUTBOUND,
    transportSocketMatches: [
      { name: 'a', transportSocket: socket('tls', fields) },
      { name: 'b', transportSocket: socket('raw', {}) },
    ],
  });
  assert.deepEqual(out(matches({}), sni('tls')), matches({ sni: 'x' }));
  assert.deepEqual(out(matches({}), sni('other')), matches({}));
});

test('a cluster keeps its name', () => {
  assert.deepEqual(out(OUTBOUND, patch('CLUSTER', 'MERGE', { name: 'x', connect_timeout: '1s' })), {
    ...OUTBOUND,
    connectTimeout: '1s',
  });
});
