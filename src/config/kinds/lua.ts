import { parse } from 'luaparse';
import { isJsonObject } from '../../base/json.ts';
import { messageName } from '../../proto/type-urls.ts';
import type { Path } from '../finding.ts';

/** Why a text is no script of LuaJIT, which Envoy runs; undefined when it is one. */
export function luaProblem(code: string): string | undefined {
  try {
    parse(code, { luaVersion: 'LuaJIT', comments: false });
    return undefined;
  } catch (error) {
    return `the script is not Lua: ${error instanceof Error ? error.message : String(error)}`;
  }
}

const LUA = 'envoy.extensions.filters.http.lua.v3.Lua';
const LUA_PER_ROUTE = 'envoy.extensions.filters.http.lua.v3.LuaPerRoute';

/** A script, and where it stands. */
interface Script {
  readonly path: Path;
  readonly code: string;
}

/** Scripts that stand in a message in proto JSON, however deep. */
export function* scriptsIn(value: unknown, path: Path = []): Generator<Script> {
  if (Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield* scriptsIn(item, [...path, i]);
    return;
  }
  if (!isJsonObject(value)) return;
  const name = typeof value['@type'] === 'string' ? messageName(value['@type']) : undefined;
  if (name === LUA && typeof value['inlineCode'] === 'string') {
    yield { path: [...path, 'inlineCode'], code: value['inlineCode'] };
  }
  const isLua = name === LUA || name === LUA_PER_ROUTE;
  for (const [key, inner] of Object.entries(value)) {
    if (isLua) yield* sourcesIn(inner, [...path, key]);
    else yield* scriptsIn(inner, [...path, key]);
  }
}

/** `envoy.config.core.v3.DataSource`, one or a map of them. */
function* sourcesIn(value: unknown, path: Path): Generator<Script> {
  if (!isJsonObject(value)) return;
  const { inlineString } = value;
  if (typeof inlineString === 'string') yield { path: [...path, 'inlineString'], code: inlineString };
  else for (const [key, inner] of Object.entries(value)) yield* sourcesIn(inner, [...path, key]);
}
