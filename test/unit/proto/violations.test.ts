import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '../../../src/base/json.ts';
import { messageName } from '../../../src/proto/type-urls.ts';
import { violations } from '../../../src/proto/violations.ts';

const said = (fullName: string, message: JsonObject): readonly string[] =>
  violations(fullName, message).map(({ path, message: text }) => `${path.join('.')} ${text}`);

const CASES: readonly (readonly [type: string, message: JsonObject, said: readonly string[]])[] = [
  ['envoy.config.cluster.v3.Cluster', {}, ['name must not be empty']],
  ['envoy.config.cluster.v3.Cluster', { name: 'a', lbPolicy: 99 }, ['lbPolicy is no value of the enum']],
  ['envoy.config.route.v3.VirtualHost', { name: 'a', domains: [] }, ['domains needs at least 1 items']],
  ['envoy.config.route.v3.Route', { route: { cluster: 'x' } }, ['match is required']],
  [
    'envoy.config.route.v3.Route',
    { match: { prefix: '/' } },
    [' needs one of route, redirect, direct_response, filter_action, non_forwarding_action'],
  ],
  ['envoy.config.route.v3.RouteMatch', { prefix: '/' }, []],
  ['envoy.config.route.v3.DirectResponseAction', { status: 1000 }, ['status must be below 600']],
  [
    'envoy.config.core.v3.HeaderValueOption',
    { header: { key: 'a\nb', value: 'c' } },
    ['header.key holds a line break'],
  ],
  [
    'envoy.config.core.v3.HealthCheck',
    { timeout: '1s', interval: '1s' },
    [
      'unhealthyThreshold is required',
      'healthyThreshold is required',
      ' needs one of http_health_check, tcp_health_check, grpc_health_check, custom_health_check',
    ],
  ],
  [
    'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter',
    {
      name: 'x',
      typedConfig: { '@type': 'type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit' },
    },
    ['typedConfig.statPrefix must not be empty'],
  ],
  [
    'envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit',
    { statPrefix: 'x', tokenBucket: { maxTokens: 1, fillInterval: '1s', tokensPerFill: 0 } },
    ['tokenBucket.tokensPerFill must be above 0'],
  ],
];

test('what a proto forbids is told with its place', () => {
  for (const [type, message, expected] of CASES) {
    assert.deepEqual(said(type, message).toSorted(), expected.toSorted(), type);
  }
});

const corpus = fileURLToPath(new URL('../../../../shared/conformance/public', import.meta.url));
const files = globSync('*/expected/*/{cds,eds,lds,rds}.json', { cwd: corpus }).sort();
/** Answers for gRPC, which needs less than Envoy. */
const FOR_GRPC = /^19\d-/;

test('nothing that Envoy was found to take is forbidden', {
  skip: files.length === 0 && 'no conformance cases',
}, () => {
  for (const file of files.filter((path) => !FOR_GRPC.test(path))) {
    for (const resource of JSON.parse(readFileSync(`${corpus}/${file}`, 'utf8')) as readonly JsonObject[]) {
      const { '@type': url, ...message } = resource;
      assert.deepEqual(said(messageName(String(url)), message), [], file);
    }
  }
});
