import type { FieldModel, MessageModel, Model } from './model.ts';

/** What is read of each message on the way of a stream. All other fields are skipped. */
const READ: Readonly<Record<string, readonly string[]>> = {
  'envoy.service.discovery.v3.DiscoveryRequest': [
    'version_info',
    'node',
    'resource_names',
    'type_url',
    'response_nonce',
    'error_detail',
  ],
  'envoy.service.discovery.v3.DeltaDiscoveryRequest': [
    'node',
    'type_url',
    'resource_names_subscribe',
    'resource_names_unsubscribe',
    'initial_resource_versions',
    'response_nonce',
    'error_detail',
  ],
  'envoy.service.discovery.v3.DiscoveryResponse': ['version_info', 'resources', 'type_url', 'nonce', 'control_plane'],
  'envoy.service.discovery.v3.DeltaDiscoveryResponse': [
    'system_version_info',
    'resources',
    'type_url',
    'removed_resources',
    'nonce',
    'control_plane',
  ],
  'envoy.service.discovery.v3.Resource': ['name', 'version', 'aliases', 'resource'],
  'envoy.config.core.v3.ControlPlane': ['identifier'],
  'envoy.config.core.v3.Node': [
    'id',
    'cluster',
    'metadata',
    'locality',
    'user_agent_name',
    'user_agent_version',
    'user_agent_build_version',
    'extensions',
    'client_features',
  ],
  'envoy.config.core.v3.Locality': ['region', 'zone', 'sub_zone'],
  'envoy.config.core.v3.BuildVersion': ['version', 'metadata'],
  'envoy.config.core.v3.Extension': ['name', 'category', 'disabled', 'type_urls'],
  'envoy.type.v3.SemanticVersion': ['major_number', 'minor_number', 'patch'],
  'google.rpc.Status': ['code', 'message', 'details'],
  'google.protobuf.Any': ['type_url', 'value'],
};

const STRUCT = 'google.protobuf.Struct';

const HEADER = `// Generated from the protos by build/proto. A field that comes twice has its last value.
import type { JsonObject } from '../../src/base/json.ts';
import { readStruct } from '../../src/proto/read-struct.ts';
import type { Reader } from '../../src/proto/reader.ts';
`;

const SCALARS = {
  string: { type: 'string', initial: "''", wireType: 2 },
  bytes: { type: 'Uint8Array', initial: 'new Uint8Array()', wireType: 2 },
  bool: { type: 'boolean', initial: 'false', wireType: 0 },
  int32: { type: 'number', initial: '0', wireType: 0 },
  uint32: { type: 'number', initial: '0', wireType: 0 },
} as const;

/** A reading function and a type per message of `READ`. */
export function discoveryModule({ messages }: Model): string {
  const parts = messages.filter(({ name }) => name in READ).map((message) => messageText(message));
  if (parts.length !== Object.keys(READ).length) throw new Error('a message of the discovery service is missing');
  return [HEADER, ...parts].join('\n');
}

const localName = (name: string): string => name.slice(name.lastIndexOf('.') + 1);

function messageText(message: MessageModel): string {
  const fields = (READ[message.name] ?? []).map((name) => {
    const field = message.fields.find((candidate) => candidate.name === name);
    if (field === undefined) throw new Error(`${message.name} has no field ${name}`);
    return field;
  });
  const local = localName(message.name);
  const types = fields.map((field) => `  readonly ${field.jsonName}: ${typeText(field)};\n`);
  const variables = fields.map((field) => `  ${variableText(field)}\n`);
  const cases = fields.map(
    (field) => `      case ${(field.number << 3) | wireType(field)}:\n        ${readText(field)}\n        break;\n`,
  );
  return `export interface ${local} {
${types.join('')}}

/** Reads to the end of the current message. */
export function read${local}(r: Reader): ${local} {
${variables.join('')}  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
${cases.join('')}      default:
        r.skip(tag);
    }
  }
  return { ${fields.map(({ jsonName }) => jsonName).join(', ')} };
}
`;
}

function scalar({ type }: FieldModel): (typeof SCALARS)[keyof typeof SCALARS] | undefined {
  if (typeof type !== 'string') return undefined;
  if (!(type in SCALARS)) throw new Error(`no reader for ${type}`);
  return SCALARS[type as keyof typeof SCALARS];
}

const wireType = (field: FieldModel): number => (field.shape === 'map' ? 2 : (scalar(field)?.wireType ?? 2));

function itemType(field: FieldModel): string {
  const plain = scalar(field);
  if (plain !== undefined) return plain.type;
  const { name } = field.type as MessageModel;
  return name === STRUCT ? 'JsonObject' : localName(name);
}

function typeText(field: FieldModel): string {
  if (field.shape === 'map') return `ReadonlyMap<string, ${itemType(field)}>`;
  if (field.shape === 'repeated') return `readonly ${itemType(field)}[]`;
  return scalar(field) === undefined ? `${itemType(field)} | undefined` : itemType(field);
}

function variableText(field: FieldModel): string {
  if (field.shape === 'map') return `const ${field.jsonName} = new Map<string, ${itemType(field)}>();`;
  if (field.shape === 'repeated') return `const ${field.jsonName}: ${itemType(field)}[] = [];`;
  return `let ${field.jsonName}: ${typeText(field)}${scalar(field) === undefined ? '' : ` = ${scalar(field)?.initial}`};`;
}

function readText(field: FieldModel): string {
  const { jsonName, shape, type } = field;
  if (shape === 'map') return `r.entry(${jsonName});`;
  const read =
    typeof type === 'string'
      ? `r.${type}()`
      : `r.nested(${type.name === STRUCT ? 'readStruct' : `read${localName(type.name)}`})`;
  return shape === 'repeated' ? `${jsonName}.push(${read});` : `${jsonName} = ${read};`;
}
