import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { formatDiagnostic } from '../../../src/base/diagnostic.ts';
import { parseJoinTokens } from '../../../src/istiod/join-token-file.ts';
import { ownerOf } from '../../../src/security/join-tokens.ts';
import { WorkDir } from '../../support/work-dir.ts';

const HASH = 'a'.repeat(64);
const NOW = Date.parse('2026-06-01T00:00:00Z');

function line(over: Readonly<Record<string, string>> = {}): string {
  const token = { sha256: HASH, namespace: 'shop', serviceAccount: 'client', expires: '2027-01-31T00:00:00Z', ...over };
  return `- ${JSON.stringify(token)}\n`;
}

test('tokens are read with whose they are and until when', () => {
  const { tokens, diagnostics } = parseJoinTokens(`tokens:\n${line({ sha256: HASH.toUpperCase() })}`, NOW);
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(tokens, [
    { sha256: HASH, namespace: 'shop', serviceAccount: 'client', expires: Date.parse('2027-01-31T00:00:00Z') },
  ]);
  assert.deepEqual(parseJoinTokens('').tokens, []);
});

test('a token that is wrong is named with its place, and the others count', () => {
  const wrong = [
    { sha256: 'abc' },
    { sha256: 'b'.repeat(64), namespace: 'Shop/../x' },
    { sha256: 'c'.repeat(64), serviceAccount: '' },
    { sha256: 'd'.repeat(64), expires: 'never' },
    { sha256: HASH },
  ];
  const { tokens, diagnostics } = parseJoinTokens(`tokens:\n${line()}${wrong.map(line).join('')}`, NOW);
  assert.equal(tokens?.length, 1);
  assert.deepEqual(
    diagnostics.map(({ location, path }) => [location.line, path]),
    [
      [3, 'tokens[1].sha256'],
      [4, 'tokens[2].namespace'],
      [5, 'tokens[3].serviceAccount'],
      [6, 'tokens[4].expires'],
      [7, 'tokens[5].sha256'],
    ],
    diagnostics.map(formatDiagnostic).join('\n'),
  );
});

test('the lines of the guide make a token for each machine', () => {
  const guide = readFileSync('docs/guides/certificates.md', 'utf8');
  const [, script = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(guide) ?? [];
  using dir = new WorkDir('guide');
  mkdirSync(dir.at('etc/istio'), { recursive: true });
  const made = [0, 1].map(() => {
    execFileSync('sh', ['-eu', '-c', script], { cwd: dir.path });
    return dir.read('istio-token');
  });
  const { tokens = [], diagnostics } = parseJoinTokens(dir.read('etc/istio/join-tokens.yaml'), NOW);
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(
    made.map((token) => ownerOf(token, tokens, 0)?.serviceAccount),
    ['orders', 'orders'],
  );
});

test('of a file that can not be read at all nothing is taken', () => {
  for (const text of ['tokens: {', 'tokens: 3', 'token: []']) {
    const { tokens, diagnostics } = parseJoinTokens(text);
    assert.ok(diagnostics.length > 0, text);
    if (text !== 'token: []') assert.equal(tokens, undefined, text);
  }
});

test('a token that has expired is told', () => {
  const text = `tokens:\n${line()}${line({ sha256: 'b'.repeat(64), expires: '2026-01-31T00:00:00Z' })}`;
  const { tokens, diagnostics } = parseJoinTokens(text, NOW);
  assert.equal(tokens?.length, 2);
  assert.deepEqual(
    diagnostics.map(({ severity, location, path }) => [severity, location.line, path]),
    [['warning', 3, 'tokens[1].expires']],
  );
});
