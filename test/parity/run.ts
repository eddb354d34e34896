/**
 * Compares translation with the conformance corpus, in this process:
 *   node test/parity/run.ts [case-prefix…] [--type cds,eds,lds,rds] [--proxy name] [--dir DIR] [--routers] [-v]
 * A resource type is served once it has its line in src/pipeline/resource-types.ts.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { JsonObject, JsonValue } from '../../src/base/json.ts';
import { nameOf, type ShortType, TYPES } from './case-files.ts';
import { loadCase } from './load-case.ts';
import { type Difference, differences, normalized } from './normalize.ts';
import { connect, pipelineOf, resourcesOf } from './translate.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    type: { type: 'string', default: 'cds,eds,lds,rds' },
    proxy: { type: 'string' },
    dir: { type: 'string', default: '../shared/conformance/public' },
    routers: { type: 'boolean', default: false },
    verbose: { type: 'boolean', short: 'v', default: false },
  },
});

function text(value: JsonValue | undefined): string {
  const json = JSON.stringify(value) ?? 'absent';
  return json.length > 300 && !values.verbose ? `${json.slice(0, 300)}…` : json;
}

let right = 0;
let all = 0;

function compareType(expectedFile: string, got: ReadonlyMap<string, JsonObject>, label: string): void {
  const expected: readonly JsonObject[] = existsSync(expectedFile)
    ? JSON.parse(readFileSync(expectedFile, 'utf8'))
    : [];
  const wanted = new Map(expected.map((resource) => [nameOf(resource), resource]));
  // Endpoints and routes are asked for by name: only what the case asked for is compared.
  const asked = /eds|rds/.test(label) ? [...wanted.keys()] : [...new Set([...wanted.keys(), ...got.keys()])];
  for (const name of asked.sort()) {
    const e = wanted.get(name);
    const g = got.get(name);
    all++;
    const found: readonly Difference[] =
      e === undefined || g === undefined
        ? [
            {
              path: '',
              expected: e === undefined ? undefined : 'present',
              got: g === undefined ? undefined : 'present',
            },
          ]
        : differences(normalized(e), normalized(g));
    if (found.length === 0) {
      right++;
      continue;
    }
    console.log(`${label} ${name}`);
    for (const d of found.slice(0, values.verbose ? 1000 : 6)) {
      console.log(`    ${d.path || '(resource)'}\n      expected ${text(d.expected)}\n      got      ${text(d.got)}`);
    }
    if (found.length > 6 && !values.verbose) console.log(`    … ${found.length - 6} more`);
  }
}

for (const name of readdirSync(values.dir).sort()) {
  if (positionals.length > 0 && !positionals.some((prefix) => name.startsWith(prefix))) continue;
  const directory = join(values.dir, name);
  const loaded = loadCase(directory);
  const pipeline = pipelineOf(loaded);
  for (const proxy of loaded.proxies) {
    if (values.proxy !== undefined && proxy.name !== values.proxy) continue;
    if ((proxy.type !== 'sidecar' && !values.routers) || proxy.metadata['GENERATOR'] === 'grpc') continue;
    const client = connect(pipeline, proxy);
    for (const type of values.type.split(',')) {
      const label = `${name} ${proxy.name} ${type}`;
      try {
        const got = resourcesOf(pipeline, client, TYPES[type as ShortType] ?? type);
        compareType(join(directory, 'expected', proxy.name, `${type}.json`), got, label);
      } catch (error) {
        console.log(`${label} THROWS ${error instanceof Error ? error.stack : error}`);
        const file = join(directory, 'expected', proxy.name, `${type}.json`);
        all += existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).length : 0;
      }
    }
  }
}
console.log(`${right} of ${all} resources`);
