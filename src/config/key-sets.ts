/** Names a set of keys: by its URL, or by the issuer whose own description says where it is. */
export type KeySetId = string;

/** A set of keys that has to be fetched. */
export interface WantedKeySet {
  readonly id: KeySetId;
  /** Of the set, or of the issuer. */
  readonly url: string;
  /** The URL is an issuer's, which names the set's in its description (OpenID Connect Discovery). */
  readonly isIssuer: boolean;
  /** How long one attempt may take. Milliseconds. */
  readonly timeoutMs: number;
}

/** What is known of a set of keys. */
export interface KeySet {
  /** In JSON, as it was last fetched; absent: it never was. */
  readonly keys?: string;
  /** Why the last attempt failed, in words for people; absent when it did not. */
  readonly problem?: string;
}

/** Fetches sets of keys, and again as long as they are wanted. */
export interface KeySetSource {
  /**
   * @param wanted all that are, in the place of those before
   * @param tell called whenever something about a wanted set has changed; undefined when nobody wants it any more
   */
  want(wanted: readonly WantedKeySet[], tell: (id: KeySetId, set: KeySet | undefined) => void): void;
  /**
   * Fetches sets that will be wanted in a moment.
   *
   * @returns resolves when each was asked for once; undefined when each was before
   */
  ask(soon: readonly WantedKeySet[]): Promise<void> | undefined;
}
