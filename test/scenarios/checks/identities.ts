import type { JsonObject, JsonValue } from '../../../src/base/json.ts';
import { object, objects } from '../../support/json-fields.ts';
import { text, texts, valueAt } from '../fields.ts';
import type { Check } from '../scenario.ts';
import { typeUrlOf } from '../types.ts';
import type { World } from '../world.ts';
import { firstOf, type Look } from './check-kind.ts';

const INBOUND = 'virtualInbound';

function inbound({ node }: Check, world: World): JsonObject {
  const listener = world.node(node).client.resources(typeUrlOf('LDS')).get(INBOUND);
  if (listener === undefined) throw new Error(`there is no listener ${INBOUND}`);
  return listener;
}

/** Whom a server's policies let in, by the caller's identity alone. */
export const rbac: Look = (check, world) => {
  const policies = collected(inbound(check, world), (one) => /\.RBAC$/.test(text(one['@type']))).map(rulesOf);
  const verdict = (principal: string, wanted: boolean) => {
    const allowed = policies.length > 0 && policies.every((rules) => isAllowed(rules, `spiffe://${principal}`));
    return allowed === wanted ? undefined : `${principal} is ${allowed ? 'let in' : 'refused'}`;
  };
  return firstOf([
    ...texts(check.assert['allows']).map((principal) => verdict(principal, true)),
    ...texts(check.assert['denies']).map((principal) => verdict(principal, false)),
  ]);
};

function rulesOf(filter: JsonObject): JsonObject {
  return object(filter['rules']);
}

function isAllowed(rules: JsonObject, uri: string): boolean {
  const policies = Object.values(object(rules['policies'])).map(object);
  const matches = policies.some((policy) => objects(policy['principals']).some((one) => holds(one, uri)));
  return rules['action'] === 'DENY' ? !matches : matches;
}

/** A principal of `envoy.config.rbac.v3`, as far as it is about who calls. What it says of anything else is taken as true. */
function holds(principal: JsonObject, uri: string): boolean {
  if (principal['andIds'] !== undefined) return ids(principal['andIds']).every((one) => holds(one, uri));
  if (principal['orIds'] !== undefined) return ids(principal['orIds']).some((one) => holds(one, uri));
  if (principal['notId'] !== undefined) return !holds(object(principal['notId']), uri);
  const name = valueAt(principal, 'authenticated.principalName') ?? valueAt(principal, 'filterState.stringMatch');
  return name === undefined || matches(object(name), uri);
}

function ids(value: JsonValue | undefined): readonly JsonObject[] {
  return objects(object(value)['ids']);
}

/** An `envoy.type.matcher.v3.StringMatcher`. */
function matches(matcher: JsonObject, value: string): boolean {
  if (typeof matcher['exact'] === 'string') return value === matcher['exact'];
  if (typeof matcher['prefix'] === 'string') return value.startsWith(matcher['prefix']);
  if (typeof matcher['suffix'] === 'string') return value.endsWith(matcher['suffix']);
  if (typeof matcher['contains'] === 'string') return value.includes(matcher['contains']);
  const regex = valueAt(matcher, 'safeRegex.regex');
  return typeof regex === 'string' && new RegExp(`^(?:${regex})$`).test(value);
}

/** Which callers' certificates a server takes. */
export const inboundTls: Look = (check, world) => {
  const conditions = collected(inbound(check, world), (one) => one['defaultValidationContext'] !== undefined)
    .map((one) => object(one['defaultValidationContext']))
    .flatMap((one) => [
      ...objects(one['matchSubjectAltNames']),
      ...objects(one['matchTypedSubjectAltNames']).map((typed) => object(typed['matcher'])),
    ]);
  const prefixes = conditions.map(({ prefix }) => text(prefix));
  const absent = texts(check.assert['san_prefixes']).find((prefix) => !prefixes.includes(prefix));
  return absent === undefined ? undefined : `${absent} is not among ${[...new Set(prefixes)].join(', ') || 'none'}`;
};

/** All objects at any depth that pass. */
function collected(value: JsonValue | undefined, test: (one: JsonObject) => boolean): readonly JsonObject[] {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).flatMap((item) => collected(item, test));
  const one = object(value);
  return [...(test(one) ? [one] : []), ...Object.values(one).flatMap((item) => collected(item, test))];
}
