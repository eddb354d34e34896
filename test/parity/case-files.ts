import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import type { JsonObject } from '../../src/base/json.ts';

/** A client as a case describes it. @see ../../../shared/conformance/README.md */
export interface CaseProxy {
  readonly name: string;
  readonly type: string;
  readonly id: string;
  readonly ips: readonly string[];
  readonly namespace: string;
  readonly dnsDomain: string;
  readonly metadata: JsonObject;
  readonly locality?: { readonly region?: string; readonly zone?: string; readonly subZone?: string };
  /** Listeners that a gRPC client without a proxy asks for. */
  readonly grpcListeners?: readonly string[];
}

/** What a case is about and who asks; its configuration stands in `directory`. */
export interface CorpusCase {
  readonly directory: string;
  readonly name: string;
  readonly area: string;
  /** Variables that the control plane had. */
  readonly env: Readonly<Record<string, string>>;
  readonly proxies: readonly CaseProxy[];
  /** Which of several addresses is among the domains of a virtual host was arbitrary when the answers were taken. */
  readonly arbitraryAddressDomains: boolean;
}

/** A document that was refused when the answers were taken. */
export interface RejectedDocument {
  /** Relative to `etc/istio/conf`. */
  readonly file: string;
  /** Empty when it could not be read that far. */
  readonly kind: string;
  readonly name: string;
  readonly stage: 'yaml' | 'decode' | 'validate' | 'k8s-decode' | 'nokind';
}

/** Resource types by the name of their files. */
export const TYPES = {
  cds: 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
  eds: 'type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment',
  lds: 'type.googleapis.com/envoy.config.listener.v3.Listener',
  rds: 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration',
  ecds: 'type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig',
  nds: 'type.googleapis.com/istio.networking.nds.v1.NameTable',
  sds: 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret',
} as const;

export type ShortType = keyof typeof TYPES;
export const SHORT_TYPES: readonly ShortType[] = ['cds', 'eds', 'lds', 'rds', 'ecds', 'nds', 'sds'];

/** Resources by name. */
export type Resources = ReadonlyMap<string, JsonObject>;

/** The directories of cases under `directory`, or itself when it is one; in order. */
export function caseDirectories(directory: string): readonly string[] {
  if (existsSync(join(directory, 'case.yaml'))) return [directory];
  return readdirSync(directory)
    .sort()
    .map((name) => join(directory, name))
    .filter((path) => existsSync(join(path, 'case.yaml')));
}

export function readCase(directory: string): CorpusCase {
  const about = parse(readFileSync(join(directory, 'case.yaml'), 'utf8'));
  const volatile: readonly { readonly path: string }[] = about.volatile ?? [];
  return {
    directory,
    name: basename(directory),
    area: about.area,
    env: about.env ?? {},
    proxies: parse(readFileSync(join(directory, 'proxies.yaml'), 'utf8')).proxies,
    arbitraryAddressDomains: volatile.some(({ path }) => path.endsWith('domains') || path.endsWith('domains[]')),
  };
}

/** Whether the proxy is an Envoy beside a workload. */
export function isSidecar({ type, metadata }: CaseProxy): boolean {
  return type === 'sidecar' && metadata['GENERATOR'] !== 'grpc';
}

/** Whether the proxy is an Envoy that others call from outside. */
export function isRouter({ type }: CaseProxy): boolean {
  return type === 'router';
}

export function expectedResources({ directory }: CorpusCase, proxy: CaseProxy, type: ShortType): Resources {
  const list = readJson<readonly JsonObject[]>(join(directory, 'expected', proxy.name, `${type}.json`)) ?? [];
  return new Map(list.map((resource) => [nameOf(resource), resource]));
}

export function rejectedDocuments({ directory }: CorpusCase): readonly RejectedDocument[] {
  return readJson<readonly RejectedDocument[]>(join(directory, 'expected/rejected.json')) ?? [];
}

/** A name table has no name: its type stands for it. */
export function nameOf(resource: JsonObject): string {
  return String(resource['name'] ?? resource['clusterName'] ?? resource['@type'] ?? '');
}

function readJson<T>(file: string): T | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as T) : undefined;
}
