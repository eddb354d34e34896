import { Buffer } from 'node:buffer';
import { canonicalJson } from '../../../src/base/intern.ts';
import type { JsonObject } from '../../../src/base/json.ts';
import { compareStrings } from '../../../src/base/order.ts';
import { normalized } from '../../parity/normalize.ts';
import { resourceJson } from '../../support/ads-stream.ts';
import { object, objects } from '../../support/json-fields.ts';
import { text, texts, valueAt } from '../fields.ts';
import type { Check } from '../scenario.ts';
import { typeUrlOf } from '../types.ts';
import type { World } from '../world.ts';
import { firstOf, type Look, type Verdict } from './check-kind.ts';

/** One resource as a node holds it. */
export const xds: Look = (check, world) => {
  const { node, type, resource = '', assert, record } = check;
  const subscription = world.node(node).client.type(typeUrlOf(type));
  const held = subscription.held.get(resource);
  const json = held === undefined ? undefined : resourceJson(subscription.typeUrl, held);
  if (record !== undefined && json !== undefined) world.records.set(record, canonicalJson(json));
  return firstOf(Object.keys(assert).map((name) => judged(name, check, json, world)));
};

function judged(name: string, check: Check, json: JsonObject | undefined, world: World): Verdict {
  const { type, resource = '', assert } = check;
  const { removals, changes } = world.node(check.node).client.type(typeUrlOf(type));
  switch (name) {
    case 'exists':
      if ((json !== undefined) === assert['exists']) return undefined;
      return json === undefined ? `there is no ${resource}` : `${resource} is there`;
    case 'never_removed':
      return removals.some((removal) => removal.name === resource) ? `${resource} was removed` : undefined;
    case 'never_empty':
      return changes.some(
        (change) => change.name === resource && addresses(resourceJson(typeUrlOf(type), change)) === '',
      )
        ? `${resource} was empty`
        : undefined;
    case 'never_other': {
      const allowed = new Set([assert['never_other']].flat().map((one) => texts(one).toSorted().join()));
      const other = changes
        .filter((change) => change.name === resource)
        .map((change) => addresses(resourceJson(typeUrlOf(type), change)))
        .find((found) => !allowed.has(found));
      return other === undefined ? undefined : `${resource} once had ${other}`;
    }
    default:
      return json === undefined ? `there is no ${resource}` : judgedContent(name, check, json, world);
  }
}

function judgedContent(name: string, { assert, resource }: Check, json: JsonObject, world: World): Verdict {
  const value = assert[name];
  switch (name) {
    case 'endpoints': {
      const wanted = texts(value).toSorted(compareStrings).join();
      const found = addresses(json);
      return found === wanted ? undefined : `endpoints are [${found}], not [${wanted}]`;
    }
    case 'endpoints_one_of': {
      const found = addresses(json);
      const sets = (value as readonly (readonly string[])[]).map((set) => set.toSorted(compareStrings).join());
      return sets.includes(found) ? undefined : `endpoints are [${found}]`;
    }
    case 'json':
      return jsonVerdict(json, objects(value));
    case 'unique_domains':
      return uniqueDomains(json);
    case 'same_as': {
      const before = world.records.get(text(value));
      if (before === undefined) return `nothing was recorded as ${text(value)}`;
      return canonicalJson(json) === before ? undefined : `${resource} is not as it was at ${text(value)}`;
    }
    default:
      return `the assertion "${name}" is not understood`;
  }
}

/** Values at paths of a resource: `{path, equals}` or `{path, absent: true}`. */
export function jsonVerdict(json: JsonObject, assertions: readonly JsonObject[]): Verdict {
  return firstOf(
    assertions.map((one) => {
      const path = text(one['path']);
      const found = valueAt(json, path);
      if (one['absent'] === true) return found === undefined ? undefined : `${path} is ${JSON.stringify(found)}`;
      const equal = canonicalJson(normalized(found)) === canonicalJson(normalized(one['equals']));
      return equal ? undefined : `${path} is ${JSON.stringify(found)}, not ${JSON.stringify(one['equals'])}`;
    }),
  );
}

/** `ip:port` of all endpoints of a load assignment, sorted. */
function addresses(assignment: JsonObject): string {
  return objects(assignment['endpoints'])
    .flatMap((locality) => objects(locality['lbEndpoints']))
    .map((one) => object(valueAt(one, 'endpoint.address.socketAddress')))
    .map((socket) => `${text(socket['address'])}:${text(socket['portValue'])}`)
    .sort(compareStrings)
    .join();
}

function uniqueDomains(routes: JsonObject): Verdict {
  const domains = objects(routes['virtualHosts']).flatMap((host) => texts(host['domains']));
  const twice = domains.find((domain, i) => domains.indexOf(domain) !== i);
  return twice === undefined ? undefined : `the domain ${twice} stands twice`;
}

/** The names of one type that a node holds. */
export const xdsSet: Look = ({ node, type, assert }, world) => {
  const names = [...world.node(node).client.type(typeUrlOf(type)).held.keys()];
  const has = (name: string) => names.includes(name);
  const absent = texts(assert['names_include']).find((name) => !has(name));
  const present = texts(assert['names_exclude']).find(has);
  const matching = texts(assert['names_exclude_match'])
    .flatMap((pattern) => names.filter((name) => new RegExp(pattern).test(name)))
    .at(0);
  const counts = Object.entries(object(assert['name_count'])).map(([name, count]) => {
    const found = names.filter((one) => one === name).length;
    return found === count ? undefined : `${found} are named ${name}, not ${count}`;
  });
  return firstOf([
    absent === undefined ? undefined : `there is no ${absent} among ${names.length}`,
    present === undefined ? undefined : `there is ${present}`,
    matching === undefined ? undefined : `there is ${matching}`,
    ...counts,
  ]);
};

/** A resource, or all of a type, is byte for byte what it was at an earlier time. */
export const sameAs: Look = ({ node = '', type, resource, ref }, world) => {
  const typeUrl = typeUrlOf(type);
  const { held } = world.node(node).client.type(typeUrl);
  const names = resource === undefined ? [...held.keys()] : [resource];
  return firstOf(
    names.map((name) => {
      const before = world.remembered(text(ref), node, typeUrl, name);
      const now = held.get(name)?.bytes;
      if (before === undefined || now === undefined) return `${name} is not there ${now ? `at ${text(ref)}` : 'now'}`;
      return Buffer.compare(before, now) === 0 ? undefined : `${name} is not as it was at ${text(ref)}`;
    }),
  );
};

/** Removals of listeners that led to certain hosts. */
export const ldsRemoved: Look = ({ node, assert }, world) => {
  const { removals, changes, typeUrl } = world.node(node).client.type(typeUrlOf('LDS'));
  const hosts = texts(assert['none_for']);
  return firstOf(
    removals.map(({ name, response }) => {
      const before = changes.findLast((change) => change.name === name && change.response < response);
      const content = before === undefined ? '' : JSON.stringify(resourceJson(typeUrl, before));
      const host = hosts.find((one) => content.includes(`|${one}"`));
      return host === undefined ? undefined : `the listener ${name} of ${host} was removed`;
    }),
  );
};
