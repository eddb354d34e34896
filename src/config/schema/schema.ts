/**
 * The language in which the configuration kinds are described, once for all uses: reading and checking at run time, the
 * TypeScript types and the editors' JSON Schemas that the build makes, and the documentation. A description is plain data.
 *
 * Field names are those of proto JSON (lowerCamelCase). Istio's messages are described as proto3 has them: no field is
 * ever null, an empty list or map is the same as none, and enums are names.
 */

interface Refinement {
  /** Bounds of a number, both inclusive; of a duration in milliseconds. */
  readonly min?: number;
  readonly max?: number;
  /** Bounds of a text's length in characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** What a text must match: source of a JavaScript expression that means the same in RE2 and JSON Schema. */
  readonly pattern?: string;
}

export interface Scalar extends Refinement {
  readonly kind:
    | 'string'
    | 'bool'
    | 'int32'
    | 'uint32'
    | 'int64'
    | 'uint64'
    | 'double'
    /** Go's notation (`1h30m`, `250ms`). */
    | 'duration'
    /** Base64 text. */
    | 'bytes'
    /** A JSON object of any content. */
    | 'struct'
    /** Kubernetes' IntOrString. */
    | 'int-or-string'
    /** Text, or a number or boolean that is read as its text. */
    | 'scalar-text';
}

export interface Enum {
  readonly kind: 'enum';
  readonly name: string;
  readonly doc: string;
  /** Names with their numbers, in order of numbers. */
  readonly values: Readonly<Record<string, number>>;
}

export interface Message {
  readonly kind: 'message';
  /** Also the name of the TypeScript interface; unique among all schemas. */
  readonly name: string;
  /** The file that is one, as users call it. */
  readonly file?: string;
  readonly doc: string;
  readonly fields: Readonly<Record<string, Field>>;
  /** Groups of fields of which at most one may be set. */
  readonly oneofs: Readonly<Record<string, readonly string[]>>;
  /**
   * `proto`: snake_case names are read too, an unknown field is a finding. `crd`: an unknown field is a finding, defaults are
   * filled in. `kubernetes`: only what is read is described.
   */
  readonly style: 'proto' | 'crd' | 'kubernetes';
}

export type Type = Scalar | Enum | Message;

export interface FieldOptions {
  /** Absent, the object is refused. */
  readonly required?: boolean;
  /** What to write instead. */
  readonly deprecated?: string;
  /** The code by which Istio speaks of it, where that is not the one of deprecated fields. */
  readonly deprecatedCode?: 'IST0133';
  /** Why it has no effect here: to set it is a warning. */
  readonly ignored?: string;
  /** Why it has no effect here, where what reads the object says so. */
  readonly unserved?: string;
  /** Why the object is refused in which it is set. */
  readonly refused?: string;
  /** The name of the group of which only one field may be set. */
  readonly oneof?: string;
  /** Out of bounds below this field is a warning: Istio takes any value here. */
  readonly lenient?: boolean;
  /** Bounds of the number of elements or entries. */
  readonly minItems?: number;
  readonly maxItems?: number;
  /** Values are keys or passwords: no finding shows them. */
  readonly secret?: boolean;
  /** What a reader gets when the field is absent: said to the user, and filled in for Kubernetes' kinds. */
  readonly default?: string | number | boolean;
  /** Of a map: an empty one is kept, as it says something else than none. */
  readonly emptyCounts?: boolean;
  /** Of a message of style `crd`: absent, it is read as an empty one, so that its own defaults are filled in. */
  readonly filled?: boolean;
}

export interface Field extends FieldOptions {
  readonly type: Type;
  readonly shape: 'one' | 'list' | 'map';
  readonly doc: string;
  /** Of a map, when its keys are numbers (written as text in JSON). */
  readonly keys?: 'uint32';
}

export const string: Scalar = { kind: 'string' };
export const bool: Scalar = { kind: 'bool' };
export const int32: Scalar = { kind: 'int32' };
export const uint32: Scalar = { kind: 'uint32' };
export const int64: Scalar = { kind: 'int64' };
export const uint64: Scalar = { kind: 'uint64' };
export const double: Scalar = { kind: 'double' };
export const duration: Scalar = { kind: 'duration' };
export const bytes: Scalar = { kind: 'bytes' };
export const struct: Scalar = { kind: 'struct' };
export const intOrString: Scalar = { kind: 'int-or-string' };
export const scalarText: Scalar = { kind: 'scalar-text' };

/** A scalar with bounds. */
export function bounded(type: Scalar, refinement: Refinement): Scalar {
  return { ...type, ...refinement };
}

export function one(type: Type, doc: string, options: FieldOptions = {}): Field {
  return { shape: 'one', type, doc, ...options };
}

export function list(type: Type, doc: string, options: FieldOptions = {}): Field {
  return { shape: 'list', type, doc, ...options };
}

export function map(type: Type, doc: string, options: FieldOptions & Pick<Field, 'keys'> = {}): Field {
  return { shape: 'map', type, doc, ...options };
}

/** A field that is understood, but has no effect here. */
export function ignored(field: Field, why: string): Field {
  return { ...field, ignored: why };
}

/** A field whose effect can not be had, which is a finding of what reads the object. */
export function unserved(field: Field, why: string): Field {
  return { ...field, unserved: why };
}

/** A field that can not be taken, as its effect is asked for and can not be had. */
export function refused(field: Field, why: string): Field {
  return { ...field, refused: why };
}

/** Values in a row are numbered from 0. */
export function enumeration(
  name: string,
  doc: string,
  values: readonly string[] | Readonly<Record<string, number>>,
): Enum {
  const numbered = Array.isArray(values) ? Object.fromEntries(values.map((value, i) => [value, i])) : values;
  return { kind: 'enum', name, doc, values: numbered as Readonly<Record<string, number>> };
}

function oneofsOf(fields: Readonly<Record<string, Field>>): Readonly<Record<string, readonly string[]>> {
  const groups: Record<string, string[]> = {};
  for (const [name, { oneof }] of Object.entries(fields)) {
    if (oneof !== undefined) groups[oneof] = [...(groups[oneof] ?? []), name];
  }
  return groups;
}

/** A message of a proto file. */
export function message(name: string, doc: string, fields: Readonly<Record<string, Field>>): Message {
  return { kind: 'message', name, doc, fields, oneofs: oneofsOf(fields), style: 'proto' };
}

/** An object of Kubernetes' API, described as far as it is read. */
export function kubeObject(name: string, doc: string, fields: Readonly<Record<string, Field>>): Message {
  return { kind: 'message', name, doc, fields, oneofs: {}, style: 'kubernetes' };
}

/** An object of a CRD that Kubernetes' API server reads: it drops unknown fields, and fills in defaults. */
export function crdObject(name: string, doc: string, fields: Readonly<Record<string, Field>>): Message {
  return { kind: 'message', name, doc, fields, oneofs: {}, style: 'crd' };
}
