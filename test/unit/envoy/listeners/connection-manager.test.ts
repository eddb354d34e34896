import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ProxyConfig } from '#generated/config/specs.ts';
import { proxyTracing, UNTRACED } from '../../../../src/envoy/filters/tracing.ts';
import { type ConnectionManagerInput, connectionManager } from '../../../../src/envoy/listeners/connection-manager.ts';
import { encodeMessage } from '../../../../src/proto/message.ts';

const INPUT: ConnectionManagerInput = {
  direction: 'inbound',
  statPrefix: 's',
  route: '80',
  httpFilters: [],
  accessLog: [],
  tracing: UNTRACED,
  proxy: {},
  pathNormalization: undefined,
  http10: false,
  switches: { proxy100Continue: true, useRemoteAddress: false, internalNetworks: false },
  networks: {},
};

function manager(more: Partial<ConnectionManagerInput> = {}): Readonly<Record<string, unknown>> {
  const { typedConfig } = connectionManager({ ...INPUT, ...more });
  const { '@type': type, ...message } = typedConfig ?? { '@type': '' };
  encodeMessage(String(type).split('/')[1] ?? '', message);
  return message;
}

test('paths are normalised as the mesh says', () => {
  const fields = (pathNormalization: ConnectionManagerInput['pathNormalization']) => {
    const { normalizePath, mergeSlashes, pathWithEscapedSlashesAction } = manager({ pathNormalization });
    return [normalizePath, mergeSlashes, pathWithEscapedSlashesAction];
  };
  assert.deepEqual(fields(undefined), [true, undefined, 'KEEP_UNCHANGED']);
  assert.deepEqual(fields('NONE'), [false, undefined, 'KEEP_UNCHANGED']);
  assert.deepEqual(fields('MERGE_SLASHES'), [true, true, 'KEEP_UNCHANGED']);
  assert.deepEqual(fields('DECODE_AND_MERGE_SLASHES'), [true, true, 'UNESCAPE_AND_FORWARD']);
});

test('a ProxyConfig says which headers are added', () => {
  const headers = (
    proxyHeaders: NonNullable<ProxyConfig['proxyHeaders']>,
    direction: 'inbound' | 'outbound' = 'inbound',
  ) => manager({ proxy: { proxyHeaders }, direction });
  assert.equal(headers({})['serverName'], 'istio-envoy');
  assert.equal(headers({}, 'outbound')['serverName'], undefined);
  assert.equal(headers({ server: { value: 'x' } }, 'outbound')['serverName'], 'x');
  const off = headers({ server: { disabled: true }, requestId: { disabled: true }, xForwardedPort: { enabled: true } });
  assert.equal(off['serverHeaderTransformation'], 'PASS_THROUGH');
  assert.equal(off['serverName'], undefined);
  assert.equal(off['generateRequestId'], false);
  assert.equal(off['appendXForwardedPort'], true);
  const certificate = headers({
    forwardedClientCert: 'SANITIZE_SET',
    setCurrentClientCertDetails: { uri: false, cert: true },
  });
  assert.equal(certificate['forwardClientCertDetails'], 'SANITIZE_SET');
  assert.deepEqual(certificate['setCurrentClientCertDetails'], {
    subject: true,
    uri: false,
    dns: true,
    cert: true,
    chain: false,
  });
  assert.equal(headers({}, 'outbound')['forwardClientCertDetails'], undefined);
  const cased = headers({ preserveHttp1HeaderCase: true })['httpProtocolOptions'];
  assert.match(JSON.stringify(cased), /preserve_case/);
});

test('limits of connections win over what is said for all', () => {
  const message = manager({
    idleTimeout: '10s',
    http2: true,
    proxy: {
      connectionSettings: {
        httpIdleTimeout: '1h',
        httpStreamIdleTimeout: '5m',
        httpMaxConcurrentStreams: 100,
        http2InitialStreamWindowSize: -1,
        httpHeadersWithUnderscoresAction: 'HEADERS_WITH_UNDERSCORES_DROP_HEADER',
        httpMergeSlashes: true,
        httpPathWithEscapedSlashesAction: 'REJECT_REQUEST',
      },
    },
  });
  assert.deepEqual(message['commonHttpProtocolOptions'], {
    idleTimeout: '3600s',
    headersWithUnderscoresAction: 'DROP_HEADER',
  });
  assert.equal(message['streamIdleTimeout'], '300s');
  assert.deepEqual(message['http2ProtocolOptions'], { maxConcurrentStreams: 100 });
  assert.equal(message['mergeSlashes'], true);
  assert.equal(message['pathWithEscapedSlashesAction'], 'REJECT_REQUEST');
});

test('callers from the mesh’s networks count as internal where that is asked for', () => {
  const networks = {
    networks: {
      a: { endpoints: [{ fromCidr: '192.168.0.0/16' }, { fromRegistry: 'x' }] },
      b: { endpoints: [{ fromCidr: '10.0.0.0/8' }] },
    },
  };
  const switches = { ...INPUT.switches, internalNetworks: true };
  assert.deepEqual(manager({ networks, switches })['internalAddressConfig'], {
    cidrRanges: [
      { addressPrefix: '10.0.0.0', prefixLen: 8 },
      { addressPrefix: '192.168.0.0', prefixLen: 16 },
    ],
  });
  assert.equal(manager({ networks })['internalAddressConfig'], undefined);
});

test('traces carry the tags of the mesh and of the ProxyConfig, in order of names', () => {
  const workload = { canonicalService: 'web', canonicalRevision: '', meshId: '', namespace: 'a', clusterId: 'c' };
  const tracing = proxyTracing({
    proxy: {
      sampling: 50,
      maxPathTagLength: 9,
      customTags: { env: { environment: { name: 'E' } }, a: { literal: { value: 'x' } } },
    },
    defaultSampling: 1,
    workload,
  });
  assert.deepEqual(tracing.randomSampling, { value: 50 });
  assert.equal(tracing.maxPathTagLength, 9);
  const tags = (tracing.customTags ?? []).map(({ tag }) => tag);
  assert.deepEqual([tags[0], tags[1], tags.at(-1)], ['a', 'env', 'istio.namespace']);
  assert.deepEqual(tracing.customTags?.find(({ tag }) => tag === 'istio.canonical_revision')?.literal, {
    value: 'latest',
  });
  const bare = proxyTracing({ proxy: { enableIstioTags: false, sampling: 101 }, defaultSampling: 1, workload });
  assert.equal(bare.customTags, undefined);
  assert.deepEqual(bare.randomSampling, { value: 1 });
});
