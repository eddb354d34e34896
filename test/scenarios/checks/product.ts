import { execFile } from 'node:child_process';
import { isJsonObject, type JsonObject } from '../../../src/base/json.ts';
import { istiodCommand } from '../../support/istiod-process.ts';
import { object } from '../../support/json-fields.ts';
import { text } from '../fields.ts';
import { certificateNamed } from './certificates.ts';
import { firstOf, type Look } from './check-kind.ts';

/** Names that /debug/syncz has for types. */
const SYNC_NAMES: Readonly<Record<string, string>> = { CDS: 'cluster', EDS: 'endpoint', LDS: 'listener', RDS: 'route' };

/** What the control plane says of a proxy's state, or of a source. */
export const debug: Look = async ({ assert }, world) => {
  if (assert['source'] !== undefined) {
    const sources = await world.istiod.json<readonly JsonObject[]>('/debug/sourcesz');
    const found = sources.find(({ source }) => source === assert['source']);
    return found?.['state'] === assert['state'] ? undefined : `the sources are ${JSON.stringify(sources)}`;
  }
  const rows = await world.istiod.json<readonly JsonObject[]>('/debug/syncz');
  const field = `${SYNC_NAMES[text(assert['type'])]}_status`;
  const states = rows.filter(({ proxy }) => proxy === assert['proxy']).map((row) => object(row[field]));
  const fits = states.some(
    ({ state, refused }) =>
      (assert['state'] === undefined || state === assert['state']) &&
      (assert['message'] === undefined || text(refused).includes(text(assert['message']))),
  );
  return fits ? undefined : `${field} of ${text(assert['proxy'])} is ${JSON.stringify(states)}`;
};

/** Metrics whose names match, summed. */
export const metric: Look = async ({ name_match, assert }, world) => {
  const pattern = new RegExp(text(name_match));
  const samples = (await world.istiod.metrics())
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => ({ name: line.split(/[{ ]/)[0] ?? '', value: Number(line.slice(line.lastIndexOf(' ') + 1)) }))
    .filter(({ name }) => pattern.test(name));
  const named = assert['equals_not_after_of'];
  if (named !== undefined) return endsWith(samples, certificateNamed(world, text(named)).validToDate.getTime() / 1000);
  const sum = samples.reduce((total, { value }) => total + value, 0);
  if (assert['min'] === undefined) return 'the assertion is not understood';
  return sum >= Number(assert['min']) ? undefined : `${samples.length} metrics match, their sum is ${sum}`;
};

/** Whether metrics say that something ends then: as a time, or as what is left until then. @param end seconds since 1970 */
function endsWith(
  samples: readonly { readonly name: string; readonly value: number }[],
  end: number,
): string | undefined {
  if (samples.length === 0) return 'no metric matches';
  const left = end - Date.now() / 1000;
  const wrong = samples.find(({ name, value }) =>
    name.endsWith('_seconds') ? Math.abs(value - left) > 5 : value !== end,
  );
  return wrong && `${wrong.name} is ${wrong.value}, and it ends at ${end}`;
}

/** The control plane's process. */
export const processState: Look = async ({ assert }, world) => {
  const { status } = await world.istiod.get('/ready');
  const ready = status === 200;
  return assert['ready'] === ready ? undefined : `ready is ${ready}`;
};

/** The commands of the product, by the words of scenarios. */
const COMMANDS: Readonly<Record<string, string>> = { validate: 'check' };

/** A command run in the work directory. */
export const cli: Look = async ({ command, assert }, world) => {
  const [verb = '', ...args] = text(command).split(/\s+/);
  const [file = '', ...before] = istiodCommand();
  const { code, output } = await new Promise<{ readonly code: number; readonly output: string }>((resolve) => {
    execFile(
      file,
      [...before, COMMANDS[verb] ?? verb, ...args],
      { cwd: world.dir.path, env: { PATH: process.env['PATH'] ?? '', CHECK_FORMAT: 'json' }, timeout: 20_000 },
      (error, stdout) =>
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, output: stdout }),
    );
  });
  const wanted = assert['exit'];
  const exits = wanted === undefined || (wanted === 'nonzero' ? code > 0 : code === Number(wanted));
  const has = assert['json_has'];
  return firstOf([
    exits ? undefined : `it exits with ${code}`,
    has === undefined || jsonHas(output, object(has)) ? undefined : `no entry has ${JSON.stringify(has)}: ${output}`,
  ]);
};

/** Whether an entry of a list has all fields, itself or in its place. */
function jsonHas(output: string, wanted: JsonObject): boolean {
  const list = JSON.parse(output) as readonly JsonObject[];
  return list.some((entry) => {
    const flat = { ...entry, ...(isJsonObject(entry['location']) ? entry['location'] : {}) };
    return Object.entries(wanted).every(([name, value]) => flat[name] === value);
  });
}
