import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { VARIABLES } from '../../../src/config/variables.ts';
import { DEFAULT_LISTENER_SWITCHES } from '../../../src/envoy/listeners/switches.ts';
import { listenerSwitches } from '../../../src/pipeline/listener-switches.ts';

/** `env['NAME']`, and the helpers that read one by name. Set by the build, and no setting: the version. */
const READ = /\b(?:env\[|flag\(|number\()'([A-Z][A-Z0-9_]+)'/g;

test('every variable that the code reads is described in src/config/variables.ts, and no other is', () => {
  const read = globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(READ)].map(([, name = '']) => name),
  );
  const described = Object.values(VARIABLES).flatMap((part) => [...part.keys()]);
  assert.deepEqual([...new Set(read)].filter((name) => name !== 'ISTIOD_VM_VERSION').sort(), described.sort());
});

test('the defaults that are described are those of the code', () => {
  const defaults = Object.fromEntries([...VARIABLES.translation].map(([name, variable]) => [name, variable.default]));
  assert.deepEqual(listenerSwitches(defaults), DEFAULT_LISTENER_SWITCHES);
});
