import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Diagnostic } from '../../src/base/diagnostic.ts';
import type { RejectedDocument } from './case-files.ts';
import { refusalMistakes } from './refusals.ts';

const REJECTED: readonly RejectedDocument[] = [
  { file: 'shop/a.yaml', kind: 'ServiceEntry', name: 'bad', stage: 'validate' },
  { file: 'shop/b.yaml', kind: '', name: '', stage: 'yaml' },
];

function finding(file: string, resource?: string, more: Partial<Diagnostic> = {}): Diagnostic {
  const location = { file: `etc/istio/conf/${file}`, line: 1, column: 1 };
  return { severity: 'error', code: 'IST0106', message: '', location, ...(resource ? { resource } : {}), ...more };
}

test('exactly the documents that should be refused are', () => {
  const findings = [finding('shop/a.yaml', 'ServiceEntry/shop/bad'), finding('shop/b.yaml')];
  assert.deepEqual(refusalMistakes(REJECTED, findings), []);
});

test('a document too many, and one too few, are named', () => {
  const findings = [finding('shop/a.yaml', 'ServiceEntry/shop/good'), finding('shop/b.yaml'), finding('shop/c.yaml')];
  assert.deepEqual(refusalMistakes(REJECTED, findings), [
    'taken: shop/a.yaml ServiceEntry bad',
    'refused: shop/a.yaml ServiceEntry good',
    'refused: shop/c.yaml',
  ]);
});

test('warnings, and errors about what is served, refuse nothing', () => {
  const findings = [
    finding('shop/d.yaml', 'ServiceEntry/shop/d', { severity: 'warning' }),
    finding('shop/d.yaml', 'VirtualService/shop/d', { code: 'IST0101' }),
  ];
  assert.deepEqual(refusalMistakes([], findings), []);
});
