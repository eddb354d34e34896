import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomBytes, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { promisify } from 'node:util';
import type { JsonObject } from '../../src/base/json.ts';
import { certificateRequest, disbelief } from '../support/certificates.ts';
import { envoyBootstrap, grpcCluster } from '../support/envoy-bootstrap.ts';
import { EnvoyProcess } from '../support/envoy-process.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { joinTokens } from '../support/join-tokens.ts';
import { nodeJson } from '../support/node.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

const SERVICE = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: orders}
spec:
  hosts: [orders.mesh.internal]
  ports: [{number: 8080, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: 127.0.0.1}]
`;
const ROOTS = 'var/lib/istio/ca/root-cert.pem';

interface Answer {
  readonly chain?: readonly string[];
  readonly code?: string;
  readonly details?: string;
}

/** What Python's gRPC is answered. @param proof as test/support/certificate-client.py takes it */
async function asked(dir: WorkDir, address: string, ...proof: readonly string[]): Promise<Answer> {
  const files = [ROOTS, 'request.csr'].map((file) => dir.at(file));
  const { stdout } = await promisify(execFile)('scripts/certificate-client', [address, ...files, ...proof]);
  return JSON.parse(stdout) as Answer;
}

/** A cluster of xDS over TLS, with a certificate of the client. */
function tlsCluster(dir: WorkDir, address: string): JsonObject {
  const file = (name: string): JsonObject => ({ filename: dir.at(name) });
  const context = 'envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext';
  return {
    ...grpcCluster('xds-grpc', address),
    transportSocket: {
      name: 'envoy.transport_sockets.tls',
      typedConfig: {
        '@type': `type.googleapis.com/${context}`,
        sni: 'istiod.istio-system.svc',
        commonTlsContext: {
          alpnProtocols: ['h2'],
          tlsCertificates: [{ certificateChain: file('client.pem'), privateKey: file('client.key') }],
          validationContext: {
            trustedCa: file(ROOTS),
            matchTypedSubjectAltNames: [{ sanType: 'DNS', matcher: { exact: 'istiod.istio-system.svc' } }],
          },
        },
      },
    },
  };
}

test('another gRPC gets a certificate by a token and renews it, and an Envoy is served with it over TLS', async () => {
  using dir = new WorkDir('clients');
  const token = randomBytes(24).toString('base64url');
  dir.write('token', `${token}\n`);
  dir.write('etc/istio/join-tokens.yaml', joinTokens({ token, namespace: 'shop', serviceAccount: 'client' }));
  dir.write('etc/istio/conf/shop/orders.yaml', SERVICE);
  await using istiod = await IstiodProcess.start({ root: dir.path, listen: { grpcTls: '127.0.0.1:0' } });
  const { grpcTls } = istiod.addresses;
  const { key, csr } = certificateRequest(['URI:spiffe://cluster.local/ns/shop/sa/client']);
  dir.write('request.csr', csr);
  dir.write('client.key', key);

  assert.equal((await asked(dir, grpcTls)).code, 'UNAUTHENTICATED');
  const first = await asked(dir, grpcTls, 'token', dir.at('token'));
  assert.equal(disbelief(first.chain ?? [], { roots: dir.read(ROOTS) }), undefined, first.details);
  dir.write('client.pem', (first.chain ?? []).slice(0, -1).join(''));
  const second = await asked(dir, grpcTls, 'client', dir.at('client.pem'), dir.at('client.key'));
  assert.equal(disbelief(second.chain ?? [], { roots: dir.read(ROOTS) }), undefined, second.details);
  const serials = [first, second].map(({ chain = [] }) => new X509Certificate(chain[0] ?? '').serialNumber);
  assert.notEqual(serials[0], serials[1]);
  dir.write('client.pem', (second.chain ?? []).slice(0, -1).join(''));

  const start = (namespace: string) => {
    const node = nodeJson({
      id: `client.${namespace}`,
      namespace,
      metadata: { SERVICE_ACCOUNT: 'client' },
      istio: false,
    });
    const bootstrap = envoyBootstrap({ xds: grpcTls, node }) as { readonly staticResources: JsonObject } & JsonObject;
    const staticResources = { clusters: [tlsCluster(dir, grpcTls)] };
    return EnvoyProcess.start({ bootstrap: { ...bootstrap, staticResources }, dir, name: `envoy-${namespace}` });
  };
  const envoy = await start('shop');
  const stranger = await start('bank');
  try {
    await envoy.untilReady(10_000);
    assert.match((await envoy.get('/clusters')).body, /outbound\|8080\|\|orders\.mesh\.internal/);
    const refused =
      'has proven to be spiffe://cluster.local/ns/shop/sa/client, and says to be a workload of bank/client';
    await waitFor(() => istiod.log.includes(refused), { what: 'the refusal of a node that says to be another' });
    assert.doesNotMatch((await stranger.get('/clusters')).body, /orders/);
  } finally {
    await Promise.all([envoy.stop('SIGKILL'), stranger.stop('SIGKILL')]);
  }
});
