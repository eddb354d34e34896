import assert from 'node:assert/strict';
import { test } from 'node:test';
import { workloadCertificate } from '../../../../src/agent/certificates/workload-certificate.ts';
import { Secrets } from '../../../../src/agent/sds/secrets.ts';
import { decodeMessage } from '../../../../src/proto/decode.ts';
import { CLUSTER_TYPE, SECRET_TYPE } from '../../../../src/proto/type-urls.ts';
import { TestAuthority } from '../../../support/certificates.ts';
import { waitFor } from '../../../support/wait.ts';
import { WorkDir } from '../../../support/work-dir.ts';

const SECRET = 'envoy.extensions.transport_sockets.tls.v3.Secret';

function opened(dir: WorkDir) {
  const warnings: string[] = [];
  const secrets = new Secrets({ root: dir.path, log: { warn: (message) => void warnings.push(message) } });
  const session = secrets.connect();
  let changes = 0;
  session.onChange(() => changes++);
  const held = (name: string): string => {
    const { bytes } = session.resources(SECRET_TYPE)?.get(name) ?? {};
    if (bytes === undefined) return '';
    return Buffer.from(
      /"inlineBytes":"([^"]+)"/.exec(JSON.stringify(decodeMessage(SECRET, bytes)))?.[1] ?? '',
      'base64',
    ).toString();
  };
  const ask = (...names: readonly string[]) => session.ask?.(SECRET_TYPE, new Set(names), false);
  return { secrets, session, held, ask, changes: () => changes, warnings };
}

test('the certificate of the workload and its roots are served, and each new one', () => {
  using dir = new WorkDir('sds');
  const authority = new TestAuthority(dir.path);
  const { secrets, session, held, changes } = opened(dir);
  assert.equal(held('default'), '');
  for (let i = 1; i <= 2; i++) {
    const { chain, key } = authority.issue('URI:spiffe://a/ns/b/sa/c');
    secrets.take(workloadCertificate(chain, key, authority.root));
    assert.equal(held('default'), chain);
    assert.equal(held('ROOTCA'), authority.root);
    assert.equal(changes(), i);
  }
  const other = new TestAuthority(dir.path);
  const { chain, key } = authority.issue('URI:spiffe://a/ns/b/sa/c');
  secrets.take(workloadCertificate(chain, key, authority.root), [other.root, authority.root]);
  assert.equal(held('ROOTCA'), `${authority.root}${other.root}`);
  assert.equal(session.resources(CLUSTER_TYPE), undefined);
  secrets.close();
});

test('files that a configuration names are served, followed, and kept while they are wrong', async () => {
  using dir = new WorkDir('sds');
  const authority = new TestAuthority(dir.path);
  const one = authority.issue('DNS:one');
  dir.write('tls/cert.pem', one.chain);
  dir.write('tls/key.pem', one.key);
  dir.write('tls/roots.pem', authority.root);
  const { secrets, held, ask, warnings } = opened(dir);
  const pair = 'file-cert:tls/cert.pem~tls/key.pem';
  ask(pair, 'file-root:tls/roots.pem', 'file-root:tls/none.pem', 'other', 'file-cert:tls/cert.pem');
  assert.equal(held(pair), one.chain);
  assert.equal(held('file-root:tls/roots.pem'), authority.root);
  assert.equal(held('file-root:tls/none.pem'), '');
  const two = authority.issue('DNS:two');
  dir.write('tls/key.pem', two.key);
  await waitFor(() => warnings.some((line) => line.includes('do not belong together')), { what: 'word of it' });
  assert.equal(held(pair), one.chain);
  dir.write('tls/cert.pem', two.chain);
  await waitFor(() => held(pair) === two.chain, { what: 'the new certificate' });
  secrets.close();
});
