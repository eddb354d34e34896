import type { EnvoyProcess } from '../../support/envoy-process.ts';
import { httpRequest, type Load } from '../../support/http-client.ts';
import { object, objects } from '../../support/json-fields.ts';
import { text } from '../fields.ts';
import type { Check } from '../scenario.ts';
import type { World } from '../world.ts';
import { firstOf, type Look } from './check-kind.ts';
import { jsonVerdict } from './resources.ts';

function envoyOf({ node }: Check, world: World): EnvoyProcess {
  const { envoy } = world.node(node);
  if (envoy === undefined) throw new Error(`no Envoy runs as ${node}`);
  return envoy;
}

/** Updates that an Envoy refused, and whether it is ready. */
export const envoy: Look = async (check, world) => {
  const process = envoyOf(check, world);
  const { rejected, ready } = check.assert;
  const refusals = rejected === undefined ? undefined : await process.rejected();
  const isReady = ready === undefined ? undefined : await process.ready();
  return firstOf([
    refusals === rejected ? undefined : `${refusals} updates were rejected: ${rejections(process)}`,
    isReady === ready ? undefined : `ready is ${isReady}`,
  ]);
};

function rejections({ log }: EnvoyProcess): string {
  const lines = log.split('\n').filter((line) => line.includes('rejected'));
  return lines.at(-1)?.slice(0, 500) ?? 'the log does not say why';
}

/** A counter or gauge of an Envoy. */
export const envoyStat: Look = async (check, world) => {
  const name = text(check['stat']);
  const value = await envoyOf(check, world).stat(name);
  const before = world.node(check.node).statsAtStart.get(name) ?? 0;
  const { equals, delta, min, max } = check.assert;
  return firstOf([
    equals === undefined || value === equals ? undefined : `${name} is ${value}, not ${equals}`,
    delta === undefined || value - before === delta ? undefined : `${name} went from ${before} to ${value}`,
    min === undefined || value >= Number(min) ? undefined : `${name} is ${value}, below ${min}`,
    max === undefined || value <= Number(max) ? undefined : `${name} is ${value}, above ${max}`,
  ]);
};

/** A resource in a section of an Envoy's /config_dump. */
export const configDump: Look = async (check, world) => {
  const section = text(check['section']);
  const { configs } = await envoyOf(check, world).configDump();
  const entries = configs.flatMap((config) => objects(config[section]));
  const resources = entries.flatMap((entry) => Object.values(entry).map((value) => object(value)));
  const found = resources.find((resource) => (resource['name'] ?? resource['cluster_name']) === check.resource);
  if (found === undefined) return `${check.resource} is not in ${section}`;
  return jsonVerdict(camelCased(found), objects(check.assert['json']));
};

/** An Envoy's dump has the names of fields as in the proto; checks have them as in proto JSON. */
function camelCased(resource: ReturnType<typeof object>): ReturnType<typeof object> {
  const camel = (key: string) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return JSON.parse(JSON.stringify(resource), (_, value) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).map(([key, item]) => [camel(key), item]))
      : value,
  );
}

/** One request through a node, with a token where the check has one: whose (`iss`) and signed with which key (`key`). */
export const traffic: Look = async ({ url, host, jwt, assert }, world) => {
  const { key, ...claims } = object(jwt);
  const token = jwt === undefined ? undefined : world.key(text(key)).token(claims);
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const answer = await httpRequest(text(url), { host: text(host), headers, withinMs: 3_000 });
  const { status, backend } = assert;
  return firstOf([
    status === undefined || answer.status === status ? undefined : `${answer.status} ${answer.body.slice(0, 200)}`,
    backend === undefined || answer.body === backend
      ? undefined
      : `${answer.body.slice(0, 200)} answers, not ${backend}`,
  ]);
};

/** Loads that run around the current step, by check. They are begun before it. */
export async function loadVerdict(load: Load, { assert }: Check): Promise<string | undefined> {
  const { requests, failures } = await load.stop();
  const allowed = Number(assert['non_200'] ?? 0);
  if (requests > 0 && failures.length <= allowed) return undefined;
  return `${failures.length} of ${requests} requests failed: ${[...new Set(failures)].slice(0, 3).join('; ')}`;
}
