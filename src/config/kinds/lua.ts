import { parse } from 'luaparse';

/** Why a text is no script of LuaJIT, which Envoy runs; undefined when it is one. */
export function luaProblem(code: string): string | undefined {
  try {
    parse(code, { luaVersion: 'LuaJIT', comments: false });
    return undefined;
  } catch (error) {
    return `the script is not Lua: ${error instanceof Error ? error.message : String(error)}`;
  }
}
