import { parseDuration } from '../../src/base/duration.ts';
import { canonicalJson } from '../../src/base/intern.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/base/json.ts';
import { compareStrings } from '../../src/base/order.ts';

/** By what the items of a list are sorted whose order has no meaning. */
const UNORDERED: Readonly<Record<string, (item: JsonValue) => JsonValue | undefined>> = {
  domains: itself,
  serverNames: itself,
  prefixRanges: itself,
  ips: itself,
  dynamicMetadata: itself,
  queryParameters: (item) => field(item, 'name'),
  lbEndpoints: (item) => field(field(item, 'endpoint'), 'address'),
};
const DURATION = /^-?\d+(\.\d+)?s$/;
const ADDRESS_DOMAIN = /^(\d+\.\d+\.\d+\.\d+(\/\d+)?|\[[0-9a-fA-F:]+\])(:\d+)?$/;
const RESOURCE_VERSION = 'ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION';

export interface Normalization {
  /** Leaves addresses out of the domains of virtual hosts. */
  readonly withoutAddressDomains?: boolean;
}

/**
 * A resource in the form in which two are compared: the order of sets, the digits of durations and resource versions have no
 * meaning. @see ../../../shared/conformance/README.md "Comparing"
 */
export function normalized(value: JsonValue | undefined, options: Normalization = {}, key = ''): JsonValue {
  if (typeof value === 'string') return DURATION.test(value) ? `${parseDuration(value)}ms` : value;
  if (Array.isArray(value)) {
    const items = (value as readonly JsonValue[])
      .filter((item) => !(key === 'domains' && options.withoutAddressDomains && ADDRESS_DOMAIN.test(String(item))))
      .map((item) => normalized(item, options, key));
    const by = UNORDERED[key];
    return by === undefined ? items : sorted(items, by);
  }
  if (!isJsonObject(value)) return value ?? null;
  const out: Record<string, JsonValue> = {};
  for (const [name, item] of Object.entries(value)) {
    out[name] = name === RESOURCE_VERSION ? '*' : normalized(item, options, name);
  }
  return out;
}

function itself(item: JsonValue): JsonValue {
  return item;
}

function field(value: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(value) ? value[name] : undefined;
}

function sorted(items: readonly JsonValue[], by: (item: JsonValue) => JsonValue | undefined): readonly JsonValue[] {
  const keyed = items.map((item) => ({ item, key: canonicalJson(by(item)) }));
  return keyed.sort((a, b) => compareStrings(a.key, b.key)).map(({ item }) => item);
}

export interface Difference {
  /** `.filterChains[0].name` */
  readonly path: string;
  readonly expected: JsonValue | undefined;
  readonly got: JsonValue | undefined;
}

/** Where two normalised values differ, by path. Null is as good as nothing. */
export function differences(
  expected: JsonValue | undefined,
  got: JsonValue | undefined,
  path = '',
): readonly Difference[] {
  if (Array.isArray(expected) && Array.isArray(got)) {
    const length = Math.max(expected.length, got.length);
    return Array.from({ length }, (_, i) => differences(expected[i], got[i], `${path}[${i}]`)).flat();
  }
  if (isJsonObject(expected) && isJsonObject(got)) {
    const names = [...new Set([...Object.keys(expected), ...Object.keys(got)])].sort(compareStrings);
    return names.flatMap((name) => differences(expected[name], got[name], `${path}.${name}`));
  }
  return (expected ?? null) === (got ?? null) ? [] : [{ path, expected, got }];
}

const FILTER_LISTS: ReadonlySet<string> = new Set(['filters', 'httpFilters']);

/** What is left for an upstream Envoy: without the filters that only Istio's build has. */
export function withoutIstioFilters(value: JsonObject): JsonObject {
  const out: Record<string, JsonValue | undefined> = {};
  for (const [name, item] of Object.entries(value)) {
    const kept = withoutIstio(item);
    if (!(FILTER_LISTS.has(name) && Array.isArray(kept) && kept.length === 0)) out[name] = kept;
  }
  return out;
}

function withoutIstio(value: JsonValue | undefined): JsonValue | undefined {
  if (Array.isArray(value)) {
    return (value as readonly JsonValue[])
      .filter((item) => !isIstioFilter(item))
      .map((item) => withoutIstio(item) as JsonValue);
  }
  return isJsonObject(value) ? withoutIstioFilters(value) : value;
}

const ISTIO_NAME = /^(istio\.|waypoint_peer_metadata$|istio_authn$)/;
const ISTIO_TYPE = /\/io\.istio\.|\/istio\.envoy\.|metadataexchange|\/stats\.PluginConfig/;

function isIstioFilter(value: JsonValue): boolean {
  if (ISTIO_NAME.test(String(field(value, 'name') ?? ''))) return true;
  const config = field(value, 'typedConfig');
  return ['@type', 'typeUrl'].some((key) => ISTIO_TYPE.test(String(field(config, key) ?? '')));
}
