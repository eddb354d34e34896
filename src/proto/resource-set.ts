/** One xDS resource, ready to be sent. The same content has the same version in every run. */
export interface EncodedResource {
  readonly name: string;
  /** Content hash of `bytes` (or of its parts). */
  readonly version: string;
  /** The serialised resource message, without the `Any` around it. */
  readonly bytes: Uint8Array;
  /** Of the message, where it is not the one that is asked for. */
  readonly typeUrl?: string;
  /**
   * The same in pieces, where it is kept so because others share them: one after the other they are `bytes`. Whoever copies the
   * message takes these, so that it is put together once.
   */
  readonly pieces?: { readonly size: number; parts(): readonly Uint8Array[] };
}

/** What changed in a set between two revisions. `changed` and `removed` are sorted by name and disjoint. */
export interface ResourceDelta {
  readonly changed: readonly EncodedResource[];
  readonly removed: readonly string[];
}

/**
 * All resources of one type that a proxy may be sent, at one revision. Sets are shared by every stream of a scope and are
 * live: `revision` grows when the content changes, and only then.
 */
export interface ResourceSet {
  readonly revision: number;
  readonly size: number;
  get(name: string): EncodedResource | undefined;
  /** In order of names. */
  values(): Iterable<EncodedResource>;
  /**
   * What changed after `revision`, or undefined when that is no longer known (the caller then compares all).
   * The result is computed once per revision pair and shared.
   */
  changesSince(revision: number): ResourceDelta | undefined;
}
