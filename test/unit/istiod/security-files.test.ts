import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDiagnostic } from '../../../src/base/diagnostic.ts';
import { authoritySettings } from '../../../src/istiod/authority-settings.ts';
import { expiryFindings, readText, securityFindings } from '../../../src/istiod/security-files.ts';
import { istioLayout, readAuthority } from '../../../src/security/plugged-in.ts';
import { plugIn, SigningAuthority } from '../../support/authorities.ts';
import { WorkDir } from '../../support/work-dir.ts';

const DAY = 24 * 3_600_000;

test('what is wrong with an authority and with tokens is found before they are served', () => {
  using dir = new WorkDir('files');
  using root = new SigningAuthority('root', { days: 30 });
  assert.deepEqual(securityFindings(dir.path, {}), []);
  plugIn(dir, root.intermediate('one', { days: 10 }).files());
  plugIn(dir, root.intermediate('two', { days: 10 }).files(), 'own');
  assert.deepEqual(securityFindings(dir.path, {}), []);
  dir.write('own/ca-key.pem', 'nonsense');
  dir.write(
    'etc/istio/join-tokens.yaml',
    'tokens:\n- {sha256: abc, namespace: a, serviceAccount: b, expires: "2030-01-01T00:00:00Z"}\n',
  );
  assert.deepEqual(securityFindings(dir.path, { ROOT_CA_DIR: './own/' }).map(formatDiagnostic), [
    'own/ca-key.pem:1:1: error VM0505: it holds no private key in PEM form',
    'etc/istio/join-tokens.yaml:2:12: error IST0106: tokens[0].sha256: 64 hexadecimal digits are needed: printf %s "$TOKEN" | sha256sum',
  ]);
});

test('an authority that ends soon is a warning, and one that has ended an error', () => {
  using dir = new WorkDir('files');
  using root = new SigningAuthority('root', { days: 90 });
  plugIn(dir, root.intermediate('one', { days: 9 }).files(), 'ca');
  const issuer = readAuthority(istioLayout('ca'), (path) => readText(dir.path, path), Date.now());
  assert.ok(issuer !== undefined && 'until' in issuer);
  const found = (daysLeft: number) =>
    expiryFindings('ca/ca-cert.pem', issuer, issuer.until - daysLeft * DAY).map(({ severity }) => severity);
  assert.deepEqual(
    [found(8), found(1.1), found(0.9), found(0), found(-1)],
    [[], [], ['warning'], ['error'], ['error']],
  );
});

test("Istio's variables are read, and one that can not be taken is named and has its default", () => {
  const told: string[] = [];
  const read = (env: Readonly<Record<string, string>>) =>
    authoritySettings(env, { warn: (line: string) => told.push(line) });
  const defaults = read({});
  assert.deepEqual([defaults.defaultTtlMs, defaults.maxTtlMs, defaults.rootTtlMs], [DAY, 90 * DAY, 3650 * DAY]);
  assert.deepEqual(
    [defaults.isOn, defaults.directory, defaults.rsaBits, defaults.gracePercent],
    [true, 'etc/cacerts', undefined, 20],
  );
  const set = read({
    ENABLE_CA_SERVER: 'false',
    ROOT_CA_DIR: './own/',
    DEFAULT_WORKLOAD_CERT_TTL: '1h',
    CITADEL_SELF_SIGNED_ROOT_CERT_CHECK_INTERVAL: '-1s',
    CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE: '4096',
  });
  assert.deepEqual(
    [set.isOn, set.directory, set.defaultTtlMs, set.checkMs, set.rsaBits],
    [false, 'own', 3_600_000, -1000, 4096],
  );
  assert.deepEqual(told, []);
  const wrong = read({
    DEFAULT_WORKLOAD_CERT_TTL: '0s',
    MAX_WORKLOAD_CERT_TTL: 'long',
    CITADEL_SELF_SIGNED_CA_RSA_KEY_SIZE: '1024',
  });
  assert.deepEqual([wrong.defaultTtlMs, wrong.maxTtlMs, wrong.rsaBits], [DAY, 90 * DAY, undefined]);
  assert.equal(told.length, 3);
});
