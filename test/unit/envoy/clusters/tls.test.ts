import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientTLSSettings } from '#generated/config/specs.ts';
import { transport, type UpstreamTlsInput, upstreamTls } from '../../../../src/envoy/clusters/tls.ts';
import { serverMtlsMode, type TlsSettingsInput, tlsSettings } from '../../../../src/envoy/clusters/tls-settings.ts';
import { NO_SECRET_SOCKETS } from '../../../../src/envoy/tls-context.ts';

const settings = (more: Partial<TlsSettingsInput>) =>
  tlsSettings({
    tls: undefined,
    serviceAccounts: ['spiffe://cluster.local/ns/default/sa/a'],
    sni: 'outbound_.80_._.a.example.com',
    autoMtls: true,
    meshExternal: false,
    serverMode: 'PERMISSIVE',
    ...more,
  });
const VIEW = { type: 'sidecar', peerExchange: true, sds: true, secretSockets: NO_SECRET_SOCKETS } as const;
const secured = (
  tls: ClientTLSSettings,
  more: Partial<Omit<UpstreamTlsInput, 'view'>> = {},
  view: Partial<UpstreamTlsInput['view']> = {},
) =>
  upstreamTls({
    tls: { settings: tls, auto: false },
    clusterName: 'outbound|80||a.example.com',
    http2: false,
    dynamicDns: false,
    ruleSelectsWorkloads: false,
    ...more,
    view: { ...VIEW, ...view },
  });
const FILES = { certificate: '/c', privateKey: '/k', roots: '/r' };

test('without a rule, traffic in the mesh is secured where the server may accept it', () => {
  assert.equal(settings({})?.auto, true);
  assert.equal(settings({ serverMode: 'STRICT' })?.settings.mode, 'ISTIO_MUTUAL');
  for (const more of [
    { serverMode: 'DISABLE' },
    { serverMode: undefined },
    { meshExternal: true },
    { autoMtls: false },
  ] as const) {
    assert.equal(settings(more), undefined, JSON.stringify(more));
  }
});

test('the rule decides, and fills in nothing that it says itself', () => {
  assert.equal(settings({ tls: {} }), undefined, 'no mode is no TLS');
  assert.deepEqual(settings({ tls: { mode: 'SIMPLE', sni: 'x' }, meshExternal: true })?.settings, {
    mode: 'SIMPLE',
    sni: 'x',
  });
  assert.deepEqual(settings({ tls: { mode: 'ISTIO_MUTUAL', sni: 'x', subjectAltNames: ['y'] } })?.settings, {
    mode: 'ISTIO_MUTUAL',
    sni: 'x',
    subjectAltNames: ['y'],
  });
  assert.equal(settings({ tls: { mode: 'ISTIO_MUTUAL' } })?.settings.sni, 'outbound_.80_._.a.example.com');
});

test('client certificates that the proxy names stand in for its own, but not outside of the mesh against the rule', () => {
  const clientFiles = FILES;
  assert.equal(settings({ clientFiles })?.settings.clientCertificate, '/c');
  assert.equal(
    settings({ clientFiles, tls: { mode: 'MUTUAL', clientCertificate: '/own' } })?.settings.clientCertificate,
    '/c',
  );
  const outside = settings({ clientFiles, meshExternal: true, tls: { mode: 'MUTUAL', clientCertificate: '/own' } });
  assert.equal(outside?.settings.clientCertificate, '/own');
});

test('one endpoint without mutual TLS makes passed-through traffic plaintext', () => {
  const mode = (resolution: 'Passthrough' | 'ClientSideLB', all: boolean) =>
    serverMtlsMode({ resolution, meshExternal: false }, undefined, 'STRICT', () => all);
  assert.equal(mode('Passthrough', true), 'STRICT');
  assert.equal(mode('Passthrough', false), 'DISABLE');
  assert.equal(mode('ClientSideLB', false), 'STRICT');
  const passed = { loadBalancer: { simple: 'PASSTHROUGH' } } as const;
  assert.equal(
    serverMtlsMode({ resolution: 'ClientSideLB', meshExternal: false }, passed, undefined, () => false),
    'DISABLE',
  );
  assert.equal(
    serverMtlsMode({ resolution: 'ClientSideLB', meshExternal: true }, undefined, 'STRICT', () => true),
    undefined,
  );
});

test('mutual TLS in the mesh offers what the proxy can do', () => {
  const alpn = (http2: boolean, peerExchange: boolean) =>
    secured({ mode: 'ISTIO_MUTUAL' }, { http2 }, { peerExchange }).context?.commonTlsContext?.alpnProtocols;
  assert.deepEqual(alpn(false, true), ['istio-peer-exchange', 'istio']);
  assert.deepEqual(alpn(true, true), ['istio-peer-exchange', 'istio', 'h2']);
  assert.deepEqual(alpn(true, false), ['istio', 'h2']);
  assert.equal(secured({ mode: 'ISTIO_MUTUAL' }).context?.sni, 'outbound|80||a.example.com');
  assert.equal(
    secured({ mode: 'ISTIO_MUTUAL' }, {}, { sds: false }).context,
    undefined,
    'nobody would serve the certificate',
  );
});

test('the name of the request is used where the rule names none', () => {
  const names = (tls: ClientTLSSettings, dynamicDns = false) => {
    const { autoSni, autoSanValidation, insecure } = secured({ mode: 'SIMPLE', ...tls }, { dynamicDns });
    return [autoSni, autoSanValidation, insecure];
  };
  assert.deepEqual(names({}), [true, true, false]);
  assert.deepEqual(names({ sni: 'a' }), [false, false, false]);
  assert.deepEqual(names({ subjectAltNames: ['a'] }), [true, false, false]);
  assert.deepEqual(names({ insecureSkipVerify: true }), [true, false, false]);
  assert.deepEqual(names({}, true), [true, true, false]);
  assert.deepEqual(names({ sni: 'a' }, true), [false, true, true]);
  assert.deepEqual(names({ insecureSkipVerify: true }, true), [true, false, true]);
});

test('a secret goes to a sidecar only by a rule that selects workloads, or when everybody may read it', () => {
  const tls = (credentialName: string) => ({ mode: 'MUTUAL', credentialName }) as const;
  assert.equal(secured(tls('cred')).context, undefined);
  const secrets = (name: string, more: Partial<UpstreamTlsInput> = {}) =>
    secured(tls(name), more).context?.commonTlsContext?.tlsCertificateSdsSecretConfigs?.map((secret) => secret.name);
  assert.deepEqual(secrets('cred', { ruleSelectsWorkloads: true }), ['kubernetes://cred']);
  assert.deepEqual(secrets('configmap://roots'), ['configmap://roots']);
  assert(secured(tls('cred'), {}, { type: 'router' }).context);
});

test('servers are checked against named roots, or those of the operating system, unless the rule says not to', () => {
  const context = (tls: ClientTLSSettings, sds = true, names?: readonly string[]) =>
    secured({ mode: 'SIMPLE', ...tls }, { serviceEntryNames: names }, { sds }).context?.commonTlsContext;
  const roots = (tls: ClientTLSSettings, sds = true) =>
    context(tls, sds)?.combinedValidationContext?.validationContextSdsSecretConfig;
  assert.equal(roots({})?.name, 'file-root:system');
  assert.equal(roots({ caCertificates: '/ca' })?.name, 'file-root:/ca');
  assert.deepEqual(roots({ caCertificates: '/ca' }, false)?.sdsConfig, {
    ads: {},
    initialFetchTimeout: '1s',
    resourceApiVersion: 'V3',
  });
  assert.deepEqual(context({}, false)?.validationContext, { systemRootCerts: {} });
  assert.deepEqual(context({ insecureSkipVerify: true })?.validationContext, {});
  const named = context({}, true, ['a'])?.combinedValidationContext?.defaultValidationContext;
  assert.deepEqual(
    named?.matchSubjectAltNames,
    [{ exact: 'a' }],
    "a ServiceEntry's names hold where the rule has none",
  );
  assert.equal(secured({ mode: 'MUTUAL' }).context, undefined, 'nothing to show');
});

test('endpoints choose their socket by themselves only where nobody asked for TLS', () => {
  const { context } = secured({ mode: 'ISTIO_MUTUAL' });
  const socket = (auto: boolean, matchesEndpoints = true) =>
    Object.keys(
      transport({
        tls: { settings: { mode: 'ISTIO_MUTUAL' }, auto },
        context,
        matchesEndpoints,
        proxyProtocol: undefined,
      }),
    );
  assert.deepEqual(socket(true), ['transportSocketMatches']);
  assert.deepEqual(socket(true, false), ['transportSocket']);
  assert.deepEqual(socket(false), ['transportSocket']);
});

test('the PROXY protocol wraps whatever goes to the endpoint', () => {
  const plain = transport({ tls: undefined, context: undefined, matchesEndpoints: true, proxyProtocol: 'V1' });
  assert.deepEqual(plain.transportSocket?.typedConfig?.['config'], {});
  const auto = { settings: { mode: 'ISTIO_MUTUAL' }, auto: true } as const;
  const { context } = secured({ mode: 'ISTIO_MUTUAL' });
  const matched = transport({ tls: auto, context, matchesEndpoints: true, proxyProtocol: 'V2' });
  assert.deepEqual(
    matched.transportSocketMatches?.map(({ transportSocket }) => transportSocket?.typedConfig?.['config']),
    [{ version: 'V2' }, { version: 'V2' }],
  );
});
