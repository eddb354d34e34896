import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { parseDuration } from '../../src/base/duration.ts';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';

export interface ScenarioNode {
  readonly type: string;
  readonly ip: string;
  readonly name: string;
  readonly namespace: string;
  readonly labels?: JsonObject;
  readonly serviceAccount?: string;
  readonly metadata?: JsonObject;
  readonly realEnvoy?: boolean;
  /** `manual`: an order of a step starts it. */
  readonly start?: string;
}

/** One thing that must be so. What else it has depends on its kind. */
export interface Check {
  readonly id: string;
  /** `start`, the number of a step, `any` (at every moment) or `all-steps` (summed over all). */
  readonly at: string;
  readonly kind: string;
  /** It must become true in this time. */
  readonly within?: string;
  /** It must be true after this time. */
  readonly settle?: string;
  readonly node?: string;
  readonly type?: string;
  readonly resource?: string;
  /** Under which name what was found is kept for a later `same_as`. */
  readonly record?: string;
  readonly assert: JsonObject;
  readonly [field: string]: JsonValue | undefined;
}

export interface Step {
  /** `01`. */
  readonly at: string;
  readonly script: string;
}

export interface Scenario {
  readonly id: string;
  readonly directory: string;
  readonly title: string;
  readonly covers: readonly string[];
  /** What the lines of findings may be off by. */
  readonly lineTolerance: number;
  readonly nodes: Readonly<Record<string, ScenarioNode>>;
  readonly backends: readonly { readonly name: string; readonly port: number }[];
  readonly checks: readonly Check[];
  readonly steps: readonly Step[];
  /** Text of the files that an MCP server is to serve. */
  readonly mcp: string;
}

/** The scenarios under `directory`, or itself when it is one; in order. */
export function scenariosUnder(directory: string): readonly Scenario[] {
  if (existsSync(join(directory, 'case.yaml'))) return [readScenario(directory)];
  return readdirSync(directory)
    .sort()
    .map((name) => join(directory, name))
    .filter((path) => existsSync(join(path, 'case.yaml')))
    .map(readScenario);
}

function readScenario(directory: string): Scenario {
  const read = parse(readFileSync(join(directory, 'case.yaml'), 'utf8'));
  const files = (pattern: string) => globSync(pattern, { cwd: directory }).sort();
  return {
    id: read.id,
    directory,
    title: read.title,
    covers: read.covers ?? [],
    // Notes say where a line may be one off, and nothing else about lines.
    lineTolerance: /\bline\b/i.test(read.notes ?? '') ? 1 : 0,
    nodes: read.nodes ?? {},
    backends: read.backends ?? [],
    checks: read.expect.map((check: Check) => ({ ...check, at: String(check.at), assert: check.assert ?? {} })),
    steps: files('steps/*.sh').map((script) => ({ at: basename(script).slice(0, 2), script })),
    mcp: files('mcp/**/*.yaml')
      .map((file) => readFileSync(join(directory, file), 'utf8'))
      .join('\n'),
  };
}

/** @throws Error when the text is no duration */
export function milliseconds(text: string): number {
  const found = parseDuration(text);
  if (found === undefined) throw new Error(`"${text}" is no duration`);
  return found;
}
