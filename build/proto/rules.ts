import type protobuf from 'protobufjs';
import type { Model } from './model.ts';

const HEADER = `// Generated from the protos by build/proto. Parsed by src/proto/rules.ts when it is first needed.
`;

const RULES = '(validate.rules).';
const REQUIRED = '(validate.required)';

/** Rules that Envoy has dropped since the version whose protos npm brings. */
const DROPPED: ReadonlySet<string> = new Set([
  'envoy.config.trace.v3.ZipkinConfig.collector_cluster',
  'envoy.config.trace.v3.ZipkinConfig.collector_endpoint',
  'envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig.resolvers',
]);

/**
 * What Envoy refuses messages for, as their protos say (protoc-gen-validate), as one JSON text: of each message with any, rules by
 * name of the field (`string.min_len`), and the fields of which one must be set.
 */
export function rulesModule(root: protobuf.Root, { messages }: Model): string {
  const table: Record<string, readonly [fields: object, oneofs: readonly (readonly string[])[]]> = {};
  for (const { name } of messages) {
    const type = root.lookupType(name);
    const fields = Object.fromEntries(
      type.fieldsArray.flatMap((field) => {
        const rules = Object.entries(field.options ?? {}).flatMap(([option, value]) =>
          option.startsWith(RULES) ? [[option.slice(RULES.length), value]] : [],
        );
        return rules.length === 0 || DROPPED.has(`${name}.${field.name}`)
          ? []
          : [[field.name, Object.fromEntries(rules)]];
      }),
    );
    const oneofs = type.oneofsArray
      .filter((oneof) => oneof.options?.[REQUIRED] === true)
      .map((oneof) => oneof.fieldsArray.map((field) => field.name));
    if (Object.keys(fields).length + oneofs.length > 0) table[name] = [fields, oneofs];
  }
  return `${HEADER}export const RULES: string = ${JSON.stringify(JSON.stringify(table))};\n`;
}
