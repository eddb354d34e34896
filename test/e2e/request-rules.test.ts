import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Echo } from '../support/echo-server.ts';
import { freePorts } from '../support/free-port.ts';
import { type Probe, type ProbeAnswer, probe } from '../support/probe.ts';
import { TextServer } from '../support/text-server.ts';
import { waitFor } from '../support/wait.ts';
import { LocalEcho, LocalMesh, localService } from './local-mesh.ts';

const RULES = `
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: [web.shop.internal]
  http:
  - match: [{uri: {prefix: /mirrored}}]
    route: [{destination: {host: web.shop.internal}}]
    mirrors: [{destination: {host: shadow.shop.internal}, percentage: {value: 100}}]
  - match: [{uri: {prefix: /abort}}]
    fault: {abort: {httpStatus: 418, percentage: {value: 100}}}
    route: [{destination: {host: web.shop.internal}}]
  - match: [{uri: {prefix: /delay}}]
    fault: {delay: {fixedDelay: 0.3s, percentage: {value: 100}}}
    timeout: 5s
    route: [{destination: {host: web.shop.internal}}]
  - match: [{uri: {prefix: /late}}]
    timeout: 0.2s
    route: [{destination: {host: flaky.shop.internal}}]
  - match: [{uri: {prefix: /retried}}]
    retries: {attempts: 3, retryOn: 5xx, perTryTimeout: 2s}
    route: [{destination: {host: flaky.shop.internal}}]
  - match: [{uri: {prefix: /once}}]
    retries: {attempts: 0}
    route: [{destination: {host: flaky.shop.internal}}]
  - match: [{uri: {prefix: /cors}}]
    corsPolicy: {allowOrigins: [{regex: 'https://.*[.]shop[.]test'}], allowMethods: [PUT], allowHeaders: [x-a], maxAge: 1h}
    route: [{destination: {host: web.shop.internal}}]
  - match: [{uri: {prefix: /moved}}]
    redirect: {uri: /here, authority: new.test, redirectCode: 307}
  - match: [{uri: {prefix: /headers}}]
    headers:
      request: {set: {x-set: new}, add: {x-added: more}, remove: [x-gone]}
      response: {set: {x-answer: 'yes'}, remove: [content-type]}
    rewrite: {uri: /inner}
    route: [{destination: {host: web.shop.internal}}]
  - route: [{destination: {host: web.shop.internal}}]
`;

test('mirrors, faults, retries, CORS, redirects and headers go as rules say', { timeout: 60_000 }, async () => {
  using web = await LocalEcho.start({ name: 'web' });
  await using shadow = await TextServer.start(() => ({ status: 500 }));
  await using flaky = await TextServer.start(() => ({ status: 200 }));
  const [port = 0] = await freePorts(1);
  await using mesh = await LocalMesh.start({
    ip: '192.0.2.1',
    files: {
      'shop/services.yaml':
        localService('web', port, web.port) +
        localService('shadow', port, shadow.port) +
        localService('flaky', port, flaky.port),
      'shop/rules.yaml': RULES,
    },
  });
  const ask = (path: string, more: Partial<Probe> = {}): Promise<ProbeAnswer> =>
    probe({ to: `127.0.0.1:${port}`, host: 'web.shop.internal', path, ...more });

  const mirrored = await ask('/mirrored/a');
  assert.equal((JSON.parse(mirrored.body) as Echo).backend, 'web', 'what the mirror answers means nothing');
  await waitFor(() => shadow.asked.length > 0, { what: 'mirrored request' });
  assert.deepEqual(shadow.asked, ['/mirrored/a']);

  assert.equal((await ask('/abort')).status, 418);
  assert.equal((await ask('/delay')).status, 200);
  const delays = [...(await mesh.envoy.stats())].filter(([name]) => name.endsWith('.fault.delays_injected'));
  assert.equal(
    delays.reduce((sum, [, count]) => sum + count, 0),
    1,
  );
  flaky.answer = () => undefined;
  assert.equal((await ask('/late')).status, 504);

  let left = 2;
  flaky.answer = () => ({ status: left-- > 0 ? 503 : 200 });
  assert.equal((await ask('/retried')).status, 200);
  assert.equal(flaky.asked.filter((path) => path === '/retried').length, 3);
  left = 1;
  assert.equal((await ask('/once')).status, 503);

  const preflight = (origin: string): Promise<ProbeAnswer> =>
    ask('/cors', { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'PUT' } });
  const known = await preflight('https://www.shop.test');
  assert.deepEqual(
    ['origin', 'methods', 'headers'].map((name) => known.headers[`access-control-allow-${name}`]),
    ['https://www.shop.test', 'PUT', 'x-a'],
  );
  assert.equal(known.headers['access-control-max-age'], '3600');
  assert.equal((await preflight('https://elsewhere.test')).headers['access-control-allow-origin'], undefined);

  const moved = await ask('/moved/x');
  assert.deepEqual([moved.status, moved.headers.location], [307, 'http://new.test/here']);

  const answer = await ask('/headers/x', { headers: { 'x-set': 'old', 'x-gone': '1' } });
  const { headers = {}, path } = JSON.parse(answer.body) as Echo;
  assert.deepEqual(
    [headers['x-set'], headers['x-added'], headers['x-gone'], path],
    ['new', 'more', undefined, '/inner/x'],
  );
  assert.deepEqual([answer.headers['x-answer'], answer.headers['content-type']], ['yes', undefined]);
  assert.equal(await mesh.envoy.rejected(), 0);
});
