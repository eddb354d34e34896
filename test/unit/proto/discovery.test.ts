import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeMessage } from '../../../src/proto/decode.ts';
import {
  decodeDeltaDiscoveryRequest,
  decodeDeltaDiscoveryResponse,
  decodeDiscoveryRequest,
  decodeDiscoveryResponse,
  encodeDeltaDiscoveryRequest,
  encodeDeltaDiscoveryResponse,
  encodeDiscoveryRequest,
  encodeDiscoveryResponse,
} from '../../../src/proto/discovery.ts';
import { DecodeError } from '../../../src/proto/errors.ts';
import { encodeMessage } from '../../../src/proto/message.ts';
import { CLUSTER_TYPE } from '../../../src/proto/type-urls.ts';

const clusters = ['a', 'b'].map((name, index) => ({
  name,
  version: `v${index}`,
  bytes: encodeMessage('envoy.config.cluster.v3.Cluster', { name, altStatName: 'x'.repeat(index * 200) }),
}));
const messages = clusters.map(({ name }, index) => ({
  '@type': CLUSTER_TYPE,
  name,
  ...(index > 0 && { altStatName: 'x'.repeat(index * 200) }),
}));

const node = {
  id: 'sidecar~10.0.0.1~a.default~default.svc.cluster.local',
  cluster: 'a.default',
  metadata: { NAMESPACE: 'default', LABELS: { app: 'a' }, PORTS: [80, 1.5], NONE: null, ON: true },
  locality: { region: 'r', zone: 'z', subZone: 's' },
  userAgentName: 'envoy',
  userAgentBuildVersion: {
    version: { majorNumber: 1, minorNumber: 36, patch: 2 },
    metadata: { 'build.type': 'RELEASE' },
  },
  extensions: [{ name: 'envoy.filters.http.router', category: 'envoy.filters.http', typeUrls: ['a', 'b'] }],
  clientFeatures: ['envoy.lb.does_not_support_overprovisioning'],
  listeningAddresses: [{ pipe: { path: '/x' } }],
};

const DEFAULTS = {
  versionInfo: '',
  node: undefined,
  resourceNames: [],
  typeUrl: '',
  responseNonce: '',
  errorDetail: undefined,
};

test('a request is read with all that a control plane needs', () => {
  const errorDetail = { code: 3, message: 'no such cluster' };
  const bytes = encodeDiscoveryRequest({
    node,
    versionInfo: 'v',
    resourceNames: ['x', ''],
    typeUrl: CLUSTER_TYPE,
    responseNonce: 'n',
    errorDetail,
  });
  const { listeningAddresses: _, ...read } = node;
  assert.deepEqual(decodeDiscoveryRequest(bytes), {
    node: { ...read, userAgentVersion: '', extensions: [{ ...node.extensions[0], disabled: false }] },
    versionInfo: 'v',
    resourceNames: ['x', ''],
    typeUrl: CLUSTER_TYPE,
    responseNonce: 'n',
    errorDetail: { ...errorDetail, details: [] },
  });
});

test('what a request does not say is empty or undefined', () => {
  assert.deepEqual(decodeDiscoveryRequest(new Uint8Array()), DEFAULTS);
});

test('an incremental request is read with its versions, even of resources named like parts of JavaScript', () => {
  const initialResourceVersions = Object.fromEntries([
    ['constructor', '1'],
    ['b', ''],
    ['a', '2'],
  ]);
  const bytes = encodeDeltaDiscoveryRequest({
    typeUrl: CLUSTER_TYPE,
    resourceNamesSubscribe: ['*'],
    resourceNamesUnsubscribe: ['u'],
    initialResourceVersions,
  });
  assert.deepEqual(decodeDeltaDiscoveryRequest(bytes), {
    node: undefined,
    typeUrl: CLUSTER_TYPE,
    resourceNamesSubscribe: ['*'],
    resourceNamesUnsubscribe: ['u'],
    initialResourceVersions: new Map(Object.entries(initialResourceVersions)),
    responseNonce: '',
    errorDetail: undefined,
  });
});

test('a response frames encoded resources as the encoder of messages would write it', () => {
  const response = {
    versionInfo: 'v1',
    typeUrl: CLUSTER_TYPE,
    nonce: 'n',
    resources: clusters,
    controlPlane: 'istiod',
  };
  const bytes = encodeDiscoveryResponse(response);
  const expected = {
    versionInfo: 'v1',
    resources: messages,
    typeUrl: CLUSTER_TYPE,
    nonce: 'n',
    controlPlane: { identifier: 'istiod' },
  };
  assert.deepEqual(bytes, Buffer.from(encodeMessage('envoy.service.discovery.v3.DiscoveryResponse', expected)));
  const { resources, ...rest } = decodeDiscoveryResponse(bytes);
  assert.deepEqual(rest, {
    versionInfo: 'v1',
    typeUrl: CLUSTER_TYPE,
    nonce: 'n',
    controlPlane: { identifier: 'istiod' },
  });
  assert.deepEqual(
    resources.map(({ value }) => Buffer.from(value)),
    clusters.map((cluster) => Buffer.from(cluster.bytes)),
  );
});

test('an incremental response frames encoded resources as the encoder of messages would write it', () => {
  const empty = { name: '', version: '', bytes: new Uint8Array() };
  const bytes = encodeDeltaDiscoveryResponse({
    systemVersionInfo: 's',
    typeUrl: CLUSTER_TYPE,
    nonce: 'n',
    resources: [...clusters, empty],
    removedResources: ['gone', 'ünd'],
  });
  const expected = {
    systemVersionInfo: 's',
    resources: [
      ...clusters.map(({ name, version }, index) => ({ name, version, resource: messages[index] })),
      { resource: { '@type': CLUSTER_TYPE } },
    ],
    typeUrl: CLUSTER_TYPE,
    removedResources: ['gone', 'ünd'],
    nonce: 'n',
  };
  assert.deepEqual(decodeMessage('envoy.service.discovery.v3.DeltaDiscoveryResponse', bytes), expected);
  assert.deepEqual(
    bytes,
    Buffer.from(encodeMessage<string>('envoy.service.discovery.v3.DeltaDiscoveryResponse', expected)),
  );
  assert.deepEqual(decodeDeltaDiscoveryResponse(bytes).removedResources, ['gone', 'ünd']);
});

test('headroom is left in front and nothing else changes', () => {
  const parts = { versionInfo: '', typeUrl: CLUSTER_TYPE, nonce: 'n', resources: clusters };
  const delta = {
    systemVersionInfo: '',
    typeUrl: CLUSTER_TYPE,
    nonce: 'n',
    resources: clusters,
    removedResources: ['r'],
  };
  assert.deepEqual(encodeDiscoveryResponse({ ...parts, headroom: 5 }).subarray(5), encodeDiscoveryResponse(parts));
  assert.deepEqual(
    encodeDeltaDiscoveryResponse({ ...delta, headroom: 5 }).subarray(5),
    encodeDeltaDiscoveryResponse(delta),
  );
});

test('whatever comes in, a decoder returns or throws a DecodeError', () => {
  const seeds = [
    encodeDiscoveryRequest({ node, typeUrl: CLUSTER_TYPE, errorDetail: { code: 3, message: 'm' } }),
    encodeDeltaDiscoveryRequest({ node, typeUrl: CLUSTER_TYPE, initialResourceVersions: { a: '1', b: '2' } }),
    encodeDiscoveryResponse({ versionInfo: 'v', typeUrl: CLUSTER_TYPE, nonce: 'n', resources: clusters }),
    encodeDeltaDiscoveryResponse({
      systemVersionInfo: 'v',
      typeUrl: CLUSTER_TYPE,
      nonce: 'n',
      resources: clusters,
      removedResources: ['r'],
    }),
  ];
  const decoders = [
    decodeDiscoveryRequest,
    decodeDeltaDiscoveryRequest,
    decodeDiscoveryResponse,
    decodeDeltaDiscoveryResponse,
  ];
  const edit = fc.record({ at: fc.nat(), byte: fc.nat(255), kind: fc.constantFrom('set', 'cut', 'insert') });
  const mutated = fc.tuple(fc.constantFrom(...seeds), fc.array(edit, { maxLength: 6 })).map(([seed, edits]) => {
    const bytes = [...seed];
    for (const { at, byte, kind } of edits) {
      const place = at % (bytes.length + 1);
      if (kind === 'set') bytes[place] = byte;
      else if (kind === 'cut') bytes.length = place;
      else bytes.splice(place, 0, byte);
    }
    return Uint8Array.from(bytes);
  });
  fc.assert(
    fc.property(fc.oneof(mutated, fc.uint8Array({ maxLength: 200 })), (bytes) => {
      for (const decode of decoders) {
        try {
          decode(bytes);
        } catch (error) {
          if (!(error instanceof DecodeError)) throw error;
        }
      }
    }),
    { numRuns: 2000 },
  );
});

test('metadata nested deeper than any node has it is refused instead of exhausting the stack', () => {
  // From the inside: a struct is field 5 of a value, a value field 2 of an entry, an entry field 1 of a struct.
  let bytes: Buffer = Buffer.alloc(0);
  for (let depth = 0; depth < 5000; depth++) {
    for (const tag of [0x2a, 0x12, 0x0a]) bytes = within(tag, bytes);
  }
  const request = within(0x12, within(0x1a, bytes));
  assert.throws(() => decodeDiscoveryRequest(request), { name: 'DecodeError', message: /nested more than 100 deep/ });
});

function within(tag: number, bytes: Buffer): Buffer {
  const head = [tag];
  let rest = bytes.length;
  for (; rest > 0x7f; rest >>>= 7) head.push((rest & 0x7f) | 0x80);
  return Buffer.concat([Buffer.from([...head, rest]), bytes]);
}
