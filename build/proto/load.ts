import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';

const DEPENDENCIES = 'node_modules/@grpc/grpc-js-xds/deps';

/** Looked through in this order for an imported file. */
const INCLUDE: readonly string[] = [
  'proto',
  `${DEPENDENCIES}/envoy-api`,
  `${DEPENDENCIES}/xds`,
  `${DEPENDENCIES}/googleapis`,
  `${DEPENDENCIES}/protoc-gen-validate`,
  'node_modules/protobufjs',
];

/** What is generated from; imports of these come along. Envoy's files of API v2 have no `v3` or `v3alpha` in their path. */
const ROOTS: readonly (readonly [folder: string, pattern: string])[] = [
  ['proto', '{io,istio,opencensus,opentelemetry}/**/*.proto'],
  [`${DEPENDENCIES}/envoy-api`, 'envoy/**/{v3,v3alpha}/*.proto'],
  [`${DEPENDENCIES}/xds`, '{xds,udpa}/**/*.proto'],
  [`${DEPENDENCIES}/googleapis`, 'google/rpc/{code,error_details,status}.proto'],
];

/** Fields and messages of a newer Envoy than the package's, a file a package; what is there already is added to. */
const NEWER = 'proto/newer/*.proto';

/**
 * Every message definition that the project knows, resolved.
 *
 * @param project the project's directory
 * @throws when a file is missing or refused by the parser
 */
export function loadProtos(project: string): protobuf.Root {
  const root = new protobuf.Root();
  root.resolvePath = (_origin, target) => {
    const folder = INCLUDE.find((include) => existsSync(join(project, include, target)));
    // The common types that protobufjs brings inside itself (any, duration, struct, …) are on no path.
    return folder === undefined ? target : join(project, folder, target);
  };
  const files = ROOTS.flatMap(([folder, pattern]) => globSync(pattern, { cwd: join(project, folder) }).sort());
  root.loadSync(files, { keepCase: true });
  let all = root.toJSON() as Json;
  for (const file of globSync(NEWER, { cwd: project }).sort()) {
    const newer = new protobuf.Root();
    protobuf.parse(readFileSync(join(project, file), 'utf8'), newer, { keepCase: true });
    all = merged(all, newer.toJSON() as Json);
  }
  // Merged as data: resolved definitions cannot be changed any more.
  const complete = new protobuf.Root();
  protobuf.Root.fromJSON(all as protobuf.INamespace, complete);
  complete.resolveAll();
  return complete;
}

type Json = Readonly<Record<string, unknown>>;

/** Both, key by key; lists (the fields of a oneof) one after the other. */
function merged(a: Json, b: Json): Json {
  const result: Record<string, unknown> = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const known = result[key];
    if (Array.isArray(known) && Array.isArray(value)) result[key] = [...known, ...value];
    else if (isRecord(known) && isRecord(value)) result[key] = merged(known, value);
    else result[key] = value;
  }
  return result;
}

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
