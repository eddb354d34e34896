import { RULES } from '#generated/proto/rules.ts';

/** A rule of a field by its name in protoc-gen-validate: `string.min_len`, `repeated.items.uint32.lte`. */
export type FieldRules = Readonly<Record<string, unknown>>;

/** What a message must be beyond its types. */
export interface MessageRules {
  /** By name of the field in the proto. */
  readonly fields: Readonly<Record<string, FieldRules>>;
  /** Names of fields of which one must be set. */
  readonly oneofs: readonly (readonly string[])[];
}

type Table = Readonly<Record<string, readonly [MessageRules['fields'], MessageRules['oneofs']]>>;

/** Undefined for a message that may be anything. The first call reads the rules of all messages. */
export function rulesOf(fullName: string): MessageRules | undefined {
  table ??= JSON.parse(RULES) as Table;
  const found = table[fullName];
  return found && { fields: found[0], oneofs: found[1] };
}

// A cache of a constant; it is made late because most processes never need it.
let table: Table | undefined;
