import { existsSync, globSync } from 'node:fs';
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
  ['proto', '**/*.proto'],
  [`${DEPENDENCIES}/envoy-api`, 'envoy/**/{v3,v3alpha}/*.proto'],
  [`${DEPENDENCIES}/xds`, '{xds,udpa}/**/*.proto'],
  [`${DEPENDENCIES}/googleapis`, 'google/rpc/{code,error_details,status}.proto'],
];

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
  root.resolveAll();
  return root;
}
