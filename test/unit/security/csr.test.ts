import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CertificateRequest, RequestError, readRequest } from '../../../src/security/csr.ts';
import { pem, pemBlock } from '../../../src/security/pem.ts';
import { certificateRequest } from '../../support/certificates.ts';
import { runs } from '../../support/runs.ts';

const EC = ['-newkey', 'ec', '-nodes', '-pkeyopt'];
const SANS = ['URI:spiffe://cluster.local/ns/shop/sa/client', 'DNS:shop.example', 'IP:10.0.0.1', 'email:a@b.example'];
const LABEL = 'CERTIFICATE REQUEST';

/** The text of a mistake. */
function mistake(csr: string): string {
  try {
    readRequest(csr);
  } catch (error) {
    assert.ok(error instanceof RequestError, String(error));
    return error.message;
  }
  return assert.fail('the request is taken');
}

test('requests with each kind of key that is allowed are read', () => {
  const kinds = [
    ...['P-256', 'P-384', 'P-521'].map((curve) => [...EC, `ec_paramgen_curve:${curve}`]),
    ['-newkey', 'rsa:2048', '-nodes'],
    ['-newkey', 'ed25519', '-nodes'],
  ];
  for (const kind of kinds) {
    const { csr, key } = certificateRequest(SANS, kind);
    const { publicKey, names, hasCommonName } = readRequest(csr);
    const own = createPublicKey(key).export({ type: 'spki', format: 'der' });
    assert.ok(own.equals(publicKey), kind.join(' '));
    assert.deepEqual(names, [SANS[0], SANS[1], '7:\x0a\x00\x00\x01', SANS[3]]);
    assert.equal(hasCommonName, false);
  }
});

test('keys that are weak or that nobody uses, and old signatures, are refused', () => {
  assert.match(mistake(certificateRequest([], ['-newkey', 'rsa:1024', '-nodes']).csr), /its RSA key has 1024 bits/);
  assert.match(mistake(certificateRequest([], [...EC, 'ec_paramgen_curve:secp256k1']).csr), /its curve is secp256k1/);
  const old = certificateRequest([], ['-newkey', 'rsa:2048', '-nodes', '-sha1']).csr;
  assert.match(mistake(old), /1\.2\.840\.113549\.1\.1\.5/);
});

test('what is no request, or is too large, is refused in words', () => {
  const { csr } = certificateRequest();
  assert.match(mistake(''), /no request in PEM form/);
  assert.match(mistake(csr.replaceAll(LABEL, 'CERTIFICATE')), /no request in PEM form/);
  assert.match(mistake(`${csr}${' '.repeat(20_000)}`), /more than 16384 characters/);
  assert.match(mistake(pem(LABEL, new Uint8Array([0x30, 0x00]))), /it is damaged/);
  const many = Array.from({ length: 100 }, (_, i) => `DNS:${i}.example`);
  assert.match(mistake(certificateRequest(many).csr), /more than 64 parts/);
});

test('a request in which any byte was changed is refused: its key has signed it', () => {
  const der = pemBlock(certificateRequest(SANS).csr, LABEL) as Buffer;
  fc.assert(
    fc.property(fc.nat(der.length - 1), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const changed = Buffer.from(der);
      changed[at] = (changed[at] ?? 0) ^ change;
      let read: CertificateRequest | undefined;
      try {
        read = readRequest(pem(LABEL, changed));
      } catch (error) {
        assert.ok(error instanceof RequestError, String(error));
      }
      assert.equal(read, undefined);
    }),
    { numRuns: runs(400) },
  );
});

test('the signature of another key is refused', () => {
  const [first, second] = [0, 1].map(() => pemBlock(certificateRequest().csr, LABEL) as Buffer);
  // Both have one form: the signature is at the end, and the key before it.
  const end = Math.min(first?.length ?? 0, second?.length ?? 0);
  const mixed = Buffer.concat([(first as Buffer).subarray(0, end - 70), (second as Buffer).subarray(-70)]);
  assert.ok(mistake(pem(LABEL, mixed)).length > 0);
});
