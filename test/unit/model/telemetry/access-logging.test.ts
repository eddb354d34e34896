import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AccessLogging } from '#generated/config/specs.ts';
import { accessLogging } from '../../../../src/model/telemetry/access-logging.ts';
import type { TrafficMode } from '../../../../src/model/telemetry/mode.ts';

const ref = (...names: readonly string[]) => ({ providers: names.map((name) => ({ name })) });

/** Providers that log, each with `!` when it is switched off, and its filter. */
function logged(
  levels: readonly (readonly AccessLogging[])[],
  defaults: readonly string[] = [],
  mode: TrafficMode = 'CLIENT',
): readonly string[] {
  return accessLogging({ levels, defaults, mode }).map(
    ({ provider, disabled, filter }) =>
      `${disabled ? '!' : ''}${provider}${filter === undefined ? '' : ` where ${filter}`}`,
  );
}

test('without Telemetries the default providers log', () => {
  assert.deepEqual(logged([]), []);
  assert.deepEqual(logged([], ['b', 'a']), ['a', 'b']);
});

test('providers of a narrower level take the place of those of a wider one, and of the defaults', () => {
  assert.deepEqual(logged([[ref('mesh')]], ['default']), ['mesh']);
  assert.deepEqual(logged([[ref('mesh')], [ref('namespace', 'other')]], ['default']), ['namespace', 'other']);
  assert.deepEqual(logged([[ref('mesh')], [{}]], ['default']), ['mesh']);
  assert.deepEqual(logged([[ref('a')], [ref('b')], [ref('a')]]), ['a']);
});

test('elements of one level add to one another', () => {
  assert.deepEqual(logged([[ref('b'), ref('a')]]), ['a', 'b']);
});

test('an element is about the traffic that it matches', () => {
  const client = { ...ref('c'), match: { mode: 'CLIENT' } } as const;
  const server = { ...ref('s'), match: { mode: 'SERVER' } } as const;
  const both = { ...ref('b'), match: { mode: 'CLIENT_AND_SERVER' } } as const;
  assert.deepEqual(logged([[client, server, both]], [], 'CLIENT'), ['b', 'c']);
  assert.deepEqual(logged([[client, server, both]], [], 'SERVER'), ['b', 's']);
  assert.deepEqual(logged([[client]], [], 'SERVER'), []);
});

test('an element without providers is about those that the element before it names, though it is about other traffic', () => {
  const server = { ...ref('s'), match: { mode: 'SERVER' } } as const;
  assert.deepEqual(logged([[server, { disabled: true }]], [], 'SERVER'), ['!s']);
  assert.deepEqual(logged([[server, { disabled: true }]], ['d'], 'CLIENT'), []);
});

test('what is switched off stays named, and the last element decides', () => {
  assert.deepEqual(logged([[ref('a')], [{ disabled: true }]]), ['!a']);
  assert.deepEqual(logged([[{ ...ref('a'), disabled: true }], [ref('a')]]), ['a']);
  assert.deepEqual(logged([[{ disabled: true }]], ['a', 'b']), ['!a', '!b']);
});

test('a filter is that of the last element that names the provider; one without providers has no effect', () => {
  const filtered = (name: string, expression: string) => ({ ...ref(name), filter: { expression } });
  assert.deepEqual(logged([[filtered('a', 'x')]]), ['a where x']);
  assert.deepEqual(logged([[filtered('a', 'x')], [filtered('a', 'y')]]), ['a where y']);
  assert.deepEqual(logged([[filtered('a', 'x')], [ref('a')]]), ['a']);
  assert.deepEqual(logged([[{ filter: { expression: 'x' } }]], ['a']), ['a']);
});
