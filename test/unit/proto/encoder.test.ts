import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import type protobuf from 'protobufjs';
import { ENCODERS } from '#generated/proto/encoder.ts';
import { loadProtos } from '../../../build/proto/load.ts';
import { decodeMessage } from '../../../src/proto/decode.ts';
import { encodeMessage } from '../../../src/proto/message.ts';
import { runs } from '../../support/runs.ts';
import { MessageSource } from './random-message.ts';

const root: protobuf.Root = loadProtos(fileURLToPath(new URL('../../..', import.meta.url)));
const types: readonly protobuf.Type[] = [...ENCODERS.keys()].map((name) => root.lookupType(name));

/** Throws unless both encoders give the same bytes, and decoding gives the message back. */
function compare(type: protobuf.Type, source: MessageSource): void {
  const name = type.fullName.slice(1);
  const { json, plain } = source.message(type);
  const expected = type.encode(type.create(plain)).finish();
  const bytes = encodeMessage(name, json as object);
  assert.equal(
    Buffer.from(bytes).toString('hex'),
    Buffer.from(expected).toString('hex'),
    `${name} ${JSON.stringify(json)}`,
  );
  assert.deepEqual(decodeMessage(name, bytes), json, name);
}

test('every message and every field is encoded to the bytes of another implementation', () => {
  const source = new MessageSource(root, 20_261_128);
  const fields = types.flatMap((type) => (isOwnForm(type) ? [] : type.fieldsArray.map(({ fullName }) => fullName)));
  for (const type of types) {
    const missing = (): boolean =>
      !isOwnForm(type) && type.fieldsArray.some(({ fullName }) => !source.fields.has(fullName));
    for (let round = 0; round < 3 || (missing() && round < 200); round++) compare(type, source);
  }
  assert.deepEqual(
    fields.filter((name) => !source.fields.has(name)),
    [],
  );
});

test('the messages of xDS are encoded to the same bytes, whatever is in them', () => {
  const names = [
    'envoy.config.cluster.v3.Cluster',
    'envoy.config.endpoint.v3.ClusterLoadAssignment',
    'envoy.config.listener.v3.Listener',
    'envoy.config.route.v3.RouteConfiguration',
    'envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager',
    'google.api.expr.v1alpha1.CheckedExpr',
    'opentelemetry.proto.common.v1.AnyValue',
  ];
  fc.assert(
    fc.property(fc.constantFrom(...names), fc.integer(), (name, seed) => {
      compare(root.lookupType(name), new MessageSource(root, seed));
    }),
    { numRuns: runs(300) },
  );
});

function isOwnForm(type: protobuf.Type): boolean {
  return ENCODERS.get(type.fullName.slice(1))?.wellKnown === true;
}
