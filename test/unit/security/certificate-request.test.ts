import assert from 'node:assert/strict';
import { createPrivateKey } from 'node:crypto';
import { test } from 'node:test';
import { newCertificateRequest } from '../../../src/security/certificate-request.ts';
import { readRequest } from '../../../src/security/csr.ts';
import { publicKeyOf } from '../../../src/security/x509.ts';

test('a request is signed with the key that it asks for, and each has another one', () => {
  const one = newCertificateRequest();
  const { publicKey, names, hasCommonName } = readRequest(one.csr);
  assert.deepEqual(publicKey, publicKeyOf(createPrivateKey(one.key)));
  assert.deepEqual([names, hasCommonName], [[], false]);
  assert.notEqual(newCertificateRequest().key, one.key);
});
