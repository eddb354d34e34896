import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type JwtRule, jwtAuthnFilters } from '../../../../src/envoy/filters/jwt-authn.ts';

type Requirement = Readonly<{
  providerName?: string;
  allowMissing?: object;
  requiresAny?: { requirements: readonly Requirement[] };
  requiresAll?: { requirements: readonly Requirement[] };
}>;

interface Config {
  readonly providers: Readonly<Record<string, { readonly remoteJwks: unknown }>>;
  readonly rules: readonly { readonly requires: Requirement }[];
}

function configOf(rules: readonly JwtRule[]): Config {
  const [filter] = jwtAuthnFilters(rules, false);
  assert.ok(filter !== undefined);
  return filter.typedConfig as unknown as Config;
}

const rule = (presence?: 'REQUIRED'): JwtRule => ({ rule: presence ? { presence } : {}, keys: { inline: '{}' } });

/** Whether a request with valid tokens of some providers, and no others, is let through. */
function lets(rules: readonly JwtRule[], tokens: readonly number[]): boolean {
  const { rules: written } = configOf(rules);
  const holds = (one: Requirement): boolean => {
    if (one.requiresAny) return one.requiresAny.requirements.some(holds);
    if (one.requiresAll) return one.requiresAll.requirements.every(holds);
    return one.allowMissing !== undefined || tokens.includes(Number(one.providerName?.split('-')[1]));
  };
  return written.every(({ requires }) => holds(requires));
}

test('without rules there is no filter', () => {
  assert.deepEqual(jwtAuthnFilters([], true), []);
});

test('no token need come, and one of any rule is enough', () => {
  assert.ok(lets([rule()], []));
  assert.ok(lets([rule(), rule()], []));
  assert.ok(lets([rule(), rule()], [1]));
});

test('a token that is demanded must come, whatever others come', () => {
  assert.ok(!lets([rule('REQUIRED')], []));
  assert.ok(lets([rule('REQUIRED')], [0]));
  assert.ok(!lets([rule('REQUIRED'), rule()], []));
  assert.ok(!lets([rule('REQUIRED'), rule()], [1]));
  assert.ok(lets([rule('REQUIRED'), rule()], [0]));
  assert.ok(!lets([rule('REQUIRED'), rule('REQUIRED')], [0]));
  assert.ok(lets([rule('REQUIRED'), rule('REQUIRED')], [0, 1]));
});

test('keys that a proxy fetches itself come by a cluster, within the time of the rule', () => {
  const keys = { uri: 'http://keys/a', cluster: 'outbound|80||keys' };
  const { providers } = configOf([{ rule: { timeout: '2s' }, keys }]);
  assert.deepEqual(providers['origins-0']?.remoteJwks, {
    httpUri: { ...keys, timeout: '2s' },
    cacheDuration: '300s',
  });
});
