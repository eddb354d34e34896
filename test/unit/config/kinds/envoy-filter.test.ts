import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fieldPath } from '../../../../src/config/finding.ts';
import { validateSpec } from '../../../../src/config/kind.ts';
import { ENVOY_FILTER } from '../../../../src/config/kinds/envoy-filter.ts';

const META = { name: 'x', namespace: 'shop', labels: {}, annotations: {} };
const lua = (type: string) => ({ name: 'x', typed_config: { '@type': `type.googleapis.com/${type}` } });

test('an object is taken without the patch whose value can not be read, which is an error at its place', () => {
  for (const [applyTo, value, expected] of [
    [
      'CLUSTER',
      { connect_timeout: 'soon' },
      /^spec.configPatches\[0\].patch.value.connect_timeout .*duration.*left out/,
    ],
    [
      'CLUSTER',
      { dnsLookupFamily: 'V4' },
      /^spec.configPatches\[0\].patch.value.dnsLookupFamily .*V4_ONLY.*; this patch is left out/,
    ],
    ['LISTENER', { filter_chains: {} }, /^spec.configPatches\[0\].patch.value.filter_chains must be a list/],
    [
      'HTTP_FILTER',
      { typed_config: { inline_code: '' } },
      /^spec.configPatches\[0\].patch.value.typed_config needs "@type"/,
    ],
    ['HTTP_FILTER', { typed_config: {} }, /^spec.configPatches\[0\].patch.value.typed_config needs "@type"/],
    [
      'HTTP_FILTER',
      lua('envoy.extensions.filters.http.lua.v3.Lau'),
      /did you mean "envoy.extensions.filters.http.lua.v3.Lua"/,
    ],
    ['HTTP_FILTER', lua('envoy.config.filter.http.lua.v2.Lua'), /version 2/],
  ] as const) {
    const configPatches = [{ applyTo, patch: { operation: 'ADD', value } }];
    const { spec, findings } = validateSpec(ENVOY_FILTER, { configPatches }, META, { strict: false });
    assert(spec, applyTo);
    const [error, ...more] = findings.filter(({ severity }) => severity === 'error');
    assert.equal(error?.code, 'VM0003');
    assert.match(`${fieldPath(error?.path ?? [])} ${error?.message}`, expected);
    assert.deepEqual(more, []);
  }
});
