import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentMetrics } from '../../../src/agent/metrics.ts';
import { listenForStatus } from '../../../src/agent/status-server.ts';
import { httpRequest } from '../../support/http-client.ts';

test('readiness, metrics and the end are answered, the end for programs of this machine alone', async () => {
  let why: string | undefined = 'Envoy drains its connections';
  let quits = 0;
  const server = await listenForStatus({
    listen: { host: '127.0.0.1', port: 0 },
    notReady: async () => why,
    metrics: async () => 'a 1\n',
    quit: () => quits++,
  });
  const at = (path: string, options = {}) => httpRequest(`http://127.0.0.1:${server.address.port}${path}`, options);
  const { status, body } = await at('/healthz/ready');
  assert.deepEqual([status, body], [503, 'Envoy drains its connections\n']);
  why = undefined;
  assert.equal((await at('/healthz/ready?x=1')).status, 200);
  assert.equal((await at('/stats/prometheus')).body, 'a 1\n');
  assert.equal((await at('/other')).status, 404);
  assert.equal((await at('/quitquitquit')).status, 405);
  assert.equal((await at('/quitquitquit', { method: 'POST', headers: { origin: 'http://a' } })).status, 403);
  assert.equal(quits, 0);
  assert.equal((await at('/quitquitquit', { method: 'POST' })).status, 200);
  assert.equal(quits, 1);
  await assert.rejects(
    listenForStatus({
      listen: server.address,
      notReady: async () => why,
      metrics: async () => '',
      quit: () => undefined,
    }),
    /another program does; write another statusPort/,
  );
  await server.close();
});

test('metrics tell what there is', () => {
  const certificate = { chain: '', key: '', roots: '', from: 0, until: 90_000 };
  const text = agentMetrics({ certificate, restarts: 2, names: 7, isLive: true }, 30_000);
  assert.deepEqual(
    text.split('\n').filter((line) => line !== '' && !line.startsWith('#')),
    [
      'istio_agent_cert_expiry_seconds{resource_name="default"} 60',
      'istio_agent_dns_names 7',
      'istio_agent_envoy_restarts_total 2',
      'istio_agent_control_plane_connected 1',
    ],
  );
  assert.equal(agentMetrics({ certificate: undefined, restarts: undefined, names: undefined, isLive: false }), '');
});
