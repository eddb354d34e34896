import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatDiagnostic, oneLine } from '../../../src/base/diagnostic.ts';

test('a finding is one line whatever the text that it is about holds', () => {
  const message = '"a\n::error::b\u001b[2J\u0085" is no host name';
  assert.equal(
    formatDiagnostic({
      severity: 'error',
      code: 'IST0106',
      message,
      path: 'spec.hosts[0]',
      location: { file: 'a\r.yaml', line: 1, column: 2 },
    }),
    'a\\r.yaml:1:2: error IST0106: spec.hosts[0]: "a\\n::error::b\\u001b[2J\\u0085" is no host name',
  );
  assert.equal(oneLine('größer: 5 > 3'), 'größer: 5 > 3');
});
