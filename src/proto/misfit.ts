import { ENCODERS } from '#generated/proto/encoder.ts';
import { type EnumDescriptor, type FieldDescriptor, type MessageDescriptor, messageDescriptor } from './descriptors.ts';
import { messageName } from './type-urls.ts';
import { EncodedMessage, Writer } from './writer.ts';

/**
 * Where and why an object cannot be encoded as a message, in words: `Cluster.circuitBreakers.thresholds[0]: …`. The encoder
 * itself does not keep track of where it is; this looks again, with the descriptors.
 *
 * @returns undefined when nothing is found
 */
export function misfit(fullName: string, message: unknown): string | undefined {
  const type = messageDescriptor(fullName);
  return type === undefined ? undefined : inMessage(type, message, fullName, new Set());
}

function inMessage(
  type: MessageDescriptor,
  value: unknown,
  path: string,
  ignored: ReadonlySet<string>,
): string | undefined {
  const url = (value as { readonly '@type'?: unknown } | null | undefined)?.['@type'];
  if (type.name === 'google.protobuf.Any' && typeof url === 'string') {
    const packed = messageDescriptor(messageName(url));
    if (packed !== undefined && ENCODERS.get(packed.name)?.wellKnown === false) {
      return inMessage(packed, value, path, new Set(['@type']));
    }
  }
  if (ENCODERS.get(type.name)?.wellKnown === true)
    return attempt(path, (w) => ENCODERS.get(type.name)?.write(w, value, 0));
  if (value instanceof EncodedMessage) return undefined;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return `${path}: ${JSON.stringify(value)} is no ${type.name}`;
  }
  const seen = new Map<number, string>();
  for (const [key, item] of Object.entries(value)) {
    if (item === undefined || item === null || ignored.has(key)) continue;
    const field = type.byJsonName.get(key);
    if (field === undefined) return `${path}: ${type.name} has no field "${key}"`;
    const other = field.oneof === undefined ? undefined : seen.get(field.oneof);
    if (other !== undefined) return `${path}: "${other}" and "${key}" exclude each other`;
    if (field.oneof !== undefined) seen.set(field.oneof, key);
    const found = inField(field, item, `${path}.${key}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

function inField({ shape, type, key }: FieldDescriptor, value: unknown, path: string): string | undefined {
  if (shape === 'single') return inValue(type, value, path);
  const isList = Array.isArray(value);
  if (typeof value !== 'object' || value === null || isList !== (shape === 'list')) {
    return `${path}: ${JSON.stringify(value)} is no ${shape}`;
  }
  for (const [name, item] of Object.entries(value)) {
    const place = isList ? `${path}[${name}]` : `${path}["${name}"]`;
    const found =
      (key === undefined || key === 'bool' ? undefined : attempt(place, (w) => w[key](name))) ??
      inValue(type, item, place);
    if (found !== undefined) return found;
  }
  return undefined;
}

function inValue(type: FieldDescriptor['type'], value: unknown, path: string): string | undefined {
  if (typeof type === 'string') return attempt(path, (writer) => writer[type](value));
  if (type.kind === 'message') return inMessage(type, value, path, new Set());
  return attempt(path, (writer) => writer.enum(value, numbers(type)));
}

const numbers = ({ numbers: entries }: EnumDescriptor): Readonly<Record<string, number>> => Object.fromEntries(entries);

function attempt(path: string, write: (writer: Writer) => void): string | undefined {
  try {
    write(new Writer(ENCODERS));
    return undefined;
  } catch (error) {
    return `${path}: ${error instanceof Error ? error.message : String(error)}`;
  }
}
