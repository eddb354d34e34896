import { RE2JS } from 're2js';
import type { ApplyTo, PatchContext, PolicyTargetReference } from '#generated/config/specs.ts';
import { cached } from '../base/cached.ts';
import type { JsonObject } from '../base/json.ts';
import type { Labels } from '../base/labels.ts';
import { compareStrings } from '../base/order.ts';
import type { ConfigKey } from '../config/config.ts';
import { isAttached } from './policy-attachment.ts';
import type { ProxyType } from './proxy.ts';

/** Which proxies a patch is for, as far as the patch itself says. */
export interface PatchHead {
  /** In the list of its EnvoyFilter. */
  readonly index: number;
  readonly applyTo: ApplyTo;
  readonly context: PatchContext;
  /** RE2 expression, found anywhere in the version. */
  readonly proxyVersion?: string;
  /** What the proxy's metadata must say. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Full names of the messages that extensions are configured with: an Envoy that lists its extensions must list them. */
  readonly extensions: readonly string[];
  /** Those of them that only a proxy can make something of: it must list them. */
  readonly unknown: readonly string[];
}

/** What decides for whom an EnvoyFilter is, and when it comes. */
export interface EnvoyFilterHead {
  readonly key: ConfigKey;
  readonly namespace: string;
  readonly name: string;
  readonly creationTime: number;
  readonly priority: number;
  readonly labels?: Labels;
  readonly targetRefs?: readonly PolicyTargetReference[];
  readonly patches: readonly PatchHead[];
}

/** A proxy as EnvoyFilters are chosen for it. */
export interface PatchedProxy {
  readonly type: ProxyType;
  readonly namespace: string;
  readonly labels: Labels;
  readonly metadata: JsonObject;
  readonly extensionTypes: readonly string[];
}

/** One patch of one EnvoyFilter: its key, `#`, and the place in its list. */
export type PatchRef = string;

/** Longest expression for a version that is looked at; a longer one matches nothing. */
const MAX_VERSION_LENGTH = 1024;

const CONTEXTS: Readonly<Record<ProxyType, ReadonlySet<PatchContext>>> = {
  sidecar: new Set(['ANY', 'SIDECAR_INBOUND', 'SIDECAR_OUTBOUND']),
  router: new Set(['ANY', 'GATEWAY']),
  waypoint: new Set(['ANY', 'SIDECAR_INBOUND', 'SIDECAR_OUTBOUND', 'WAYPOINT']),
};

export function patchRef(key: ConfigKey, index: number): PatchRef {
  return `${key}#${index}`;
}

export function refOf(ref: PatchRef): { readonly key: ConfigKey; readonly index: number } {
  const at = ref.lastIndexOf('#');
  return { key: ref.slice(0, at) as ConfigKey, index: Number(ref.slice(at + 1)) };
}

/**
 * The lowest priority first; of one priority the root namespace's, then the oldest.
 *
 * @see istio/istio pilot/pkg/model/push_context.go `EnvoyFilters`
 */
export function compareEnvoyFilters(rootNamespace: string): (a: EnvoyFilterHead, b: EnvoyFilterHead) => number {
  const isOwn = ({ namespace }: EnvoyFilterHead): number => Number(namespace !== rootNamespace);
  return (a, b) =>
    a.priority - b.priority ||
    isOwn(a) - isOwn(b) ||
    a.creationTime - b.creationTime ||
    compareStrings(`${a.name}.${a.namespace}`, `${b.name}.${b.namespace}`);
}

/** The patches that a proxy gets, of EnvoyFilters that stand in order. */
export function selectedPatches(heads: readonly EnvoyFilterHead[], proxy: PatchedProxy): readonly PatchRef[] {
  return heads
    .filter((head) => isAttached(head, proxy))
    .flatMap(({ key, patches }) =>
      patches
        .filter((patch) => isForProxy(patch, proxy) && missingExtension(patch, proxy) === undefined)
        .map(({ index }) => patchRef(key, index)),
    );
}

/**
 * Whether a patch of an EnvoyFilter that is for the proxy is itself for it.
 *
 * @see istio/istio pilot/pkg/model/envoyfilter.go `proxyMatch`
 */
export function isForProxy(patch: PatchHead, proxy: PatchedProxy): boolean {
  const { applyTo, context, proxyVersion, metadata = {} } = patch;
  // A bootstrap is written where the proxy is started.
  if (applyTo === 'BOOTSTRAP') return false;
  // Extension configs are for whoever asks for them.
  if (applyTo !== 'EXTENSION_CONFIG' && !CONTEXTS[proxy.type].has(context)) return false;
  for (const [name, value] of Object.entries(metadata)) if (proxy.metadata[name] !== value) return false;
  return proxyVersion === undefined || matchesVersion(patch, proxyVersion, proxy.metadata['ISTIO_VERSION']);
}

/** Every Envoy has it, so that a list without it is none of all extensions. */
const ROUTER = 'envoy.extensions.filters.http.router.v3.Router';

/** The message of an extension that the proxy does not have, so that it would refuse what a patch makes. */
export function missingExtension(
  { extensions, unknown }: Pick<PatchHead, 'extensions' | 'unknown'>,
  { extensionTypes }: Pick<PatchedProxy, 'extensionTypes'>,
): string | undefined {
  const wanted = extensionTypes.includes(ROUTER) ? [...extensions, ...unknown] : unknown;
  return wanted.find((name) => !extensionTypes.includes(name));
}

/** Compiled, since many proxies are asked about few patches. */
const COMPILED: WeakMap<PatchHead, RE2JS | { readonly wrong: true }> = new WeakMap();

function matchesVersion(patch: PatchHead, expression: string, version: unknown): boolean {
  if (expression.length > MAX_VERSION_LENGTH || typeof version !== 'string' || version === '') return false;
  const compiled = cached(COMPILED, patch, () => compiledVersion(expression));
  return !('wrong' in compiled) && compiled.matcher(version).find();
}

function compiledVersion(expression: string): RE2JS | { readonly wrong: true } {
  try {
    return RE2JS.compile(expression);
  } catch {
    return { wrong: true };
  }
}
