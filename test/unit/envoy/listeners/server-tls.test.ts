import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCipherSuite } from '../../../../src/config/kinds/server-tls.ts';
import { serverTlsSocket } from '../../../../src/envoy/listeners/server-tls.ts';

test('cipher suites that are found to be unknown are not sent', () => {
  const written = ['AES128-SHA', 'ÉCDHE-RSA-AES128-SHA', 'unknown', '-AES256-SHA', 'AES128-SHA', 'ALL'];
  assert.deepEqual(
    written.filter((suite) => !isCipherSuite(suite)),
    ['ÉCDHE-RSA-AES128-SHA', 'unknown'],
  );
  const socket = serverTlsSocket({
    settings: { mode: 'SIMPLE', credentialName: 'c', cipherSuites: written },
    defaults: undefined,
    serverFiles: { certificate: '', privateKey: '', roots: '' },
    sockets: { credential: false, files: false },
  });
  assert.match(JSON.stringify(socket), /"cipherSuites":\["AES128-SHA","-AES256-SHA","ALL"\]/);
});
