import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { referencePages } from '../../build/reference/pages.ts';
import { AGENT_VARIABLES } from '../../src/agent/variables.ts';
import { VARIABLES } from '../../src/config/variables.ts';
import { DEFAULT_LISTENER_SWITCHES } from '../../src/envoy/listeners/switches.ts';
import { listenerSwitches } from '../../src/pipeline/listener-switches.ts';

test('the reference is what the code says; npm run reference makes it', () => {
  for (const [file, text] of referencePages()) {
    assert.equal(readFileSync(join('docs/reference', file), 'utf8'), text, file);
  }
});

test('links between documents lead to files that are there', () => {
  const broken = [...globSync('docs/**/*.md'), 'README.md'].flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\]\((?!https?:|#)([^)#\s]+)[^)]*\)/g)].flatMap(([, link = '']) =>
      globSync(join(dirname(file), link)).length === 0 ? [`${file}: ${link}`] : [],
    ),
  );
  assert.deepEqual(broken, []);
});

/** `env['NAME']`, and the helpers that read one by name. Set by the build, and no setting: the version. */
const READ = /\b(?:env\[|flag\(|number\(|duration\(|value\(|valueOf\(env, )'([A-Z][A-Z0-9_]+)'/g;

test('every variable that the code reads is described, and no other is', () => {
  const read = globSync('src/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(READ)].map(([, name = '']) => name),
  );
  const ofServer = Object.values(VARIABLES).flatMap((part) => [...part.keys()]);
  const described = new Set([...ofServer, ...Object.keys(AGENT_VARIABLES)]);
  // Settings of an agent that are looked at by what their names begin with, or in turn.
  const others = ['ISTIO_ADDRESS', 'PILOT_ADDRESS', 'PROXY_CONFIG', 'ISTIO_INBOUND_INTERCEPTION_MODE'];
  assert.deepEqual(
    [...new Set([...read, ...others])].filter((name) => name !== 'ISTIOD_VM_VERSION').sort(),
    [...described].sort(),
  );
});

test('the defaults that are described are those of the code', () => {
  const defaults = Object.fromEntries([...VARIABLES.translation].map(([name, variable]) => [name, variable.default]));
  assert.deepEqual(listenerSwitches(defaults), DEFAULT_LISTENER_SWITCHES);
});
