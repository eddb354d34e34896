import { isJsonObject, type JsonObject, type JsonValue } from '../base/json.ts';
import { decodeMessage } from '../proto/decode.ts';
import { encodeMessage, packed } from '../proto/message.ts';
import { messageName, type TypeUrl } from '../proto/type-urls.ts';
import type { Config } from './config.ts';
import type { KindDefinition } from './kind.ts';
import { KINDS } from './kinds/kinds.ts';
import { inProtoJson } from './proto-json.ts';

/**
 * A kind as control planes hand its objects to each other: MCP over xDS.
 * @see istio/istio pkg/adsc/adsc.go `mcpToPilot`, pilot/pkg/xds/apigen.go
 */
export interface McpKind {
  /** What is asked for: `networking.istio.io/v1/ServiceEntry`. */
  readonly typeUrl: string;
  readonly kind: KindDefinition;
  /** Full name of the message that holds a spec. */
  readonly message: string;
}

const PACKAGES: Readonly<Record<string, string>> = {
  'networking.istio.io': 'istio.networking.v1alpha3',
  'security.istio.io': 'istio.security.v1beta1',
  'telemetry.istio.io': 'istio.telemetry.v1alpha1',
  'extensions.istio.io': 'istio.extensions.v1alpha1',
};

/** Kinds whose message is in another package than the others of their group, or has none. */
const MESSAGES: Readonly<Record<string, string>> = { ProxyConfig: 'istio.networking.v1beta1.ProxyConfig' };
const WITHOUT_MESSAGE: ReadonlySet<string> = new Set(['TrafficExtension']);

export const MCP_KINDS: readonly McpKind[] = KINDS.flatMap((kind) => {
  const inPackage = PACKAGES[kind.group];
  if (inPackage === undefined || WITHOUT_MESSAGE.has(kind.kind)) return [];
  const message = MESSAGES[kind.kind] ?? `${inPackage}.${kind.kind}`;
  return [{ typeUrl: mcpTypeUrl(kind, kind.versions[0] ?? ''), kind, message }];
});

export function mcpTypeUrl({ group, kind }: KindDefinition, version: string): string {
  return `${group}/${version}/${kind}`;
}

const RESOURCE = 'istio.mcp.v1alpha1.Resource';
/** Of the messages that responses hold. */
export const RESOURCE_TYPE: TypeUrl = `type.googleapis.com/${RESOURCE}`;

/** An object as YAML would have it, and what it is called. */
export interface McpObject {
  readonly namespace: string;
  readonly name: string;
  readonly object: JsonObject;
}

/**
 * The object that a resource holds.
 * @throws DecodeError, UnknownMessageError when the bytes are no resource
 */
export function objectOfResource({ kind }: McpKind, bytes: Uint8Array): McpObject {
  const { metadata, body } = decodeMessage(RESOURCE, bytes);
  const meta: JsonObject = isJsonObject(metadata) ? metadata : {};
  const { '@type': _type, ...spec } = isJsonObject(body) ? body : {};
  const full = text(meta['name']);
  const slash = full.indexOf('/');
  const [namespace, name] = slash < 0 ? ['', full] : [full.slice(0, slash), full.slice(slash + 1)];
  const object = {
    apiVersion: `${kind.group}/${kind.versions[0]}`,
    kind: kind.kind,
    metadata: {
      name,
      ...(namespace && { namespace }),
      ...(meta['labels'] === undefined ? {} : { labels: meta['labels'] }),
      ...(meta['annotations'] === undefined ? {} : { annotations: meta['annotations'] }),
      ...(meta['createTime'] === undefined ? {} : { creationTimestamp: meta['createTime'] }),
    },
    spec,
  };
  return { namespace, name, object };
}

function text(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** @throws EncodeError when the object says something that the message has no field for */
export function resourceOfConfig({ message, kind }: McpKind, config: Config): Uint8Array {
  const { namespace, name, labels, annotations, creationTime, hash, spec } = config;
  return encodeMessage(RESOURCE, {
    metadata: {
      name: namespace === '' ? name : `${namespace}/${name}`,
      version: hash,
      labels,
      annotations,
      ...(creationTime > 0 && { createTime: new Date(creationTime).toISOString() }),
    },
    body: packed(message, inProtoJson(kind.schema, spec)),
  });
}

/** The kind that a type of MCP is about. */
export function mcpKindOf(typeUrl: string): McpKind | undefined {
  return MCP_KINDS.find((kind) => kind.typeUrl === messageName(typeUrl) || kind.typeUrl === typeUrl);
}
