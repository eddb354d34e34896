import assert from 'node:assert/strict';
import { test } from 'node:test';
import { jsonName } from '../../../build/proto/model.ts';
import { messageDescriptor } from '../../../src/proto/descriptors.ts';

test('a field has the name in proto JSON that protoc gives it', () => {
  const names = {
    connect_timeout: 'connectTimeout',
    consecutive_5xx: 'consecutive5xx',
    http_10_max: 'http10Max',
    a__b: 'aB',
    _a: 'A',
    a_: 'a',
    MAX_size: 'MAXSize',
    dns64: 'dns64',
  };
  for (const [name, expected] of Object.entries(names)) assert.equal(jsonName(name), expected);
});

test('the descriptors name fields as the generator does', () => {
  const detection = messageDescriptor('envoy.config.cluster.v3.OutlierDetection');
  for (const field of detection?.byNumber.values() ?? []) assert.equal(field.jsonName, jsonName(field.name));
  assert.equal(detection?.byNumber.get(1)?.jsonName, 'consecutive5xx');
});

test('fields of a newer Envoy are known beside those of the package', () => {
  const cluster = messageDescriptor('envoy.config.cluster.v3.Cluster');
  assert.equal(cluster?.byJsonName.get('dnsJitter')?.number, 58);
  assert.equal(cluster?.byJsonName.get('connectTimeout')?.number, 4);
  const tag = messageDescriptor('envoy.type.tracing.v3.CustomTag');
  assert.equal(tag?.byJsonName.get('value')?.oneof, tag?.byJsonName.get('literal')?.oneof);
});
