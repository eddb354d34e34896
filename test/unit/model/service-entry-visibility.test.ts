import assert from 'node:assert/strict';
import { test } from 'node:test';
import { narrowedExport, widestVisibility } from '../../../src/model/service-entry-visibility.ts';

const select = (app: string) => ({ namespaceSelector: { matchLabels: { app } } });

test('the first policy of which every rule matches says how far entries are seen', () => {
  const setting = {
    applyToSidecars: true,
    defaultVisibility: 'NAMESPACE',
    policies: [
      { visibility: 'NONE', matchingRules: [select('web'), { namespaceSelector: { matchLabels: { hide: 'yes' } } }] },
      { visibility: 'PUBLIC', matchingRules: [select('web')] },
      { visibility: 'NONE', matchingRules: [{}] },
    ],
  } as const;
  assert.equal(widestVisibility(setting, { app: 'web', hide: 'yes' }), 'NONE');
  assert.equal(widestVisibility(setting, { app: 'web' }), 'PUBLIC');
  assert.equal(widestVisibility(setting, {}), 'NAMESPACE');
  assert.equal(widestVisibility({ ...setting, applyToSidecars: false }, {}), undefined);
  assert.equal(widestVisibility({ applyToSidecars: true, policies: [{ visibility: 'NONE' }] }, {}), 'NONE');
});

test('an export is narrowed and never widened', () => {
  assert.deepEqual(narrowedExport(undefined, ['*'], 'shop', 'NAMESPACE'), ['.']);
  assert.deepEqual(narrowedExport(['other', 'shop'], ['*'], 'shop', 'NAMESPACE'), ['.']);
  assert.deepEqual(narrowedExport(['other'], ['*'], 'shop', 'NAMESPACE'), ['~']);
  assert.deepEqual(narrowedExport(undefined, ['~'], 'shop', 'NAMESPACE'), ['~']);
  assert.deepEqual(narrowedExport(['other'], ['*'], 'shop', 'PUBLIC'), ['other']);
  assert.deepEqual(narrowedExport(['other'], ['*'], 'shop', 'NONE'), ['~']);
});
