import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TrustBundle } from '../../../../src/agent/certificates/trust-bundle.ts';
import { encodeMessage } from '../../../../src/proto/message.ts';
import { PROXY_CONFIG_TYPE } from '../../../../src/proto/type-urls.ts';
import { TestAuthority } from '../../../support/certificates.ts';
import { WorkDir } from '../../../support/work-dir.ts';

function opened(dir: WorkDir) {
  const warnings: string[] = [];
  let changes = 0;
  const bundle = new TrustBundle({ directory: dir.at('state'), log: { warn: (text) => void warnings.push(text) } });
  bundle.onChange(() => changes++);
  return { bundle, warnings, changes: () => changes };
}

function message(...caCertificatesPem: readonly string[]) {
  const value = encodeMessage('istio.mesh.v1alpha1.ProxyConfig', { caCertificatesPem });
  return [{ typeUrl: PROXY_CONFIG_TYPE, value }];
}

test('roots that istiod tells of are there for the next process, and what is none is refused', async () => {
  using dir = new WorkDir('trust');
  const { root } = new TestAuthority(dir.path);
  const { bundle, changes } = opened(dir);
  assert.equal(bundle.take([]), undefined);
  assert.equal(bundle.take(message(root)), undefined);
  assert.equal(bundle.take(message(root)), undefined);
  assert.equal(changes(), 1);
  assert.match(bundle.take(message(root, 'nonsense')) ?? '', /a root can not be taken: it holds no certificate/);
  assert.match(bundle.take([{ typeUrl: PROXY_CONFIG_TYPE, value: Buffer.from([0xff, 0xff]) }]) ?? '', /./);
  assert.deepEqual(bundle.roots, [root]);
  await bundle.flush();
  assert.deepEqual(opened(dir).bundle.roots, [root]);
});

test('a damaged file is put aside', () => {
  using dir = new WorkDir('trust');
  dir.write('state/trust-bundle.json', '{"roots": 1}');
  const { bundle, warnings } = opened(dir);
  assert.deepEqual(bundle.roots, []);
  assert.match(warnings.join(), /damaged/);
});
