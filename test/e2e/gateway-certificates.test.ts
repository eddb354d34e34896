import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import type { Diagnostic } from '../../src/base/diagnostic.ts';
import type { Variant } from '../../src/xds/events.ts';
import { type Certificate, TestAuthority } from '../support/certificates.ts';
import { envoyBootstrap } from '../support/envoy-bootstrap.ts';
import { EnvoyProcess } from '../support/envoy-process.ts';
import { freePorts } from '../support/free-port.ts';
import { HttpBackend } from '../support/http-backend.ts';
import { httpRequest } from '../support/http-client.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { nodeJson } from '../support/node.ts';
import { shownCertificate, TlsConnection } from '../support/tls-client.ts';
import { TlsLoad } from '../support/tls-load.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

const TIMEOUT_MS = 60_000;
const FILES = 'etc/certs/files';
const SECRET_FILE = 'etc/istio/conf/edge/secret.json';

/** A gateway, with a certificate in a Secret, one in files, and clients that show theirs. */
class Edge {
  readonly dir: WorkDir = new WorkDir('edge');
  readonly authority: TestAuthority;
  readonly #stack = new AsyncDisposableStack();
  istiod!: IstiodProcess;
  envoy!: EnvoyProcess;
  https = 0;
  mutual = 0;
  http = 0;

  constructor() {
    mkdirSync(this.dir.at('ca'));
    this.authority = new TestAuthority(this.dir.at('ca'));
  }

  async start(variant: Variant, plaintext: boolean = false): Promise<this> {
    const { dir } = this;
    this.#stack.use(dir);
    const backend = await HttpBackend.start('web');
    this.#stack.defer(() => backend.stop());
    [this.https = 0, this.mutual = 0, this.http = 0] = await freePorts(3);
    dir.write('etc/istio/conf/edge/mesh.yaml', this.#configuration(backend.port));
    this.writeSecret(this.authority.issue('DNS:secret.test'));
    this.byRename(this.authority.issue('DNS:files.test'));
    dir.write(`${FILES}/clients.pem`, this.authority.root);
    dir.write(`${FILES}/revoked.pem`, this.authority.revocations());
    const socket = dir.at('xds.sock');
    this.istiod = this.#stack.use(await IstiodProcess.start({ root: dir.path, listen: { grpcUnix: socket } }));
    const metadata = { LABELS: { app: 'gw' } };
    // Not the address of an endpoint, which would be the gateway itself.
    const node = nodeJson({ type: 'router', id: 'gw-1.edge', namespace: 'edge', ips: ['10.10.0.9'], metadata });
    const xds = plaintext ? this.istiod.addresses.grpc : socket;
    this.envoy = this.#stack.use(await EnvoyProcess.start({ bootstrap: envoyBootstrap({ xds, node, variant }), dir }));
    await this.envoy.untilReady();
    return this;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }

  /** TLS to a server of the gateway, by a client that believes the authority alone. */
  to(servername: string, client?: Certificate) {
    const port = servername.endsWith('mutual.test') ? this.mutual : this.https;
    return { to: `127.0.0.1:${port}`, servername, roots: this.authority.root, ...(client && { client }) };
  }

  /** Those about certificates and Secrets. */
  async findings(): Promise<readonly Diagnostic[]> {
    const all = await this.istiod.json<readonly Diagnostic[]>('/debug/diagnosticsz');
    return all.filter(({ code, resource = '' }) => /^VM05/.test(code) || resource.startsWith('Secret/'));
  }

  writeSecret({ chain, key }: Certificate): void {
    const stringData = { 'tls.crt': chain, 'tls.key': key, 'ca.crt': this.authority.root };
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'web' }, stringData };
    this.dir.write(SECRET_FILE, JSON.stringify(secret));
  }

  inPlace({ chain, key }: Certificate): void {
    writeFileSync(this.dir.at(`${FILES}/tls.key`), key);
    writeFileSync(this.dir.at(`${FILES}/tls.crt`), chain);
  }

  byRename({ chain, key }: Certificate): void {
    this.dir.write(`${FILES}/tls.key`, key);
    this.dir.write(`${FILES}/tls.crt`, chain);
  }

  #swaps = 0;

  bySwap({ chain, key }: Certificate): void {
    const version = `v${++this.#swaps}`;
    this.dir.write(`${FILES}/${version}/tls.crt`, chain);
    this.dir.write(`${FILES}/${version}/tls.key`, key);
    symlinkSync(version, this.dir.at(`${FILES}/..tmp`));
    renameSync(this.dir.at(`${FILES}/..tmp`), this.dir.at(`${FILES}/..data`));
    if (this.#swaps > 1) return;
    for (const name of ['tls.key', 'tls.crt']) {
      symlinkSync(`..data/${name}`, this.dir.at(`${FILES}/.${name}`));
      renameSync(this.dir.at(`${FILES}/.${name}`), this.dir.at(`${FILES}/${name}`));
    }
  }

  #configuration(backend: number): string {
    const bind = 'bind: 127.0.0.1';
    const pem = `serverCertificate: ${FILES}/tls.crt, privateKey: ${FILES}/tls.key`;
    const https = (name: string, port: number, host: string, tls: string): string =>
      `  - {port: {number: ${port}, name: ${name}, protocol: HTTPS}, ${bind}, hosts: [${host}], tls: {${tls}}}\n`;
    return `
apiVersion: networking.istio.io/v1
kind: Gateway
metadata: {name: edge}
spec:
  selector: {app: gw}
  servers:
  - {port: {number: ${this.http}, name: http, protocol: HTTP}, ${bind}, hosts: ['*']}
${https('secret', this.https, 'secret.test', 'mode: SIMPLE, credentialName: web')}\
${https('files', this.https, 'files.test', `mode: SIMPLE, ${pem}`)}\
${https('mutual', this.mutual, 'mutual.test', 'mode: MUTUAL, credentialName: web')}\
${https('optional', this.mutual, 'optional.mutual.test', `mode: OPTIONAL_MUTUAL, ${pem}, caCertificates: ${FILES}/clients.pem, caCrl: ${FILES}/revoked.pem`)}\
---
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: web}
spec:
  hosts: ['*']
  gateways: [edge]
  http: [{route: [{destination: {host: web.internal}}]}]
---
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: {name: web}
spec:
  hosts: [web.internal]
  ports: [{number: 80, name: http, protocol: HTTP}]
  resolution: STATIC
  endpoints: [{address: 127.0.0.1, ports: {http: ${backend}}}]
`;
  }
}

for (const variant of ['delta', 'sotw'] as const) {
  suite(`a gateway that is an upstream Envoy, ${variant}`, { timeout: TIMEOUT_MS }, () => {
    let edge: Edge;
    before(async () => {
      edge = await new Edge().start(variant);
    });
    after(() => edge[Symbol.asyncDispose]());

    test('shows each client the certificate of the name that it asks for', async () => {
      for (const host of ['secret.test', 'files.test']) {
        using connection = await TlsConnection.open(edge.to(host));
        assert.equal(connection.certificate.subjectAltName, `DNS:${host}`);
        assert.equal(await connection.request(host), 200);
      }
      await assert.rejects(TlsConnection.open(edge.to('unknown.test')));
    });

    test('lets in clients with a certificate that its roots vouch for, and where it is optional those without', async () => {
      const client = edge.authority.issue('URI:spiffe://cluster.local/ns/a/sa/b');
      mkdirSync(edge.dir.at('others'), { recursive: true });
      const stranger = new TestAuthority(edge.dir.at('others')).issue('DNS:stranger.test');
      const answer = async (host: string, shown?: Certificate): Promise<number | 'refused'> => {
        try {
          using connection = await TlsConnection.open({ ...edge.to(host, shown), withoutHostCheck: true });
          return await connection.request(host);
        } catch {
          return 'refused';
        }
      };
      const both = async (host: string) => [
        await answer(host, client),
        await answer(host),
        await answer(host, stranger),
      ];
      assert.deepEqual(await both('mutual.test'), [200, 'refused', 'refused']);
      assert.deepEqual(await both('optional.mutual.test'), [200, 200, 'refused']);
      edge.dir.write(`${FILES}/revoked.pem`, edge.authority.revocations(client));
      const isRefused = async () => (await answer('optional.mutual.test', client)) === 'refused';
      await waitFor(isRefused, { what: 'refusal of the certificate that was revoked' });
      assert.equal(await answer('mutual.test', client), 200, 'which has no such list');
    });

    test('has each new certificate at once, however it is written, and drops no connection for it', async (t) => {
      const modified = await edge.envoy.stat('listener_manager.listener_modified');
      // Made before, since making them takes the time of the clients.
      const ready = new Map(
        ['files.test', 'secret.test'].map((host) => [
          host,
          Array.from({ length: host === 'files.test' ? 9 : 3 }, () => edge.authority.issue(`DNS:${host}`)),
        ]),
      );
      const loads = await Promise.all(['secret.test', 'files.test'].map((host) => TlsLoad.start(edge.to(host))));
      const taken: number[] = [];
      const rotate = async (host: string, write: (next: Certificate) => void): Promise<void> => {
        const next = ready.get(host)?.pop();
        assert.ok(next);
        const serial = String(BigInt(`0x${new X509Certificate(next.chain).serialNumber}`));
        const written = performance.now();
        write(next);
        const isShown = async () => (await shownCertificate(edge.to(host))).serial === serial;
        await waitFor(isShown, { what: `${host} with the new certificate`, everyMs: 5 });
        taken.push(performance.now() - written);
      };
      for (const style of ['byRename', 'inPlace', 'bySwap'] as const) {
        for (const _ of [1, 2, 3]) await rotate('files.test', (next) => edge[style](next));
      }
      for (const _ of [1, 2, 3]) await rotate('secret.test', (next) => edge.writeSecret(next));
      const results = await Promise.all(loads.map((load) => load.stop()));
      const times = taken.map((ms) => Math.round(ms));
      const requests = results.reduce((sum, one) => sum + one.requests, 0);
      t.diagnostic(`12 rotations, from the write to a client that is shown the new one: ${times.join(', ')} ms`);
      t.diagnostic(`${requests} requests meanwhile, ${results.flatMap(({ failures }) => failures).length} failed`);
      assert.deepEqual(
        results.flatMap(({ failures }) => failures),
        [],
      );
      assert.equal(await edge.envoy.stat('listener_manager.listener_modified'), modified);
      assert.equal(await edge.envoy.rejected(), 0);
    });

    test('keeps its certificate when a wrong one is written, which is a finding', async () => {
      const serialOf = async (host: string) => (await shownCertificate(edge.to(host))).serial;
      const [ofFiles, ofSecret] = [await serialOf('files.test'), await serialOf('secret.test')];
      const [one, two] = [edge.authority.issue('DNS:files.test'), edge.authority.issue('DNS:files.test')];
      edge.byRename({ chain: one.chain, key: two.key });
      edge.writeSecret({ chain: one.chain, key: two.key });
      const mismatched = async (code: string, file: string) =>
        (await edge.findings()).some(
          (one) => one.code === code && one.location.file === file && /do not belong together/.test(one.message),
        );
      await waitFor(() => mismatched('VM0501', `${FILES}/tls.crt`), { what: 'finding at the file' });
      await waitFor(() => mismatched('IST0106', SECRET_FILE), { what: 'finding at the Secret' });
      assert.deepEqual([await serialOf('files.test'), await serialOf('secret.test')], [ofFiles, ofSecret]);
      edge.byRename(two);
      edge.writeSecret(edge.authority.issue('DNS:secret.test'));
      await waitFor(async () => (await edge.findings()).length === 0, { what: 'end of the findings' });
      await waitFor(async () => (await serialOf('files.test')) !== ofFiles, { what: 'right certificate' });
      assert.equal(await edge.envoy.rejected(), 0);
    });
  });
}

test('a gateway on plaintext starts, serves what needs no keys, and is named in a finding', {
  timeout: TIMEOUT_MS,
}, async () => {
  await using edge = await new Edge().start('sotw', true);
  assert.equal((await httpRequest(`http://127.0.0.1:${edge.http}/`, { host: 'web.test' })).status, 200);
  await assert.rejects(TlsConnection.open(edge.to('secret.test')));
  const told = (await edge.findings()).filter(({ code }) => code === 'VM0503');
  assert.equal(told.length, 4, 'one at each server with TLS');
  assert.match(told[0]?.message ?? '', /gw-1\.edge can not serve this: no private keys go over its connection/);
  assert.match(edge.istiod.log, /a proxy that asks for secrets gets no keys: its connection is plaintext/);
});
