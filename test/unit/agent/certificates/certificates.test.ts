import assert from 'node:assert/strict';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { Server, ServerCredentials, type ServerUnaryCall, type sendUnaryData, status } from '@grpc/grpc-js';
import { Certificates, type CertificatesOptions } from '../../../../src/agent/certificates/certificates.ts';
import { CertificateFile } from '../../../../src/agent/certificates/workload-certificate.ts';
import { Connection } from '../../../../src/agent/connection.ts';
import { decodeMessage } from '../../../../src/proto/decode.ts';
import { encodeMessage } from '../../../../src/proto/message.ts';
import { readRequest } from '../../../../src/security/csr.ts';
import { leafCertificate } from '../../../../src/security/issuer.ts';
import { pem } from '../../../../src/security/pem.ts';
import { distinguishedName, publicKeyOf, signedCertificate } from '../../../../src/security/x509.ts';
import { waitFor } from '../../../support/wait.ts';
import { WorkDir } from '../../../support/work-dir.ts';

const HOUR = 3_600_000;
const SERVICE = '/istio.v1.auth.IstioCertificateService/CreateCertificate';
const asIs = (bytes: Buffer): Buffer => bytes;

/** An authority that gives certificates for an hour to whoever has the token, over a Unix socket. */
class Authority implements AsyncDisposable {
  readonly socket: string;
  /** Tokens that were shown. */
  readonly asked: (string | undefined)[] = [];
  isOpen = true;
  readonly #server = new Server();
  readonly #key = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
  readonly root: string;

  private constructor(dir: WorkDir) {
    this.socket = dir.at('ca.sock');
    const name = distinguishedName({ organization: 'test' });
    const now = Date.now();
    this.root = pem(
      'CERTIFICATE',
      signedCertificate({
        signer: { name, key: this.#key, keyId: undefined },
        subject: name,
        publicKey: publicKeyOf(this.#key),
        from: now - HOUR,
        until: now + 100 * HOUR,
        isAuthority: true,
        names: [],
      }),
    );
  }

  static async start(dir: WorkDir): Promise<Authority> {
    const authority = new Authority(dir);
    const method = {
      path: SERVICE,
      requestStream: false,
      responseStream: false,
      requestSerialize: asIs,
      requestDeserialize: asIs,
      responseSerialize: asIs,
      responseDeserialize: asIs,
    };
    authority.#server.addService(
      { CreateCertificate: method },
      {
        CreateCertificate: (call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>) =>
          authority.#answer(call, callback),
      },
    );
    await new Promise<void>((resolve, reject) => {
      const done = (error: Error | null): void => (error === null ? resolve() : reject(error));
      authority.#server.bindAsync(`unix:${authority.socket}`, ServerCredentials.createInsecure(), done);
    });
    return authority;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }

  /** A certificate with its key and roots, of another workload. */
  issue(now: number): { readonly chain: string; readonly key: string; readonly root: string } {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const key = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
    return { chain: this.#leaf(publicKeyOf(privateKey), now), key, root: this.root };
  }

  #answer(call: ServerUnaryCall<Buffer, Buffer>, callback: sendUnaryData<Buffer>): void {
    const [token] = call.metadata.get('authorization');
    this.asked.push(token?.toString());
    if (!this.isOpen) {
      callback({ code: status.UNAUTHENTICATED, details: 'nobody knows this token' });
      return;
    }
    const { csr } = decodeMessage('istio.v1.auth.IstioCertificateRequest', call.request) as { csr: string };
    const { publicKey } = readRequest(csr);
    const certChain = [this.#leaf(publicKey, Date.now()), this.root];
    callback(null, Buffer.from(encodeMessage('istio.v1.auth.IstioCertificateResponse', { certChain })));
  }

  #leaf(publicKey: Uint8Array, now: number): string {
    const certificate = new X509Certificate(this.root);
    const until = now + 100 * HOUR;
    const issuer = {
      certificate,
      key: this.#key,
      chain: [],
      roots: this.root,
      until,
      chainUntil: until,
      rootUntil: until,
    };
    return leafCertificate(issuer, { publicKey, names: [{ uri: 'spiffe://a/ns/b/sa/c' }], ttlMs: HOUR, now });
  }
}

interface Opened {
  readonly certificates: Certificates;
  readonly log: string[];
}

function opened(dir: WorkDir, socket: string, more: Partial<CertificatesOptions> = {}): Opened {
  const log: string[] = [];
  const take = { info: (message: string) => void log.push(message), warn: (message: string) => void log.push(message) };
  const settings = {
    address: { socket },
    plaintext: true,
    standalone: undefined,
    serverName: undefined,
    rootFiles: undefined,
    certificateDirectory: 'etc/certs',
    tokenFile: 'token',
    headers: {},
  };
  const certificates = new Certificates({
    root: dir.path,
    mounted: 'etc/certs',
    authority: `unix:${socket}`,
    connection: (current) => new Connection(dir.path, settings, current),
    file: new CertificateFile({ directory: dir.at('state'), log: take }),
    ttlMs: HOUR,
    grace: 0.5,
    jitter: 0,
    log: take,
    ...more,
  });
  return { certificates, log };
}

test('with a token a certificate is given, which the next process has', async () => {
  using dir = new WorkDir('ca');
  await using authority = await Authority.start(dir);
  const { certificates, log } = opened(dir, authority.socket);
  assert.equal(certificates.isPossible, false);
  certificates.start();
  await waitFor(() => log.some((line) => /has no certificate, and nothing to ask/.test(line)), { what: 'word of it' });
  dir.write('token', 'secret\n');
  assert.equal(certificates.isPossible, true);
  await certificates.first;
  assert.deepEqual(authority.asked, ['Bearer secret']);
  const { chain, roots } = certificates.current ?? {};
  assert.equal(roots, authority.root);
  assert.ok(new X509Certificate(chain ?? '').verify(new X509Certificate(authority.root).publicKey));
  await certificates.stop();
  const next = opened(dir, authority.socket);
  assert.equal(next.certificates.current?.chain, chain);
  next.certificates.start();
  await next.certificates.stop();
  assert.equal(authority.asked.length, 1, 'one that is young is not renewed');
});

test('a certificate is renewed when half of its life is over, by itself and no longer by the token', async () => {
  using dir = new WorkDir('ca');
  await using authority = await Authority.start(dir);
  dir.write('token', 'secret');
  const first = opened(dir, authority.socket);
  first.certificates.start();
  await first.certificates.first;
  await first.certificates.stop();
  let later = 0;
  const { certificates } = opened(dir, authority.socket, { now: () => Date.now() + later });
  const before = certificates.current;
  later = 0.6 * HOUR;
  certificates.start();
  await waitFor(() => certificates.current !== before, { what: 'another certificate' });
  await certificates.stop();
  assert.deepEqual(authority.asked, ['Bearer secret', undefined]);
});

test('who is not believed is told why, asks again, and by the token where the certificate was not believed', async () => {
  using dir = new WorkDir('ca');
  await using authority = await Authority.start(dir);
  const provisioned = authority.issue(Date.now());
  dir.write('etc/certs/cert-chain.pem', provisioned.chain);
  dir.write('etc/certs/key.pem', provisioned.key);
  dir.write('token', 'secret');
  authority.isOpen = false;
  const { certificates, log } = opened(dir, authority.socket);
  certificates.start();
  await waitFor(() => authority.asked.length === 2, { what: 'second question' });
  assert.deepEqual(authority.asked, [undefined, 'Bearer secret']);
  assert.match(log.join('\n'), /gives no certificate: nobody knows this token \(UNAUTHENTICATED\)/);
  authority.isOpen = true;
  await certificates.first;
  await certificates.stop();
});

test('files of somebody else are the certificate, are followed, and what is wrong in them changes nothing', async () => {
  using dir = new WorkDir('ca');
  await using authority = await Authority.start(dir);
  const put = ({ chain, key, root }: ReturnType<Authority['issue']>) => {
    dir.write('etc/certs/key.pem', key);
    dir.write('etc/certs/cert-chain.pem', chain);
    dir.write('etc/certs/root-cert.pem', root);
  };
  const one = authority.issue(Date.now());
  put(one);
  const { certificates, log } = opened(dir, authority.socket);
  certificates.start();
  assert.equal(certificates.current?.chain, one.chain);
  dir.write('etc/certs/key.pem', authority.issue(Date.now()).key);
  await waitFor(() => log.some((line) => /can not be used, and the one before stays/.test(line)), {
    what: 'word of it',
  });
  assert.equal(certificates.current?.chain, one.chain);
  const two = authority.issue(Date.now());
  put(two);
  await waitFor(() => certificates.current?.chain === two.chain, { what: 'the new certificate' });
  await certificates.stop();
  assert.deepEqual(authority.asked, []);
});

test('a damaged file of an earlier process is put aside', () => {
  using dir = new WorkDir('ca');
  for (const text of ['{', '{"chain":"a","key":"b"}', '{"chain":"a","key":"b","roots":"c"}']) {
    dir.write('state/certificate.json', text);
    const { certificates, log } = opened(dir, dir.at('none.sock'));
    assert.equal(certificates.current, undefined);
    assert.match(log.join(), /damaged/);
    assert.equal(dir.read('state/certificate.json.damaged'), text);
  }
});
