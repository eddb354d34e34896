import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { MCP_KINDS, mcpKindOf, objectOfResource, resourceOfConfig } from '../../../src/config/mcp.ts';
import { parseFile } from '../../../src/config/parse.ts';
import { inProtoJson } from '../../../src/config/proto-json.ts';
import { DecodeError } from '../../../src/proto/errors.ts';
import { encodeMessage } from '../../../src/proto/message.ts';

const CORPUS = '../shared/conformance/public';
const OPTIONS = { source: 'test', namespace: 'ns', strict: false };

const OBJECT = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata:
  name: web
  namespace: shop
  labels: {app: web}
  annotations: {note: "1"}
  creationTimestamp: "2026-01-02T03:04:05Z"
spec:
  hosts: [web.test]
  resolution: STATIC
  ports: [{number: 80, name: http, protocol: HTTP}]
  endpoints: [{address: 10.0.0.1, weight: 3, labels: {version: v1}}]
`;

test('a type of MCP is a group, a version and a kind', () => {
  const types = MCP_KINDS.map(({ typeUrl }) => typeUrl);
  assert.ok(types.includes('networking.istio.io/v1/ServiceEntry'));
  assert.ok(types.includes('networking.istio.io/v1alpha3/EnvoyFilter'));
  assert.equal(mcpKindOf('networking.istio.io/v1/ServiceEntry')?.message, 'istio.networking.v1alpha3.ServiceEntry');
  assert.equal(mcpKindOf('networking.istio.io/v1/Nothing'), undefined);
});

test('an object is handed on with its name, labels, annotations and age', () => {
  const [config] = parseFile('a.yaml', OBJECT, OPTIONS).configs;
  const kind = mcpKindOf('networking.istio.io/v1/ServiceEntry');
  assert.ok(config && kind);
  const { namespace, name, object } = objectOfResource(kind, resourceOfConfig(kind, config));
  assert.deepEqual({ namespace, name }, { namespace: 'shop', name: 'web' });
  const [again] = parseFile('b.json', JSON.stringify(object), OPTIONS).configs;
  assert.deepEqual(
    [again?.key, again?.labels, again?.annotations, again?.creationTime, again?.spec],
    [config.key, config.labels, config.annotations, config.creationTime, config.spec],
  );
});

test('bytes that are no resource are refused', () => {
  const [kind] = MCP_KINDS;
  assert.ok(kind);
  assert.throws(() => objectOfResource(kind, Uint8Array.of(0x0a, 0xff)), DecodeError);
});

test('every object of the corpus is the same after it was handed on', {
  skip: existsSync(CORPUS) ? false : `${CORPUS} is not there`,
}, () => {
  let count = 0;
  for (const path of globSync(`${CORPUS}/*/etc/istio/conf/**/*.yaml`)) {
    for (const config of parseFile(path, readFileSync(path), OPTIONS).configs) {
      const kind = MCP_KINDS.find((one) => one.kind.group === config.group && one.kind.kind === config.kind);
      if (kind === undefined) continue;
      count++;
      const { object } = objectOfResource(kind, resourceOfConfig(kind, config));
      const [again] = parseFile('again.json', JSON.stringify(object), OPTIONS).configs;
      // Durations and defaults have several spellings, but one encoding.
      const bytes = (spec: unknown) =>
        Buffer.from(encodeMessage(kind.message, inProtoJson(kind.kind.schema, spec))).toString('hex');
      assert.equal(again && bytes(again.spec), bytes(config.spec), `${path} ${config.key}`);
    }
  }
  assert.ok(count > 100, `${count} objects were looked at`);
});
