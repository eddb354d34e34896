import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { validateSpec } from '../../../../src/config/kind.ts';
import { KINDS, kindOf } from '../../../../src/config/kinds/kinds.ts';
import { MESH_FILE, MESH_NETWORKS, NO_METADATA } from '../../../../src/config/kinds/mesh-config.ts';
import { normalized, writtenPath } from '../../../../src/config/normalize.ts';
import { DestinationRule } from '../../../../src/config/schema/destination-rule.ts';
import { EnvoyFilter } from '../../../../src/config/schema/envoy-filter.ts';
import { Secret } from '../../../../src/config/schema/kubernetes.ts';
import { MeshConfig } from '../../../../src/config/schema/mesh-config.ts';
import { PeerAuthentication } from '../../../../src/config/schema/peer-authentication.ts';
import { Telemetry } from '../../../../src/config/schema/telemetry.ts';
import { VirtualService } from '../../../../src/config/schema/virtual-service.ts';

const OPTIONS = { unknownField: 'warning', deprecatedField: 'warning', lastOfGroup: false } as const;

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}

test('fields in snake_case become lowerCamelCase, and so do those with letters of their own', () => {
  const raw = { host: 'a', traffic_policy: { outlier_detection: { consecutive_5xx_errors: 3 } } };
  assert.deepEqual(normalized(DestinationRule, raw, OPTIONS), {
    value: { host: 'a', trafficPolicy: { outlierDetection: { consecutive5xxErrors: 3 } } },
    findings: [],
  });
  assert.deepEqual(normalized(MeshConfig, { mesh_mTLS: {} }, OPTIONS).value, { meshMTLS: {} });
});

test('of two spellings the lowerCamelCase one counts, which is said', () => {
  const { value, findings } = normalized(VirtualService, { export_to: ['a'], exportTo: ['b'] }, OPTIONS);
  assert.deepEqual(value, { exportTo: ['b'] });
  assert.deepEqual(
    findings.map(({ severity, path }) => [severity, path]),
    [['warning', ['export_to']]],
  );
});

test('enums are read by number, numbers from text, and null, empty lists and empty maps are nothing', () => {
  const raw = {
    hosts: [],
    gateways: null,
    http: [{ route: [{ destination: { host: 'a', port: { number: '80' } } }], retries: { attempts: 3 }, headers: {} }],
  };
  assert.deepEqual(normalized(VirtualService, raw, OPTIONS).value, {
    http: [{ route: [{ destination: { host: 'a', port: { number: 80 } } }], retries: { attempts: 3 }, headers: {} }],
  });
  const byNumber = normalized(PeerAuthentication, { mtls: { mode: 3 } }, OPTIONS);
  assert.deepEqual(byNumber, { value: { mtls: { mode: 'STRICT' } }, findings: [] });
});

test('an empty map is kept where it says something else than none', () => {
  const raw = { tracing: [{ customTags: {} }], metrics: [{ overrides: [{ tagOverrides: {} }] }] };
  assert.deepEqual(normalized(Telemetry, raw, OPTIONS).value, {
    tracing: [{ customTags: {} }],
    metrics: [{ overrides: [{}] }],
  });
});

test('whole numbers beyond 2^53 keep their digits', () => {
  const consistentHash = (minimumRingSize: unknown) => ({
    host: 'a',
    trafficPolicy: { loadBalancer: { consistentHash: { ringHash: { minimumRingSize } } } },
  });
  for (const size of [9_007_199_254_740_993n, '9007199254740993']) {
    assert.deepEqual(
      normalized(DestinationRule, consistentHash(size), OPTIONS).value,
      consistentHash('9007199254740993'),
    );
  }
  assert.equal(normalized(DestinationRule, consistentHash(-1), OPTIONS).value, undefined);
});

test('of fields that exclude each other the last one counts where no CRD guards them', () => {
  const raw = { extensionProviders: [{ name: 'a', prometheus: {}, zipkin: { service: 'b' } }] };
  const { value } = normalized(MeshConfig, raw, { ...OPTIONS, lastOfGroup: true });
  assert.deepEqual(value, { extensionProviders: [{ name: 'a', prometheus: {} }] });
});

test('a path of the normalised form leads to the key as written', () => {
  const raw = { traffic_policy: { port_level_settings: [{ port: {} }] } };
  assert.deepEqual(writtenPath(raw, ['trafficPolicy', 'portLevelSettings', 0, 'port', 'number']), [
    'traffic_policy',
    'port_level_settings',
    0,
    'port',
    'number',
  ]);
});

test('a key that names a prototype is a key as any other', () => {
  const raw = JSON.parse('{"configPatches": [{"patch": {"value": {"__proto__": {"a": 1}}}}], "__proto__": {"b": 2}}');
  const { value, findings } = normalized(EnvoyFilter, raw, OPTIONS);
  assert.deepEqual(JSON.stringify(value), '{"configPatches":[{"patch":{"value":{"__proto__":{"a":1}}}}]}');
  assert.deepEqual(
    findings.map(({ code }) => code),
    ['VM0001'],
  );
});

test('an unknown field is a warning, and an error in strict mode and in security policies', () => {
  const severity = (group: string, kind: string, strict: boolean) => {
    const definition = kindOf(group, kind);
    assert.ok(definition);
    const { spec, findings } = validateSpec(definition, { unheardOf: 1, host: 'a' }, NO_METADATA, { strict });
    return [findings.find(({ path }) => path[1] === 'unheardOf')?.severity, spec !== undefined];
  };
  assert.deepEqual(severity('networking.istio.io', 'DestinationRule', false), ['warning', true]);
  assert.deepEqual(severity('networking.istio.io', 'DestinationRule', true), ['error', false]);
  assert.deepEqual(severity('security.istio.io', 'PeerAuthentication', false), ['error', false]);
});

test('annotations that Istio keeps for itself forbid an object', () => {
  const kind = kindOf('networking.istio.io', 'DestinationRule');
  assert.ok(kind);
  const annotations = { 'internal.istio.io/parents': 'x', 'istio.io/dry-run': 'true' };
  const { findings } = validateSpec(kind, { host: 'a' }, { ...NO_METADATA, annotations }, { strict: false });
  assert.deepEqual(
    findings.map(({ severity, path }) => [severity, path.join(' ')]),
    [
      ['error', 'metadata annotations internal.istio.io/parents'],
      ['error', 'metadata annotations istio.io/dry-run'],
    ],
  );
});

test("Kubernetes' kinds get the defaults of its API server", () => {
  const service = kindOf('', 'Service');
  const slice = kindOf('discovery.k8s.io', 'EndpointSlice');
  const secret = kindOf('', 'Secret');
  assert.ok(service && slice && secret);
  const read = (kind: typeof service, raw: unknown) => validateSpec(kind, raw, NO_METADATA, { strict: false }).spec;
  assert.deepEqual(read(service, { ports: [{ port: 80 }], selector: { app: 'a' } }), {
    type: 'ClusterIP',
    sessionAffinity: 'None',
    internalTrafficPolicy: 'Cluster',
    ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
    selector: { app: 'a' },
  });
  assert.deepEqual(read(slice, { kind: 'EndpointSlice', addressType: 'IPv4', ports: [{ port: 1 }] }), {
    addressType: 'IPv4',
    ports: [{ protocol: 'TCP', port: 1 }],
  });
  assert.deepEqual(read(secret, { data: { a: 'YQ==' }, stringData: { b: 'b' } }), {
    type: 'Opaque',
    data: { a: 'YQ==', b: 'Yg==' },
  });
});

test('no value makes the reader throw, and what it takes is frozen', () => {
  const kinds = [...KINDS, MESH_FILE, MESH_NETWORKS];
  const names = [...new Set(kinds.flatMap(({ schema }) => Object.keys(schema.fields)))];
  const value = fc.anything({ key: fc.oneof(fc.constantFrom(...names), fc.string()), withBigInt: true, maxDepth: 4 });
  fc.assert(
    fc.property(fc.constantFrom(...kinds), value, (kind, raw) => {
      const { spec } = validateSpec(kind, raw, NO_METADATA, { strict: false });
      assert.ok(isDeepFrozen(spec));
    }),
    { numRuns: 2000 },
  );
});

test('no finding shows what was meant as a key or a password', () => {
  const wrong = [
    { data: { key: 'HUSH HUSH' } },
    { data: { key: 4711 } },
    { stringData: { password: 4711 } },
    { stringData: { password: ['HUSH', 4711] } },
    { data: 'HUSH' },
    { stringData: 4711 },
  ];
  for (const raw of wrong) {
    const { value, findings } = normalized(Secret, raw, OPTIONS);
    assert.equal(findings.length, 1);
    assert.doesNotMatch(JSON.stringify([value ?? '', findings.map(({ message }) => message)]), /HUSH|4711/);
  }
});
