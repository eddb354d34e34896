import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from 'node:tls';
import { type Certificate, TestAuthority } from '../support/certificates.ts';
import { askClusters } from '../support/discovery-question.ts';
import { IstiodProcess } from '../support/istiod-process.ts';
import { waitFor } from '../support/wait.ts';
import { WorkDir } from '../support/work-dir.ts';

const SERVER = 'DNS:localhost,IP:127.0.0.1';

/** What one request for clusters over TLS is answered with. */
function asked(address: string, roots: string, client?: Certificate): Promise<string> {
  return askClusters({ address, roots, servername: 'localhost', ...(client && { client }) });
}

/** The certificate of a server as its fingerprint; undefined when it speaks no TLS there. */
function fingerprint(address: string): Promise<string | undefined> {
  const [host = '', port = ''] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['h2'] }, () => {
      resolve(socket.getPeerX509Certificate()?.fingerprint256);
      socket.destroy();
    });
    socket.on('error', () => resolve(undefined));
  });
}

interface Served extends AsyncDisposable {
  readonly dir: WorkDir;
  readonly authority: TestAuthority;
  readonly istiod: IstiodProcess;
  /** The address of TLS; empty while it is off. */
  tls(): string;
}

async function served(env: Readonly<Record<string, string>> = {}, prepare?: (dir: WorkDir) => void): Promise<Served> {
  const dir = new WorkDir('tls');
  const authority = new TestAuthority(dir.path);
  prepare?.(dir);
  const istiod = await IstiodProcess.start({ root: dir.path, listen: { grpcTls: '127.0.0.1:0' }, env });
  return {
    dir,
    authority,
    istiod,
    tls: () => (istiod.addresses as { readonly grpcTls?: string }).grpcTls ?? '',
    async [Symbol.asyncDispose]() {
      await istiod.stop();
      dir[Symbol.dispose]();
    },
  };
}

/** Puts a certificate there in place of the one of the own authority, and waits until it is served. */
async function replaceOwn({ dir, authority, tls }: Served): Promise<void> {
  const own = await fingerprint(tls());
  give(dir, authority.issue(SERVER));
  await waitFor(async () => (await fingerprint(tls())) !== own, { what: 'the certificate of the files' });
}

function give(dir: WorkDir, { chain, key }: Certificate): void {
  dir.write('etc/certs/key.pem', key);
  dir.write('etc/certs/cert-chain.pem', chain);
}

test('TLS begins when there is a certificate, and goes over to each new one without a restart', async () => {
  await using server = await served({ ENABLE_CA_SERVER: 'false' });
  const { dir, authority, istiod } = server;
  assert.match(istiod.log, /TLS is off until there are etc\/certs\/cert-chain\.pem and etc\/certs\/key\.pem/);
  assert.equal(server.tls(), '');

  give(dir, authority.issue(SERVER));
  await waitFor(() => server.tls() !== '', { what: 'TLS' });
  const first = await fingerprint(server.tls());
  assert.equal(await asked(server.tls(), authority.root), 'served');

  dir.write('etc/certs/key.pem', authority.issue(SERVER).key);
  await waitFor(() => istiod.log.includes('the certificate from before stays'), {
    what: 'complaint about half a pair',
  });
  assert.equal(await fingerprint(server.tls()), first);

  give(dir, authority.issue(SERVER));
  await waitFor(async () => (await fingerprint(server.tls())) !== first, { what: 'new certificate' });
  assert.equal(await asked(server.tls(), authority.root), 'served');

  const last = await fingerprint(server.tls());
  dir.remove('etc/certs');
  await waitFor(() => istiod.log.includes('are gone; the certificate from before stays'), { what: 'complaint' });
  assert.equal(await fingerprint(server.tls()), last);
});

test('where there are roots, clients over TLS have to show a certificate of theirs', async () => {
  await using server = await served();
  const { dir, authority } = server;
  using foreign = new WorkDir('foreign');
  const other = new TestAuthority(foreign.path);
  dir.write('etc/certs/root-cert.pem', authority.root);
  await replaceOwn(server);
  const identity = 'URI:spiffe://cluster.local/ns/shop/sa/default';
  assert.equal(await asked(server.tls(), authority.root, authority.issue(identity)), 'served');
  assert.match(await asked(server.tls(), authority.root), /^UNAUTHENTICATED: show a client certificate/);
  assert.match(await asked(server.tls(), authority.root, other.issue(identity)), /^UNAUTHENTICATED: show a client/);
  assert.match(await asked(server.tls(), authority.root, authority.issue('DNS:client')), /^UNAUTHENTICATED: show/);
});

test('XDS_AUTH=false lets anybody in over TLS, as in Istio', async () => {
  await using server = await served({ XDS_AUTH: 'false' });
  const { dir, authority } = server;
  dir.write('etc/certs/root-cert.pem', authority.root);
  await replaceOwn(server);
  assert.equal(await asked(server.tls(), authority.root), 'served');
});
