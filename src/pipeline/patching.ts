import { cached } from '../base/cached.ts';
import type { JsonObject } from '../base/json.ts';
import { WeakInterner } from '../base/weak-intern.ts';
import type { ListenPorts } from '../envoy/patch/match.ts';
import type { Patch, PatchSet } from '../envoy/patch/patch.ts';
import type { Patched } from '../envoy/patch/patched.ts';
import { decodeMessage } from '../proto/decode.ts';
import type { EncodedResource } from '../proto/resource-set.ts';
import { violations } from '../proto/violations.ts';
import { encodedResource } from './encoded-resource.ts';
import type { PatchesWanted } from './envoy-filters.ts';

/** What of a proxy counts for what patches do. */
export interface PatchView {
  readonly isGateway: boolean;
  /** Of a gateway. */
  readonly ports: ListenPorts;
  /** What Envoy would refuse is left out. */
  readonly checked: boolean;
}

/** How resources of one type are patched. */
export interface PatchedType {
  readonly fullName: string;
  readonly wanted: PatchesWanted;
  /** Whether some patch may be for the resource: most are passed over without being decoded. */
  concerns(resource: EncodedResource, set: PatchSet, view: PatchView): boolean;
  patched(object: object, set: PatchSet, view: PatchView): Patched<object>;
  /** Whole resources. */
  added(set: PatchSet, view: PatchView): readonly (readonly [Patch, { readonly name?: string | undefined }])[];
  /** For what Envoy would refuse it: empty as far as is known. */
  refusals(object: object): readonly string[];
}

/** What a patch would do that Envoy refuses. It is left out there. */
export interface LeftOut {
  readonly patch: Patch;
  readonly reason: string;
}

/** For what Envoy refuses a resource, by its protos and by what it makes of it. Places in lists are not told apart. */
export function refusalsOf(
  { fullName, refusals }: Pick<PatchedType, 'fullName' | 'refusals'>,
  object: object,
): readonly string[] {
  const broken = violations(fullName, object as JsonObject).map(({ path, message }) => {
    const field = path.filter((step) => typeof step === 'string').join('.');
    return `${field === '' ? 'it' : field} ${message}`;
  });
  return [...refusals(object), ...broken];
}

/** A resource for which there are patches. */
export interface PatchedResource {
  /** Absent: it is removed. */
  readonly resource?: EncodedResource;
  readonly applied: ReadonlySet<Patch>;
  readonly leftOut: readonly LeftOut[];
}

/** What became of a resource; without `patched` no patch is for it. */
interface Outcome {
  readonly patched?: PatchedResource;
}

/** What one set of patches makes of resources: a function of their bytes, so that each is patched once for all who have it. */
export class Patching {
  readonly #type: PatchedType;
  readonly #set: PatchSet;
  readonly #view: PatchView;
  readonly #outcomes = new WeakMap<EncodedResource, Outcome>();
  /** By version: resources of equal content are one. */
  readonly #ofContent = new WeakInterner<Outcome>();

  constructor(type: PatchedType, set: PatchSet, view: PatchView) {
    this.#type = type;
    this.#set = set;
    this.#view = view;
  }

  /** Undefined: no patch is for it. */
  of(resource: EncodedResource): PatchedResource | undefined {
    if (!this.#type.concerns(resource, this.#set, this.#view)) return undefined;
    return cached(this.#outcomes, resource, () => {
      const { name, version } = resource;
      return this.#ofContent.intern(`${name} ${version}`, () => this.#outcome(resource));
    }).patched;
  }

  #outcome(resource: EncodedResource): Outcome {
    const object = decodeMessage(this.#type.fullName, resource.bytes);
    const whole = this.#attempt(resource, object, this.#set);
    if ('reason' in whole) return { patched: this.#oneByOne(resource, object) };
    return whole.applied.size === 0 ? {} : { patched: whole };
  }

  /** Those alone that Envoy takes with the ones before them. */
  #oneByOne(resource: EncodedResource, object: JsonObject): PatchedResource {
    let patches: readonly Patch[] = [];
    let best: PatchedResource = { resource, applied: new Set(), leftOut: [] };
    const leftOut: LeftOut[] = [];
    for (const patch of this.#set.patches) {
      const attempt = this.#attempt(resource, object, { patches: [...patches, patch] });
      if ('reason' in attempt) leftOut.push({ patch, reason: attempt.reason });
      else {
        patches = [...patches, patch];
        best = attempt;
      }
    }
    return { ...best, leftOut };
  }

  #attempt(
    resource: EncodedResource,
    object: JsonObject,
    set: PatchSet,
  ): PatchedResource | { readonly reason: string } {
    try {
      const { object: out, applied } = this.#type.patched(object, set, this.#view);
      if (applied.size === 0) return { resource, applied, leftOut: [] };
      if (out === undefined) return { applied, leftOut: [] };
      const reason = this.#view.checked ? this.#refusal(object, out) : undefined;
      if (reason !== undefined) return { reason };
      return { resource: encodedResource(this.#type.fullName, resource.name, out), applied, leftOut: [] };
    } catch (error) {
      return { reason: error instanceof Error ? error.message : String(error) };
    }
  }

  /** What of the object before was refused for is not the patches' doing. */
  #refusal(before: object, after: object): string | undefined {
    const refusals = refusalsOf(this.#type, after);
    if (refusals.length === 0) return undefined;
    const known = new Set(refusalsOf(this.#type, before));
    return refusals.find((refusal) => !known.has(refusal));
  }
}
