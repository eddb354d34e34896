import type { WasmConfig } from '#generated/config/specs.ts';
import type { envoy } from '#generated/proto/types.ts';
import { canonicalJson } from '../../base/intern.ts';
import { encoded, packed } from '../../proto/message.ts';

type TypedExtensionConfig = envoy.config.core.v3.TypedExtensionConfig;
type PluginConfig = envoy.extensions.wasm.v3.PluginConfig;
type AsyncDataSource = envoy.config.core.v3.AsyncDataSource;

/** Who brings a module from where it is. */
export type ModuleFetch =
  /** Istio's agent, which looks at what Envoy is sent and puts a file in the place of the URL. */
  | 'agent'
  /** Envoy, over this cluster; absent for a file. */
  | { readonly cluster?: string }
  /** Nobody can. */
  | { readonly problem: string };

export interface WasmExtensionInput {
  readonly resourceName: string;
  /** `namespace.name`. */
  readonly id: string;
  readonly wasm: WasmConfig;
  /** Changes when anything does: the agent may fetch the module again then. */
  readonly version: string;
  /** Where nobody can, the filter is one that lets all or none through. */
  readonly fetch: ModuleFetch;
}

/** An Any that holds nothing, which modules take as an empty text. */
const NOTHING = encoded('google.protobuf.Any', new Uint8Array());

const RUNTIME = 'envoy.wasm.runtime.v8';
const FETCH_TIMEOUT = '30s';
/** Stands for a cluster that is never asked. */
const AGENT = '_';

/** Without a scheme an image is meant. */
export function moduleUrl(url: string): string {
  return /^[a-zA-Z][a-zA-Z0-9+.-]*:/.test(url) ? url : `oci://${url}`;
}

/** The file that a URL names; undefined where it is none's. */
export function moduleFile(url: string): string | undefined {
  return /^file:/i.test(url) ? url.replace(/^file:(?:\/\/(?=\/))?/i, '') : undefined;
}

function code({ wasm, fetch }: WasmExtensionInput): AsyncDataSource {
  const filename = moduleFile(wasm.url);
  if (filename !== undefined) return { local: { filename } };
  const cluster = fetch !== 'agent' && 'cluster' in fetch ? fetch.cluster : AGENT;
  const sha256 = wasm.sha256 ?? '';
  return {
    remote: {
      httpUri: { uri: moduleUrl(wasm.url), cluster, timeout: FETCH_TIMEOUT },
      ...(sha256 === '' ? {} : { sha256 }),
    },
  };
}

/** What the agent is told in the module's environment, from which it takes it out again. */
function agentVariables({ wasm, version }: WasmExtensionInput): Readonly<Record<string, string>> {
  const { imagePullSecret = '', imagePullPolicy = 'UNSPECIFIED_POLICY' } = wasm;
  return {
    // Names nothing that the agent could use: secrets go over verified connections alone.
    ...(imagePullSecret === '' ? {} : { ISTIO_META_WASM_IMAGE_PULL_SECRET: '' }),
    ...(imagePullPolicy === 'UNSPECIFIED_POLICY' ? {} : { ISTIO_META_WASM_IMAGE_PULL_POLICY: imagePullPolicy }),
    ISTIO_META_WASM_PLUGIN_RESOURCE_VERSION: version,
  };
}

function environment(input: WasmExtensionInput): NonNullable<PluginConfig['vmConfig']>['environmentVariables'] {
  const env = input.wasm.vmConfig?.env ?? [];
  const hostEnvKeys = env.filter(({ valueFrom }) => valueFrom === 'HOST').map(({ name }) => name);
  const written = env.filter(({ valueFrom = 'INLINE' }) => valueFrom === 'INLINE');
  const keyValues = {
    ...(input.fetch === 'agent' ? agentVariables(input) : {}),
    ...Object.fromEntries(written.map(({ name, value = '' }) => [name, value])),
  };
  if (hostEnvKeys.length === 0 && Object.keys(keyValues).length === 0) return undefined;
  return { ...(hostEnvKeys.length > 0 ? { hostEnvKeys } : {}), keyValues };
}

const FAILURE_POLICIES = {
  FAIL_CLOSE: 'FAIL_CLOSED',
  FAIL_OPEN: 'FAIL_OPEN',
  FAIL_RELOAD: 'FAIL_RELOAD',
} as const;

function pluginConfig(input: WasmExtensionInput): PluginConfig {
  const { id, wasm } = input;
  const { pluginConfig: written = {}, pluginName = '', failStrategy = 'FAIL_CLOSE' } = wasm;
  const variables = environment(input);
  return {
    name: id,
    ...(pluginName === '' ? {} : { rootId: pluginName }),
    configuration:
      Object.keys(written).length === 0
        ? NOTHING
        : { '@type': 'type.googleapis.com/google.protobuf.StringValue', value: canonicalJson(written) },
    vmConfig: {
      runtime: RUNTIME,
      code: code(input),
      ...(variables === undefined ? {} : { environmentVariables: variables }),
    },
    failurePolicy: FAILURE_POLICIES[failStrategy],
  };
}

/** @see istio/istio pkg/wasm/convert.go `createHTTPDefaultFilter` */
function withoutModule({ resourceName: name, wasm }: WasmExtensionInput): TypedExtensionConfig {
  // Rules of which there are none let nobody through; no rules at all let everybody.
  const rules = wasm.failStrategy === 'FAIL_OPEN' ? {} : { rules: {} };
  const statPrefix = wasm.failStrategy === 'FAIL_OPEN' ? 'wasm-default-allow' : 'wasm-default-deny';
  if (wasm.type === 'NETWORK') {
    return { name, typedConfig: packed('envoy.extensions.filters.network.rbac.v3.RBAC', { ...rules, statPrefix }) };
  }
  const http = { ...rules, rulesStatPrefix: statPrefix };
  return { name, typedConfig: packed('envoy.extensions.filters.http.rbac.v3.RBAC', http) };
}

/**
 * The configuration of a filter that runs a module.
 * @see istio/istio pilot/pkg/model/extensions.go `buildWasmConfig`
 */
export function wasmExtensionConfig(input: WasmExtensionInput): TypedExtensionConfig {
  const { resourceName: name, wasm, fetch } = input;
  if (fetch !== 'agent' && 'problem' in fetch) return withoutModule(input);
  const config = pluginConfig(input);
  return {
    name,
    typedConfig:
      wasm.type === 'NETWORK'
        ? packed('envoy.extensions.filters.network.wasm.v3.Wasm', { config })
        : packed('envoy.extensions.filters.http.wasm.v3.Wasm', { config }),
  };
}
