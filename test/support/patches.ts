import assert from 'node:assert/strict';
import type { EnvoyConfigObjectPatch } from '#generated/config/specs.ts';
import type { JsonObject } from '../../src/base/json.ts';
import type { ConfigKey } from '../../src/config/config.ts';
import { patchValue } from '../../src/config/kinds/envoy-filter-value.ts';
import { type Patch, patchOf } from '../../src/envoy/patch/patch.ts';

const SOURCE = 'networking.istio.io/EnvoyFilter/shop/patches' as ConfigKey;

/** A patch as somebody writes it: what it is applied to, the operation, the value, and the match. */
export function patch(
  applyTo: EnvoyConfigObjectPatch['applyTo'] & string,
  operation: NonNullable<EnvoyConfigObjectPatch['patch']>['operation'] & string,
  value: JsonObject | undefined,
  match: NonNullable<EnvoyConfigObjectPatch['match']> = {},
): Patch {
  const written = { applyTo, match, patch: { operation, ...(value && { value }) } };
  const read = patchValue(written);
  assert.deepEqual(read.problems, []);
  const made = patchOf(written, read, SOURCE);
  assert(made);
  return made;
}

export const LUA = 'type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua';
export const ROUTER = 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router';

/** A Lua filter as it is written. */
export function luaFilter(name: string, code: string = `-- ${name}`): JsonObject {
  return { name, typed_config: { '@type': LUA, default_source_code: { inline_string: code } } };
}
