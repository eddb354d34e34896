import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { type FieldDescriptor, type MessageDescriptor, messageDescriptor } from './descriptors.ts';
import { UnknownMessageError } from './errors.ts';
import { messageName } from './type-urls.ts';

/** What becomes of a list that both messages have. */
export type ListMerging = 'append' | 'replace';

/**
 * `source` merged into `target`, as protobuf merges: a field that is set replaces, messages are merged field by field, lists
 * are appended, entries of maps replace. As in istiod a duration replaces as a whole. Neither is changed.
 *
 * Both are in proto JSON as `decodeMessage` gives it, so that a default is absent but where it differs from absence.
 *
 * @throws UnknownMessageError when the type is not known
 * @see istio/istio pkg/proto/merge/merge.go
 */
export function merged(
  fullName: string,
  target: JsonObject,
  source: JsonObject,
  lists: ListMerging = 'append',
): JsonObject {
  const type = messageDescriptor(fullName);
  if (type === undefined) throw new UnknownMessageError(fullName);
  return mergedFields(type, target, source, lists);
}

/**
 * The message in an Any merged into the one in another. One of another type takes its place.
 *
 * @see istio/istio pilot/pkg/networking/util/util.go `MergeAnyWithAny`
 */
export function mergedAny(target: JsonObject, source: JsonObject): JsonObject {
  const url = target['@type'];
  const type = typeof url === 'string' ? messageDescriptor(messageName(url)) : undefined;
  const other = source['@type'];
  if (type === undefined || typeof other !== 'string' || messageName(other) !== type.name) return source;
  const { '@type': _target, ...fields } = target;
  const { '@type': _source, ...changes } = source;
  if (WELL_KNOWN[type.name] !== undefined) return { ...target, ...source };
  return { '@type': url, ...mergedFields(type, fields, changes, 'append') };
}

function mergedFields(type: MessageDescriptor, target: JsonObject, source: JsonObject, lists: ListMerging): JsonObject {
  const out: Record<string, JsonValue | undefined> = { ...target };
  for (const [name, value] of Object.entries(source)) {
    const field = type.byJsonName.get(name);
    if (field === undefined || value === undefined) continue;
    if (field.oneof !== undefined) {
      for (const other of type.byNumber.values()) {
        if (other.oneof === field.oneof && other.jsonName !== name) delete out[other.jsonName];
      }
    }
    out[name] = mergedField(field, out[name], value, lists);
  }
  return out;
}

function mergedField(
  { shape, type }: FieldDescriptor,
  target: JsonValue | undefined,
  source: JsonValue,
  lists: ListMerging,
): JsonValue {
  if (target === undefined) return source;
  if (shape === 'list') {
    return lists === 'append' && Array.isArray(target) && Array.isArray(source) ? [...target, ...source] : source;
  }
  if (shape === 'map') return isJsonObject(target) && isJsonObject(source) ? { ...target, ...source } : source;
  if (typeof type === 'string' || type.kind === 'enum') return source;
  const special = WELL_KNOWN[type.name];
  if (special !== undefined) return special(target, source);
  return isJsonObject(target) && isJsonObject(source) ? mergedFields(type, target, source, lists) : source;
}

type MergeValue = (target: JsonValue, source: JsonValue) => JsonValue;

const replaced: MergeValue = (_target, source) => source;
/** A wrapper holds one field, and its default is no news. */
const wrapped =
  (empty: JsonValue): MergeValue =>
  (target, source) =>
    source === empty ? target : source;
const ofMaps: MergeValue = (target, source) =>
  isJsonObject(target) && isJsonObject(source) ? { ...target, ...source } : source;
const ofLists: MergeValue = (target, source) =>
  Array.isArray(target) && Array.isArray(source) ? [...target, ...source] : source;

/** Messages whose proto JSON is not an object of their fields. */
const WELL_KNOWN: Readonly<Record<string, MergeValue>> = {
  // As a field it is replaced: of its bytes nothing is known. One that holds nothing changes only the type.
  'google.protobuf.Any': (target, source) =>
    isJsonObject(target) && isJsonObject(source) && holdsNothing(source) && target['@type'] === source['@type']
      ? target
      : source,
  'google.protobuf.BoolValue': wrapped(false),
  'google.protobuf.BytesValue': wrapped(''),
  'google.protobuf.DoubleValue': wrapped(0),
  'google.protobuf.FloatValue': wrapped(0),
  'google.protobuf.Int32Value': wrapped(0),
  'google.protobuf.Int64Value': wrapped('0'),
  'google.protobuf.StringValue': wrapped(''),
  'google.protobuf.UInt32Value': wrapped(0),
  'google.protobuf.UInt64Value': wrapped('0'),
  'google.protobuf.Duration': replaced,
  'google.protobuf.Timestamp': replaced,
  'google.protobuf.FieldMask': (target, source) => [target, source].filter((paths) => paths !== '').join(),
  'google.protobuf.Struct': ofMaps,
  'google.protobuf.ListValue': ofLists,
  'google.protobuf.Value': (target, source) => (Array.isArray(source) ? ofLists : ofMaps)(target, source),
};

function holdsNothing(any: JsonObject): boolean {
  return Object.keys(any).length === 1;
}
