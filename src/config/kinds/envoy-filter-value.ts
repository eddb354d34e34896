import type { ApplyTo, EnvoyConfigObjectPatch } from '#generated/config/specs.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { violations } from '../../proto/violations.ts';
import { readWritten, type WrittenMessage } from '../../proto/written.ts';
import type { Finding, Path, Place } from '../finding.ts';
import { luaProblem, scriptsIn } from './lua.ts';

/** What each kind of patch is a message of. */
export const PATCHED_MESSAGES: Readonly<Record<Exclude<ApplyTo, 'INVALID'>, string>> = {
  LISTENER: 'envoy.config.listener.v3.Listener',
  LISTENER_FILTER: 'envoy.config.listener.v3.ListenerFilter',
  FILTER_CHAIN: 'envoy.config.listener.v3.FilterChain',
  NETWORK_FILTER: 'envoy.config.listener.v3.Filter',
  HTTP_FILTER: 'envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter',
  ROUTE_CONFIGURATION: 'envoy.config.route.v3.RouteConfiguration',
  VIRTUAL_HOST: 'envoy.config.route.v3.VirtualHost',
  HTTP_ROUTE: 'envoy.config.route.v3.Route',
  CLUSTER: 'envoy.config.cluster.v3.Cluster',
  EXTENSION_CONFIG: 'envoy.config.core.v3.TypedExtensionConfig',
  BOOTSTRAP: 'envoy.config.bootstrap.v3.Bootstrap',
};

const NOTHING: WrittenMessage = { problems: [], packed: [], structs: [] };

/** The value of a patch as a message; without one where the patch has none, or it does not fit. */
export function patchValue({ applyTo = 'INVALID', patch }: EnvoyConfigObjectPatch): WrittenMessage {
  if (patch?.value === undefined || applyTo === 'INVALID') return NOTHING;
  return readWritten(PATCHED_MESSAGES[applyTo], patch.value);
}

/** Operations whose value is a whole object. */
const WHOLE: ReadonlySet<string> = new Set(['ADD', 'REPLACE', 'INSERT_FIRST', 'INSERT_BEFORE', 'INSERT_AFTER']);

/** Messages of an Envoy that went before v3: none has been read for years. */
const BEFORE_V3 = /\.v2(?:alpha\d?|\.|$)|^envoy\.config\.filter\./;

/**
 * What is wrong with the value of a patch. A patch whose value is no such message is left out, and no other with it.
 *
 * @see istio/istio pkg/config/xds/xds.go `BuildXDSObjectFromStruct`
 */
export function* valueFindings(at: Place, patch: EnvoyConfigObjectPatch): Generator<Finding> {
  const { message: object, problems } = patchValue(patch);
  for (const { kind, path, message, nearest } of problems) {
    const place = at.at('patch', 'value', ...path);
    if (kind === 'unknown-field') yield place.warning(message, 'VM0001');
    else if (kind === 'unknown-type' && nearest === undefined && !BEFORE_V3.test(message)) {
      yield place.warning(`${message}: it goes as it is written, to proxies that say that they know it`);
    } else {
      const old = kind === 'unknown-type' && BEFORE_V3.test(message) ? ' (its version 2; write the one of v3)' : '';
      yield { ...place.error(`${message}${old}; this patch is left out`, 'VM0003'), inPart: true };
    }
  }
  const { applyTo = 'INVALID' } = patch;
  if (object === undefined || applyTo === 'INVALID') return;
  for (const { path, code } of scriptsIn(object)) {
    const fault = luaProblem(code);
    if (fault === undefined) continue;
    const place = at.at('patch', 'value', ...asWritten(patch.patch?.value, path));
    yield place.warning(`${fault}: Envoy refuses what the script is in`);
  }
  if (!WHOLE.has(patch.patch?.operation ?? '')) return;
  for (const { path, message } of violations(PATCHED_MESSAGES[applyTo], object)) {
    const place = at.at('patch', 'value', ...asWritten(patch.patch?.value, path));
    yield place.warning(`${message}: Envoy refuses it otherwise`);
  }
}

/** A path in names of proto JSON in the spelling of whoever wrote the value. */
function asWritten(value: unknown, path: Path): Path {
  let inner = value;
  return path.map((step) => {
    const key = typeof step === 'string' && isJsonObject(inner) ? keyOf(inner, step) : step;
    inner = (inner as Readonly<Record<string | number, unknown>> | undefined)?.[key];
    return key;
  });
}

/** A key that is not there has the spelling of those that are. */
function keyOf(object: JsonObject, jsonName: string): string {
  const camelCase = (key: string) => key.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());
  const keys = Object.keys(object);
  const known = keys.find((key) => camelCase(key) === jsonName);
  if (known !== undefined || keys.some((key) => /[A-Z]/.test(key))) return known ?? jsonName;
  return jsonName.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
