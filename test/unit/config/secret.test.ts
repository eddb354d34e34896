import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { formatDiagnostic } from '../../../src/base/diagnostic.ts';
import { type Certificate, TestAuthority } from '../../support/certificates.ts';
import { fileMesh } from '../../support/mesh-files.ts';
import { WorkDir } from '../../support/work-dir.ts';

const dir = new WorkDir('certificates');
after(() => dir[Symbol.dispose]());
const authority = new TestAuthority(dir.path);
const [first, second] = [authority.issue('DNS:first.test'), authority.issue('DNS:second.test')];

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secret = (
  data: Readonly<Record<string, string>>,
  field: 'data' | 'stringData' = 'data',
  type: string = 'kubernetes.io/tls',
): string => JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'web' }, type, [field]: data });
const pair = ({ chain }: Certificate, { key }: Certificate): Readonly<Record<string, string>> => ({
  'tls.crt': base64(chain),
  'tls.key': base64(key),
});
const KEY = '/Secret/edge/web';

function findings(text: string): readonly string[] {
  return fileMesh({ 'edge/web.yaml': text }).findings().map(formatDiagnostic);
}

test('a Secret with a pair, with roots, or with anything else is taken', () => {
  assert.deepEqual(findings(secret(pair(first, first))), []);
  assert.deepEqual(findings(secret({ cert: first.chain, key: first.key, cacert: authority.root }, 'stringData')), []);
  assert.deepEqual(findings(secret({ password: base64('hunter2') }, 'data', 'Opaque')), []);
  // cert-manager writes it so where the authority is not known.
  assert.deepEqual(findings(secret({ ...pair(first, first), 'ca.crt': '' })), []);
});

test('a Secret whose pair does not belong together is refused at its place, and the one before stays', () => {
  const mesh = fileMesh({ 'edge/web.yaml': secret(pair(first, first)) });
  const before = mesh.store.get(KEY)?.hash;
  mesh.write({ 'edge/web.yaml': secret(pair(second, first)) });
  assert.equal(mesh.store.get(KEY)?.hash, before);
  const [held, refused] = mesh.findings();
  assert.match(refused?.message ?? '', /do not belong together/);
  assert.deepEqual(
    [refused?.severity, refused?.path, refused?.resource],
    ['error', 'data["tls.crt"]', 'Secret/edge/web'],
  );
  assert.equal(held?.code, 'VM0202');
  mesh.write({ 'edge/web.yaml': secret(pair(second, second)) });
  assert.notEqual(mesh.store.get(KEY)?.hash, before);
  assert.deepEqual(mesh.findings(), []);
});

test('findings name the entry that is wrong and hold nothing of what it says', () => {
  const secretText = 'hunter2 hunter2 hunter2';
  const cases: readonly [string, RegExp][] = [
    [secret({ ...pair(first, first), 'tls.key': base64(secretText) }), /data\["tls.key"\].*holds no private key/],
    [secret({ cert: secretText, key: first.key }, 'stringData'), /stringData.cert: it holds no certificate/],
    [secret({ 'tls.crt': '', 'tls.key': '' }), /data\["tls.crt"\].*is empty/],
    [secret({ 'tls.crt': base64(first.chain) }), /needs the entry "tls.key"/],
    [secret({ ...pair(first, first), 'ca.crt': base64(secretText) }), /data\["ca.crt"\].*holds no certificate/],
    [
      secret({ cacert: base64(authority.root), crl: base64(secretText) }, 'data', 'Opaque'),
      /data.crl: .*no list of revoked/,
    ],
  ];
  for (const [text, expected] of cases) {
    const found = findings(text);
    assert.match(found.join('\n'), expected);
    for (const words of ['hunter2', base64(secretText), first.key.slice(40, 60)])
      assert.ok(!found.join().includes(words));
  }
});
