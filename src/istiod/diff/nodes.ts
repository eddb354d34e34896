import { readFileSync } from 'node:fs';
import { isJsonObject, type JsonObject, type JsonValue } from '../../base/json.ts';
import { readYaml } from '../../config/yaml.ts';
import type { NodeDescription } from '../../model/node.ts';
import { EXIT, StartError } from '../../process/failure.ts';
import { systemReason } from '../../sources/source.ts';

/**
 * The nodes in a file of YAML or JSON: what `/debug/adsz` answers, an Envoy's bootstrap, a node, or a list of any of these.
 *
 * @throws StartError when it can not be read, or holds no node
 */
export function nodesInFile(file: string): readonly NodeDescription[] {
  const nodes = nodesIn(valueOf(file));
  if (nodes.length === 0) {
    const advice = "write what /debug/adsz answers, or a list of nodes as in Envoy's id, metadata, locality";
    throw new StartError(EXIT.noInput, `${file} holds no node: ${advice}`);
  }
  return nodes;
}

/** JSON is as large as a mesh has proxies; YAML is written by hand, within the limits of configuration. */
function valueOf(file: string): JsonValue {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new StartError(EXIT.noInput, `${file} can not be read: ${systemReason(error) ?? error}`, { cause: error });
  }
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    const { value, problems } = readYaml(text);
    const [wrong] = problems.filter(({ severity }) => severity === 'error');
    if (wrong !== undefined) throw new StartError(EXIT.noInput, `${file} can not be read: ${wrong.message}`);
    return value as JsonValue;
  }
}

/** Those of a value in one of the forms; of one that is there twice, the last. */
export function nodesIn(value: JsonValue): readonly NodeDescription[] {
  return [...new Map(descriptions(value).map((node) => [node.id, node])).values()];
}

function descriptions(value: JsonValue | undefined): readonly NodeDescription[] {
  if (Array.isArray(value)) return value.flatMap(descriptions);
  if (!isJsonObject(value)) return [];
  const { clients, node, id, nodeId = id, cluster, metadata, locality, extensions } = value;
  if (clients !== undefined) return descriptions(clients);
  if (node !== undefined) return descriptions(node);
  if (typeof nodeId !== 'string') return [];
  return [
    {
      id: nodeId,
      metadata: isJsonObject(metadata) ? metadata : {},
      ...(isJsonObject(locality) ? { locality: localityOf(locality) } : {}),
      ...(typeof cluster === 'string' ? { cluster } : {}),
      extensions: Array.isArray(extensions) ? extensions.flatMap(nameOf) : [],
    },
  ];
}

function localityOf({
  region,
  zone,
  subZone,
  sub_zone = subZone,
}: JsonObject): NonNullable<NodeDescription['locality']> {
  const text = (part: JsonValue | undefined): string => (typeof part === 'string' ? part : '');
  return { region: text(region), zone: text(zone), subZone: text(sub_zone) };
}

function nameOf(extension: JsonValue): readonly string[] {
  const name = isJsonObject(extension) ? extension['name'] : extension;
  return typeof name === 'string' ? [name] : [];
}
